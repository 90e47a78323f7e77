"""Writes docs/results/README.md, the index of all results, from the files beside it."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from wherry.measure import results  # noqa: E402

RESULTS = ROOT / "docs" / "results"


def main() -> None:
    (RESULTS / "README.md").write_text(results.index(RESULTS), encoding="utf-8")
    print(f"wrote {RESULTS / 'README.md'}")


if __name__ == "__main__":
    main()
