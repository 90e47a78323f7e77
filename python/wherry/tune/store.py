"""The rows of a tuning file (docs/reference/tuning-file.md), for people to read; the preload writes and checks it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from wherry.run.mpis import Family, Mpi

_WORDS = 11  # "row" and ten values
#: How each library begins its name there.
_TITLES: dict[Family, str] = {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel(R) MPI"}


@dataclass(frozen=True)
class Row:
    mpi: str
    ranks: int
    operation: str  # MPI_Alltoall
    bucket: int  # size class, units.bucket
    strategy: str
    seconds: float | None
    native_seconds: float | None
    line: str  # as it stands in the file


def rows(path: Path) -> list[Row]:
    """Lines that are no rows are not validated here: the preload ignores a damaged file as a whole."""
    return [row for line in _lines(path) if (row := _row(line)) is not None]


def fitted_with(path: Path) -> list[str]:
    """The MPI libraries with which constants were fitted, on this machine or another."""
    words = [line.split(" ") for line in _lines(path)]
    return [unquote(row[2]) for row in words if row[0] == "machine" and len(row) > 2]


def constants_for(path: Path | None, mpi: Mpi | None) -> list[str]:
    """The words by which wherry-plan finds the constants of this machine: those fitted with `mpi`, or the only ones."""
    if path is None or not path.is_file():
        return []
    names = [] if mpi is None else [name for name in fitted_with(path) if _is_named(name, mpi)] or [mpi.name]
    return ["--tuning", str(path), *(word for name in names[:1] for word in ("--mpi", name))]


def _is_named(library: str, mpi: Mpi) -> bool:
    found = re.search(r"\d+(\.\d+)+", library)
    return library.startswith(_TITLES[mpi.family]) and found is not None and _same_version(found[0], mpi.version)


def _same_version(one: str, other: str) -> bool:
    """Where one of them says less, as Intel's 2021.18 for 2021.18.0, in what both say."""
    pairs = zip(_numbers(one), _numbers(other), strict=False)
    return all(a == b for a, b in pairs)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []


def _row(line: str) -> Row | None:
    words = line.split(" ")
    if len(words) != _WORDS or words[0] != "row":
        return None
    _, _, mpi, ranks, _, operation, bucket, strategy, seconds, native, _ = words
    try:
        return Row(
            unquote(mpi),
            int(ranks),
            operation,
            int(bucket),
            unquote(strategy),
            _seconds(seconds),
            _seconds(native),
            line,
        )
    except ValueError:
        return None


def _seconds(word: str) -> float | None:
    return None if word == "-" else float(word)
