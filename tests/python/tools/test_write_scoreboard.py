"""The scoreboard and the rows of it in README.md are those of the records."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

from write_scoreboard import README_MPIS, README_ROWS, page, readme  # noqa: E402


def test_the_page_is_that_of_the_records() -> None:
    assert (ROOT / "docs" / "programs.md").read_text("utf-8") == page()


def test_the_rows_of_the_readme_are_those_of_the_records() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert readme(text) == text
    first = next(iter(README_ROWS))
    changed = text.replace(f"| {first} | ", f"| {first} | 9.99 ", 1)
    assert changed != text
    assert readme(changed) == text
    assert all(name in text for name in (*README_MPIS, *README_ROWS))
