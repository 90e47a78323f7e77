"""Where files of results lie: NAME/MACHINE/MPI.json below a folder, as their records say; and the index of a folder.

NAME is what was measured: a benchmark or a part of a study, and how it was set up where there are several.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from wherry.files import read_json
from wherry.measure.record import Measurement, Measurements, values

#: What vendors add to the name of a processor that tells none from another.
_NOISE = re.compile(r"\((r|tm)\)|\b(processor|cpu)\b|@.*|\d+-core\b", re.IGNORECASE)
#: Beginnings of what MPI libraries say of themselves, and the names of `wherry info`.
_LIBRARIES = {"Open MPI": "openmpi", "SMPI": "smpi", "MPICH": "mpich", "Intel(R) MPI": "intel"}


def path_of(folder: Path, name: str, records: Measurements) -> Path:
    """Where a file of these records belongs. They are of one machine; those without MPI may be among them."""
    return folder / name / machine_name(records[0].machine) / f"{mpi_name(row.mpi for row in records)}.json"


def machine_name(machine: str) -> str:
    """`2 x Intel(R) Xeon(R) Processor` is 2x-intel-xeon."""
    words = re.findall(r"[a-z0-9]+", _NOISE.sub(" ", machine).lower())
    return "-".join(words).replace("-x-", "x-", 1) or "unknown"


def mpi_name(names: Iterable[str]) -> str:
    """Of the first that is an MPI library; none if no record has one."""
    name = next((name for name in names if name not in ("", "none")), "none")
    known = next((short for begin, short in _LIBRARIES.items() if name.startswith(begin)), name)
    return re.sub(r"[^a-z0-9]+", "-", known.lower()).strip("-")


def files(folder: Path, name: str = "*") -> list[Path]:
    """Those of that name, or all."""
    return sorted(folder.glob(f"{name}/*/*.json"))


def index(folder: Path) -> str:
    """The folder's README.md. Raises ValueError for a file that is not where its records say."""
    lines = [
        "# Results",
        "",
        "Made by `tools/index_results.py`. NAME/MACHINE/MPI.json holds records with their raw samples; the reference",
        "describes [the members of a record](../reference/command-line.md#wherry-bench).",
        "",
        "| measured | machine | MPI | ranks | records | commit |",
        "|---|---|---|---|---|---|",
    ]
    if stray := sorted(set(folder.rglob("*.json")) - set(files(folder))):
        raise ValueError(f"{stray[0]} is not in a folder NAME/MACHINE")
    return "\n".join([*lines, *(_row(folder, path) for path in files(folder))]) + "\n"


def _row(folder: Path, path: Path) -> str:
    records = [Measurement.from_json(row) for row in read_json(path)]
    name = path.relative_to(folder).parts[0]
    if path != path_of(folder, name, records):
        raise ValueError(f"{path} belongs to {path_of(folder, name, records)}")
    ranks = sorted(values(records, "ranks"))
    commits = ", ".join(sorted(values(records, "commit")))
    mpis = ", ".join(sorted({row.mpi.partition(". ")[0] for row in records} - {"", "none"})) or "none"
    where = f"[{name}]({path.relative_to(folder).as_posix()}) | {records[0].machine} | {mpis}"
    return f"| {where} | {', '.join(map(str, ranks))} | {len(records)} | {commits} |"
