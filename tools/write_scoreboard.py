"""Writes docs/programs.md, the scoreboard of whole programs, its rows in README.md and their picture, from
docs/results/programs*."""

from __future__ import annotations

import json
import math
import re
import sys
import textwrap
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from wherry.bench import programs_picture  # noqa: E402
from wherry.bench.programs import PROGRAMS  # noqa: E402

RESULTS = ROOT / "docs" / "results"
PICTURE = ROOT / "docs" / "images" / "programs.svg"
#: The MPIs that it shows: the one of PyPI and the one of Debian for which most programs are there.
DRAWN = ("mpich", "debian-openmpi")
SETTINGS = {
    "programs": ("As many ranks as cores", "2 ranks on 2 cores, shared memory", "-n 2"),
    "programs-oversubscribed": ("More ranks than cores", "4 ranks on 2 cores, shared memory", "-n 4"),
    "programs-netlab": (
        "The emulated cluster", "8 ranks on 4 emulated hosts with Gigabit links, on 2 cores", "--netlab --launches 6"
    ),
}  # fmt: skip

#: Of README.md: columns and rows, by their titles there.
README_MPIS = {
    "MPICH 5": "mpich", "Open MPI 5": "openmpi", "Intel MPI": "intel", "Debian's Open MPI 4.1": "debian-openmpi",
}  # fmt: skip
README_PLACE = "Measured on "
README_ROWS = {
    "heat conduction, NumPy": "heat",
    "waves, C++, work arrays in each step": "waves, C++",
    "LAMMPS, molten salt": "LAMMPS, salt",
    "k-means, NumPy": "k-means",
    "data-parallel training, 1 MB of gradients": "train, 1 MB",
    "mpi4py-fft, 32^3 points in slabs": "mpi4py-fft, slabs",
    "OpenFOAM icoFoam, start included": "OpenFOAM icoFoam, cavity",
    "ping-pong of 8 B, C": "ping-pong, 8 B",
}

INTRO = """# Whole programs

What people wait for is the program. Each row is an unmodified program with a small input, run with and without Wherry
in rounds, in random order; the figure is native time / time under Wherry of the program's own loop, the geometric mean
over rounds, with its 95% interval (Student's t of the logarithms). Above 1 the program is faster under Wherry; bold
figures have an interval that excludes 1. Before the rounds each variant runs once, uncounted, and Wherry may keep what
it learns, as it does for its users. Rows where Wherry does nothing stay in.

Below each table stands what Wherry did in the last run, and how many answers were compared and equal. `wherry compare
--why` [measures](how-to/compare.md) which part made the difference.

Programs of Debian come with `apt-get install openfoam nwchem-openmpi cp2k gromacs lammps python3-meep-openmpi
python3-matplotlib python3-mpi4py scalapack-mpi-test`; those of PyPI with `make setup`; the others lie in
`bench/programs`. In the commands, MPI is a name from `wherry info`, and the folder of the result file must exist. This
page is made by `tools/write_scoreboard.py` from the records in `docs/results`, which hold every run.
"""


def records(name: str) -> dict[str, list[dict[str, Any]]]:
    """By MPI."""
    found = sorted((RESULTS / name).glob("*/*.json"))
    return {path.stem: json.loads(path.read_text("utf-8")) for path in found}


def programs() -> list[str]:
    rows = [f"| {one.name} | {one.provenance} | {one.about} |" for one in PROGRAMS]
    return ["\n## The programs\n", "| program | from | what it is |", "|---|---|---|", *rows]


def cell(record: dict[str, Any] | None) -> str:
    if record is None or record["ratio"] is None:
        return ""
    summary = record["samples"][0]
    differs = summary["low"] > 1 or summary["high"] < 1
    # Where rounding would show an interval that reaches 1.
    digits = 3 if differs and "1.00" in (f"{summary['low']:.2f}", f"{summary['high']:.2f}") else 2
    ratio = f"{record['ratio']:.{digits}f} ({summary['low']:.{digits}f} to {summary['high']:.{digits}f})"
    return f"**{ratio}**" if differs else ratio


def commit_of(all_of: list[dict[str, Any]]) -> str:
    """That of most records."""
    commits = Counter(str(one["commit"]) for one in all_of)
    return commits.most_common(1)[0][0]


def cell_at(record: dict[str, Any] | None, commit: str) -> str:
    """With the record's own commit where that is another."""
    text = cell(record)
    return f"{text}, at {record['commit']}" if text and record and record["commit"] != commit else text


