"""The mechanisms that the study compares, as bench/datatypes.hpp names them, and what their records mean."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable

from wherry.measure.record import Measurement, Measurements, only

REFERENCE = "reference"
#: The source's, with the words of tables.
SCHEMES = {
    REFERENCE: "contiguous",
    "copy": "copied by hand",
    "buffered": "vector type, buffered send",
    "vector": "vector type",
    "subarray": "subarray type",
    "one-sided": "vector type, put between fences",
    "pack elements": "MPI_Pack of each element",
    "pack vector": "MPI_Pack of the vector type",
}
#: What it does not have.
ADDED = {
    "pipelined": "copied by hand, in chunks of 128 KiB",
    "by name": "vector type, wherry_send",
    "shared copy": "copied into shared memory",
    "shared halves": "the same, each rank a half",
}
ALL = {**SCHEMES, **ADDED}
#: Those that a preload could do better.
DERIVED = ("buffered", "vector", "subarray", "one-sided", "pack vector")
NATIVE, WHERRY = "native", "wherry"


def label(row: Measurement) -> str:
    return ALL[row["scheme"]] + (", under Wherry" if row["side"] == WHERRY else "")


def slowdown(row: Measurement) -> float:
    """Its time over that of as many contiguous bytes in the same launches."""
    return 1.0 / float(row["ratio"])


def bandwidth(row: Measurement) -> float:
    """Bytes a second, of the payload."""
    return float(row["size"] / row["value"])


def by_size(records: Measurements, scheme: str, side: str = NATIVE) -> dict[int, Measurement]:
    return {row["size"]: row for row in only(records, scheme=scheme, side=side)}


def quotients(
    records: Measurements, over: str, under: str, what: Callable[[Measurement], float] = lambda row: row["value"]
) -> dict[int, float]:
    """By size: one native scheme's figure over another's."""
    above, below = by_size(records, over), by_size(records, under)
    return {size: what(above[size]) / what(below[size]) for size in above if size in below}


def at_least(values: dict[int, float], size: int) -> list[float]:
    """Of sizes from this on; of smaller ones where there are no others."""
    return [value for at, value in values.items() if at >= size] or list(values.values())


def median(values: Iterable[float]) -> float:
    return float(statistics.median(values))
