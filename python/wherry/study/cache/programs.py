"""The two applications, as the studies run them, and what their records say of each way to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wherry.study.frame import Record

#: Ways to read as the applications name them, plain MPI left out: it is the baseline of each.
BLOCKS, FIXED, ADAPTIVE = "block cache", "Wherry, fixed", "Wherry, adaptive"
VARIANTS = (BLOCKS, FIXED, ADAPTIVE)


@dataclass(frozen=True)
class Program:
    """size: the option that says how large the problem is. words: of every run."""

    name: str
    size: str
    words: tuple[str, ...] = ()


LCC = Program("lcc", "--scale")
BARNES_HUT = Program("barnes_hut", "--bodies", ("--steps", "0"))
PROGRAMS = (LCC, BARNES_HUT)


def by_variant(rows: Sequence[Record]) -> dict[str, Record]:
    return {row["strategies"][0]: row for row in rows}


def hit_percent(row: Record) -> float:
    return 100.0 * row["hits"] / row["gets"] if row["gets"] else 0.0
