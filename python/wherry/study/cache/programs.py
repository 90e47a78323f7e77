"""The two applications, as the studies run them, and what their records say of each method of reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wherry.measure.harness import Setup
from wherry.measure.record import Measurement

#: Methods of reading as the applications name them, plain MPI left out: it is the baseline of each.
BLOCKS, FIXED, ADAPTIVE = "block cache", "Wherry, fixed", "Wherry, adaptive"
VARIANTS = (BLOCKS, FIXED, ADAPTIVE)


@dataclass(frozen=True)
class CacheProgram:
    """size: the option that says how large the problem is; usual, small: how large it is. words: of every run."""

    name: str
    size: str
    usual: int
    small: int
    words: tuple[str, ...] = ()

    def problem(self, quick: bool) -> int:
        return self.small if quick else self.usual

    def run(self, size: int, quick: bool) -> list[str]:
        """The words that run a problem of this size."""
        return [self.size, str(size), *self.words, "--turns", "1" if quick else "3"]


LCC = CacheProgram("lcc", "--scale", 13, 8)
BARNES_HUT = CacheProgram("barnes_hut", "--bodies", 20_000, 1000, ("--steps", "0"))
PROGRAMS = (LCC, BARNES_HUT)


def ranks_up_to(setup: Setup, usual: Sequence[int], most: int) -> list[int]:
    """Of the usual numbers of ranks those up to -n, or to `most` without it."""
    return [ranks for ranks in usual if ranks <= (setup.ranks or most)]


def launches(setup: Setup) -> int:
    return setup.launches or (1 if setup.quick else 3)


def by_variant(rows: Sequence[Measurement]) -> dict[str, Measurement]:
    return {row["strategies"][0]: row for row in rows}


def hit_percent(row: Measurement) -> float:
    return 100.0 * row["hits"] / row["gets"] if row["gets"] else 0.0
