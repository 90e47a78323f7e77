"""Over many collectives, ranks and sizes: how far is Wherry's choice from the best of the library and every strategy?

The library's own default, what Wherry chooses after training, and every strategy that applies run in one process in
turns; where the library can be told its algorithm by a variable, each runs in launches of its own in between. One that
fails, such as those for two processes only, is left out; the records say why.

Launches of the same program differ by a factor of two and more as a whole, by how ranks and processors meet. So times
are compared within a launch only: a launch with an algorithm of the library's measures the first strategy too. That
tells which launch of the algorithm is most like the one of Wherry's choice, and there it counts by how much faster than
the strategy the algorithm is.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from wherry.bench.frame import (
    LAUNCHING,
    Place,
    Result,
    Samples,
    Setup,
    Table,
    choose_mpi,
    parse,
    preload,
    program,
    reason_of,
)
from wherry.errors import WherryError
from wherry.mpis import Mpi
from wherry.operations import sizes_of
from wherry.tune import algorithms

OPTIONS = (*LAUNCHING, "--sizes")
OPERATIONS = (
    "alltoall",
    "alltoallv",
    "allgather",
    "allreduce",
    "reduce_scatter_block",
    "reduce",
    "bcast",
    "gather",
    "scatter",
    "barrier",
)
SIZES = (8, 1024, 65536, 1048576)
RANKS = (2, 4, 8)
GOAL = 1.15
STATISTIC = "time: minimum, ratio: median over launches of the median"
_LIBRARY, _BESIDE = "library: ", " beside "
#: All of Wherry's decisions are the measured ones here, whatever else the programs of the bench are told.
_ALL_AUTOMATIC = {"WHERRY_BARRIER": "auto", "WHERRY_ALLREDUCE": "auto"}


@dataclass(frozen=True)
class Cell:
    """One place of the grid."""

    ranks: int
    operation: str
    size: int

    @property
    def case(self) -> str:
        """As the program names it."""
        return f"{self.operation} {self.size} B"


def run(setup: Setup) -> list[Result]:
    mpi = setup.mpi or choose_mpi(None)
    ranks = (setup.ranks,) if setup.ranks else ((2, 8) if setup.quick else RANKS)
    launches = setup.launches or (1 if setup.quick else 3)
    tables = {n: Table() for n in ranks}
    failed: dict[tuple[int, str], dict[str, str]] = defaultdict(dict)  # ranks and operation: algorithm, why
    steps = [(launch, n, *step) for launch in range(launches) for n in ranks for step in _steps(setup, mpi)]
    with Place(setup, mpi) as place:
        for done, (launch, n, operation, label, environment) in enumerate(steps):
            setup.progress(f"{operation} on {n} ranks, {label or 'all in turns'}", done, len(steps))
            if label in failed[n, operation]:
                continue
            words = [*_words(setup, mpi, operation), *(("--strategies", "first") if label else ())]
            try:
                samples = parse(place.run(n, words, {**preload(**_ALL_AUTOMATIC), **environment}), launch)
            except WherryError as error:
                if not label:
                    raise
                failed[n, operation][label] = reason_of(error)
                continue
            tables[n].rows += [_labelled(row, label) for row in samples]
        network = place.network
    cells = [Cell(n, operation, size) for n in ranks for operation in OPERATIONS for size in _sizes(setup, operation)]
    return [
        _distance(tables[cell.ranks], cell, mpi.name, network, failed[cell.ranks, cell.operation]) for cell in cells
    ]


def _sizes(setup: Setup, operation: str) -> tuple[int, ...]:
    return sizes_of(operation, setup.sizes or SIZES)


def _words(setup: Setup, mpi: Mpi, operation: str) -> list[str]:
    sizes = ",".join(map(str, _sizes(setup, operation)))
    words = [program(mpi, "grid"), "--operations", operation, "--sizes", sizes]
    return [*words, "--turns", "4" if setup.quick else "8"]


def _steps(setup: Setup, mpi: Mpi) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Operation, the library's algorithm ("": its default, with all of Wherry's), and what makes it use that."""
    for operation in OPERATIONS:
        yield operation, "", {}
        if setup.quick or mpi.family == "mpich":
            continue  # MPICH takes a file, not variables
        for algorithm in algorithms.algorithms(mpi, operation):
            yield operation, algorithm.name, algorithms.forced(mpi.family, operation, algorithm)


def _labelled(row: Samples, algorithm: str) -> Samples:
    if not algorithm:
        return row
    variant = _LIBRARY + algorithm if row.variant == "native" else f"{row.variant}{_BESIDE}{algorithm}"
    return Samples(row.case, variant, row.unit, row.launch, row.values)


def _ratio(table: Table, case: str, variant: str) -> float:
    """Of its time to that of Wherry's choice: the median over launches of the ratio of medians."""
    mine, times = table.medians(case, "wherry"), _times(table, case, variant)
    return statistics.median(times[launch] / mine[launch] for launch in mine if launch in times)


def _times(table: Table, case: str, variant: str) -> dict[int, float]:
    """By launch, as if it had run beside Wherry's choice: what it took in the launch that was most alike."""
    times = table.medians(case, variant)
    if not variant.startswith(_LIBRARY):
        return times
    end = _BESIDE + variant.removeprefix(_LIBRARY)
    (there,) = (name for name in table.variants(case) if name.endswith(end))
    here, beside = table.medians(case, there.removesuffix(end)), table.medians(case, there)

    def alike(launch: int) -> int:
        return min(beside, key=lambda other: abs(math.log(beside[other] / here[launch])))

    return {launch: times[alike(launch)] * here[launch] / beside[alike(launch)] for launch in here}


def _distance(table: Table, cell: Cell, mpi: str, network: str, failed: dict[str, str]) -> Result:
    variants = [variant for variant in table.variants(cell.case) if variant != "wherry"]
    without = {_LIBRARY + algorithm for algorithm in failed}
    others = [variant for variant in variants if variant not in without and _BESIDE not in variant]
    ratios = {variant: _ratio(table, cell.case, variant) for variant in others}
    best = min(ratios, key=lambda variant: ratios[variant])
    mine = table.best(cell.case, "wherry")
    return Result(
        bench="grid",
        case=f"{cell.case}, best: {best}",
        metric="time per call after training",
        unit="s",
        value=mine,
        baseline=ratios[best] * mine,
        ratio=ratios[best],
        mpi=mpi,
        ranks=cell.ranks,
        samples=table.samples(cell.case, "wherry", *variants),
        statistic=STATISTIC,
        network=network,
        goal=f"<= {GOAL} x the best",
        reached=GOAL * ratios[best] >= 1,
        operation=cell.operation,
        size=cell.size,
        against=best,
        excluded=failed,
    )
