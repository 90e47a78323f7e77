"""Over many collectives, ranks and sizes: how far is Wherry's choice from the best of the library and every strategy?

The library's own default, what Wherry chooses after training, and every strategy that applies run in one process in
turns; where the library can be told its algorithm by a variable, each runs in launches of its own in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wherry.bench.frame import LAUNCHING, Place, Result, Samples, Setup, Table, choose_mpi, parse, preload, program
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
    steps = [(launch, n, *step) for launch in range(launches) for n in ranks for step in _steps(setup, mpi)]
    with Place(setup, mpi) as place:
        for done, (launch, n, operation, label, environment) in enumerate(steps):
            setup.progress(f"{operation} on {n} ranks, {label or 'all in turns'}", done, len(steps))
            words = [*_words(setup, mpi, operation), *(("--strategies", "none") if label else ())]
            samples = parse(place.run(n, words, {**preload(**_ALL_AUTOMATIC), **environment}), launch)
            tables[n].rows += [_labelled(row, label) for row in samples if not label or row.variant == "native"]
        network = place.network
    cells = [Cell(n, operation, size) for n in ranks for operation in OPERATIONS for size in _sizes(setup, operation)]
    return [_distance(tables[cell.ranks], cell, mpi.name, network) for cell in cells]


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


def _labelled(row: Samples, label: str) -> Samples:
    return Samples(row.case, f"library: {label}" if label else row.variant, row.unit, row.launch, row.values)


def _distance(table: Table, cell: Cell, mpi: str, network: str) -> Result:
    others = [variant for variant in table.variants(cell.case) if variant != "wherry"]
    times = {variant: table.best(cell.case, variant) for variant in others}
    best = min(times, key=lambda variant: times[variant])
    mine = table.best(cell.case, "wherry")
    return Result(
        bench="grid",
        case=f"{cell.case}, best: {best}",
        metric="time per call after training",
        unit="s",
        value=mine,
        baseline=times[best],
        ratio=times[best] / mine,
        mpi=mpi,
        ranks=cell.ranks,
        samples=table.samples(cell.case, "wherry", *others),
        network=network,
        goal=f"<= {GOAL} x the best",
        reached=mine <= GOAL * times[best],
        operation=cell.operation,
        size=cell.size,
        against=best,
    )
