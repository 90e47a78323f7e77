"""From measurements to a selection: for each operation and number of ranks, which algorithm serves which sizes.

A choice is made only where it was measured: at exactly that number of ranks (some algorithms serve only some), and
for sizes up to a factor of 2 from a measured one. Between two measured sizes, the nearer one (as a ratio) decides.
Everywhere else the library decides.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wherry.tune.algorithms import AUTO, DEFAULT, Algorithm
from wherry.tune.results import AlgorithmTime, Results

#: What an algorithm must save of the time of the library's own choice to replace it: less is noise.
LEAST_GAIN = 0.04

#: One choice for all sizes: a barrier has none; where ranks may send different amounts, a rule by size could make them
#: choose differently and wait for each other for ever, and also in gather and scatter, where libraries take the size
#: from arguments that mean nothing on some ranks (MPI 4.1, sections 6.5 and 6.6).
WITHOUT_SIZES = ("alltoallv", "alltoallw", "gather", "scatter", "barrier")


@dataclass(frozen=True)
class Range:
    """Blocks of `first` to `last` bytes, both included; of an operation of WITHOUT_SIZES: all."""

    first: int
    last: int
    algorithm: Algorithm


@dataclass(frozen=True)
class Rules:
    """The ranges are in order, do not overlap, and need not cover everything: the library decides about the rest."""

    operation: str
    ranks: int
    ranges: tuple[Range, ...]


def select(results: Results) -> list[Rules]:
    """In the order of the measurements; operations where the library's own choice is as good are left out."""
    groups: dict[str, dict[int, list[AlgorithmTime]]] = defaultdict(lambda: defaultdict(list))
    for row in results.measurements:
        groups[row.operation][row.ranks].append(row)
    found = []
    for operation, by_ranks in groups.items():
        tables = {ranks: times_by_size(operation, rows) for ranks, rows in sorted(by_ranks.items())}
        if _worth_it([times for table in tables.values() for times in table.values()]):
            found += [Rules(operation, ranks, ranges(operation, table)) for ranks, table in tables.items()]
    return [rules for rules in found if rules.ranges]


Times = dict[Algorithm, float]


def times_by_size(operation: str, rows: Sequence[AlgorithmTime]) -> dict[int, Times]:
    """Seconds by size and algorithm, in the order of sizes; one row, the geometric mean, if sizes do not count."""
    table: dict[int, Times] = defaultdict(dict)
    for row in rows:
        table[row.bytes][row.algorithm] = row.seconds
    if operation not in WITHOUT_SIZES:
        return dict(sorted(table.items()))
    everywhere = set.intersection(*(set(times) for times in table.values()))
    return {0: {a: _mean([times[a] for times in table.values()]) for a in sorted(everywhere, key=lambda a: a.id)}}


def _mean(values: Sequence[float]) -> float:
    return math.prod(values) ** (1 / len(values))


def winner(times: Times) -> Algorithm:
    """The fastest that a file can select, but the library's own choice unless that is beaten clearly."""
    own = AUTO if AUTO in times else DEFAULT
    best = min(times.keys() - {DEFAULT}, key=lambda a: (times[a], a.id), default=AUTO)
    beaten = own not in times or times[best] < (1 - LEAST_GAIN) * times[own]
    return best if beaten else AUTO


def _worth_it(cases: Sequence[Times]) -> bool:
    """Whether what a file would select beats the untouched library clearly somewhere and costs nothing on average."""
    ratios = [times[DEFAULT] / times.get(winner(times), times[DEFAULT]) for times in cases if DEFAULT in times]
    return not ratios or (max(ratios) > 1 / (1 - LEAST_GAIN) and _mean(ratios) >= 1)


def ranges(operation: str, table: Mapping[int, Times]) -> tuple[Range, ...]:
    """Neighboring sizes with the same winner are one range; the library's own choice is no range."""
    if operation in WITHOUT_SIZES:
        return tuple(Range(0, 0, winner(times)) for times in table.values() if winner(times) != AUTO)
    sizes = list(table)
    found: list[Range] = []
    for i, size in enumerate(sizes):
        algorithm = winner(table[size])
        if algorithm == AUTO:
            continue
        first = math.isqrt(sizes[i - 1] * size) + 1 if i else (size + 1) // 2
        last = math.isqrt(size * sizes[i + 1]) if i + 1 < len(sizes) else 2 * size
        if found and found[-1].algorithm == algorithm and found[-1].last + 1 == first:
            first = found.pop().first
        found.append(Range(first, last, algorithm))
    return tuple(found)
