"""The rows of a tuning file (docs/reference/tuning-file.md), for people to read; the preload writes and checks it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

_WORDS = 11  # "row" and ten values


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
    """Lines that are no rows are not ours to judge: the preload ignores a damaged file as a whole."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    return [row for line in lines if (row := _row(line)) is not None]


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
