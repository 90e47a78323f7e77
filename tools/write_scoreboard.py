"""Writes docs/programs.md, the scoreboard of whole programs, from docs/results/programs*."""

from __future__ import annotations

import json
import math
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from wherry.bench.programs import PROGRAMS  # noqa: E402

RESULTS = ROOT / "docs" / "results"
SETTINGS = {
    "programs": ("As many ranks as cores", "2 ranks on 2 cores, shared memory", "-n 2"),
    "programs-oversubscribed": ("More ranks than cores", "4 ranks on 2 cores, shared memory", "-n 4 --launches 6"),
    "programs-netlab": (
        "The emulated cluster", "8 ranks on 4 emulated hosts with Gigabit links, on 2 cores", "--netlab --launches 6"
    ),
}  # fmt: skip

INTRO = """# Whole programs

What people wait for is the program. Each row is an unmodified program with a small input, run with and without Wherry
in rounds, in random order; the figure is native time / time under Wherry of the program's own loop, the geometric mean
over rounds, with its 95% interval (Student's t of the logarithms). Above 1 the program is faster under Wherry. An
interval that holds 1 is no measurable difference. Before the rounds each way runs once, uncounted, and Wherry may keep
what it learns, as it does for its users. Rows where Wherry does nothing stay in.

Programs of Debian come with `apt-get install openfoam nwchem-openmpi cp2k gromacs python3-meep-openmpi python3-mpi4py
scalapack-mpi-test`; those of PyPI with `make setup`; the others lie in `bench/programs`. `wherry compare --why` names
the part of Wherry that makes a difference ([how](how-to/compare.md)).

Made by `tools/write_scoreboard.py` from the records in `docs/results`, which hold every run.
"""


def records(name: str) -> dict[str, list[dict[str, Any]]]:
    """By MPI."""
    found = sorted((RESULTS / name).glob("*/*.json"))
    return {path.stem: json.loads(path.read_text("utf-8")) for path in found}


def cell(record: dict[str, Any] | None) -> str:
    if record is None or record["ratio"] is None:
        return ""
    summary = record["samples"][0]
    ratio = f"{record['ratio']:.2f} ({summary['low']:.2f} to {summary['high']:.2f})"
    sure = summary["low"] > 1 or summary["high"] < 1
    return f"**{ratio}**" if sure else ratio


def table(by_mpi: dict[str, list[dict[str, Any]]]) -> list[str]:
    rows = {mpi: {one["case"]: one for one in all_of} for mpi, all_of in by_mpi.items()}
    lines = [f"| program | from | {' | '.join(by_mpi)} |", "|---|---|" + "---|" * len(by_mpi)]
    for program in PROGRAMS:
        cells = [cell(rows[mpi].get(program.name)) for mpi in by_mpi]
        if any(cells):
            lines.append(f"| {program.name} | {program.provenance} | {' | '.join(cells)} |")
    means = [_mean([one["ratio"] for one in by_mpi[mpi] if one["ratio"] is not None]) for mpi in by_mpi]
    return [*lines, f"| geometric mean of the rows above it | | {' | '.join(means)} |"]


def _mean(ratios: list[float]) -> str:
    return f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}" if ratios else ""


def section(name: str) -> list[str]:
    by_mpi = records(name)
    if not by_mpi:
        return []
    title, where, options = SETTINGS[name]
    first = next(iter(by_mpi.values()))[0]
    commits = ", ".join(sorted({one["commit"] for all_of in by_mpi.values() for one in all_of}))
    command = f"wherry bench programs {options} --mpi MPI --json docs/results/{name}/MACHINE/MPI.json"
    provenance = f"{where}; {first['machine']}, commit {commits}. Bold: the interval leaves 1 out."
    return [
        f"\n## {title}\n", f"{textwrap.fill(provenance, 120)}\n",
        f"```\n{command}\n```\n", *table(by_mpi),
    ]  # fmt: skip


def main() -> None:
    lines = [line for name in SETTINGS for line in section(name)]
    (ROOT / "docs" / "programs.md").write_text(INTRO + "\n".join(lines) + "\n", encoding="utf-8")
    print("wrote docs/programs.md")


if __name__ == "__main__":
    main()