def table(by_mpi: dict[str, list[dict[str, Any]]]) -> list[str]:
    rows = {mpi: {one["case"]: one for one in all_of} for mpi, all_of in by_mpi.items()}
    commits = {mpi: commit_of(all_of) for mpi, all_of in by_mpi.items()}
    head = [f"{mpi}, {commits[mpi]}" for mpi in by_mpi]
    lines = [f"| program | {' | '.join(head)} |", "|---|" + "---|" * len(by_mpi)]
    for program in PROGRAMS:
        cells = [cell_at(rows[mpi].get(program.name), commits[mpi]) for mpi in by_mpi]
        if any(cells):
            lines.append(f"| {program.name} | {' | '.join(cells)} |")
    ratios = {
        mpi: [one["ratio"] for one in by_mpi[mpi] if one["ratio"] is not None and one["commit"] == commits[mpi]]
        for mpi in by_mpi
    }
    means = [f"{_mean(own)} of {len(own)} rows" if own else "" for own in ratios.values()]
    return [*lines, f"| geometric mean | {' | '.join(means)} |"]


def done(by_mpi: dict[str, list[dict[str, Any]]]) -> list[str]:
    lines = ["\n| program | MPI | what Wherry did | equal answers |", "|---|---|---|---|"]
    for program in PROGRAMS:
        for mpi, all_of in by_mpi.items():
            for one in all_of:
                if one["case"] == program.name and one["ratio"] is not None:
                    did = "; ".join(one.get("did", [])) or "nothing"
                    lines.append(f"| {program.name} | {mpi} | {did} | {one.get('answers_equal', 0)} |")
    return lines


def missing(by_mpi: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Why there are empty cells."""
    reasons: dict[str, list[str]] = {}
    for all_of in by_mpi.values():
        for one in all_of:
            for reason in one.get("excluded", {}).values():
                reasons.setdefault(reason, []).append(one["case"])
    lines = [textwrap.fill(f"- {'; '.join(cases)}: {reason}.", 120, subsequent_indent="  ", break_on_hyphens=False)
             for reason, cases in reasons.items()]  # fmt: skip
    return ["\nNot measured:\n", *lines] if lines else []


def _mean(ratios: list[float]) -> str:
    return f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}"


def section(name: str) -> list[str]:
    by_mpi = records(name)
    if not by_mpi:
        return []
    title, where, options = SETTINGS[name]
    machines = {one["machine"] for all_of in by_mpi.values() for one in all_of}
    if len(machines) > 1:
        raise SystemExit(f"{name}: records of {' and of '.join(sorted(machines))}; a table is of one machine")
    command = f"wherry bench programs {options} --mpi MPI --json docs/results/{name}/MACHINE/MPI.json"
    place = (
        f"{where}; {machines.pop()}. Beside each MPI stands the commit that was measured, and beside a figure its own"
        " where that is another; means are of the figures of one commit."
    )
    return [
        f"\n## {title}\n", f"{textwrap.fill(place, 120)}\n",
        f"```\n{command}\n```\n", *table(by_mpi), *done(by_mpi), *missing(by_mpi),
    ]  # fmt: skip


def page() -> str:
    lines = [*programs(), *(line for name in SETTINGS for line in section(name))]
    return INTRO + "\n".join(lines) + "\n"


def readme(text: str) -> str:
    """The text of README.md with the rows of now, and their machine and commit before them."""
    by_mpi = records("programs")
    rows = {mpi: {one["case"]: one for one in by_mpi[mpi]} for mpi in README_MPIS.values()}
    shown = [own[program] for own in rows.values() for program in README_ROWS.values() if cell(own.get(program))]
    lines = [f"{README_PLACE}{one_place(shown)}:", "", f"| program | {' | '.join(README_MPIS)} |"]
    lines.append("|---|" + "---|" * len(README_MPIS))
    for title, program in README_ROWS.items():
        lines.append(f"| {title} | {' | '.join(cell(rows[mpi].get(program)) for mpi in README_MPIS.values())} |")
    there = re.compile(rf"^{re.escape(README_PLACE)}[^\n]*\n\n\| program \| .*?(?=\n\n)", re.DOTALL | re.MULTILINE)
    return there.sub(lambda _: "\n".join(lines), text, count=1)


def one_place(shown: list[dict[str, Any]]) -> str:
    """Machine and commit of all of them."""
    places = {f"{one['machine']}, commit {one['commit']}" for one in shown}
    if len(places) > 1:
        raise SystemExit(f"README.md: records of {' and of '.join(sorted(places))}; its rows are of one place")
    return places.pop()


def picture() -> str:
    """What is in README.md's first picture."""
    by_mpi = records("programs")
    order = [program.name for program in PROGRAMS]
    drawn = [one for mpi in DRAWN for one in by_mpi[mpi] if one["ratio"] is not None]
    one_place(drawn)
    return programs_picture.svg(sorted(drawn, key=lambda one: order.index(one["case"])))


def main() -> None:
    PICTURE.write_text(picture(), encoding="utf-8")
    (ROOT / "docs" / "programs.md").write_text(page(), encoding="utf-8")
    short = ROOT / "README.md"
    short.write_text(readme(short.read_text("utf-8")), encoding="utf-8")
    print(f"wrote docs/programs.md, {PICTURE.relative_to(ROOT)} and the rows of README.md")


if __name__ == "__main__":
    main()
