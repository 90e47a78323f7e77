"""Over many collectives, ranks and sizes: how far is Wherry's choice from the best of the library and every strategy?

The library's own default, each algorithm that it can be told to use while it runs (Open MPI, MPICH), what Wherry
chooses after training, and every strategy that applies run in one process in turns: launches of the same program
differ by a factor of two and more as a whole, by how ranks and processors meet. An algorithm that fails, such as those
for two processes only, is left out; the records say why.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from wherry.bench.frame import IN_TURNS, LAUNCHING, Place, Result, Setup, Table, parse, preload, program
from wherry.mpis import Mpi
from wherry.operations import check_operations, sizes_of

OPTIONS = (*LAUNCHING, "--operations", "--sizes")
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
    mpi = setup.installation()
    operations = check_operations(setup.operations or OPERATIONS)
    ranks = (setup.ranks,) if setup.ranks else ((2, 8) if setup.quick else RANKS)
    launches = setup.launches or (1 if setup.quick else 3)
    tables = {n: Table() for n in ranks}
    excluded: dict[tuple[int, str], dict[str, str]] = defaultdict(dict)  # ranks and case: variant, why
    steps = [(launch, n, operation) for launch in range(launches) for n in ranks for operation in operations]
    with Place(setup, mpi) as place:
        for done, (launch, n, operation) in enumerate(steps):
            setup.progress(f"{operation} on {n} ranks", done, len(steps))
            for row in parse(place.run(n, _words(setup, mpi, operation), preload(**_ALL_AUTOMATIC)), launch):
                if row.excluded:
                    excluded[n, row.case][row.variant] = row.excluded
                else:
                    tables[n].rows.append(row)
        network = place.network
    cells = [Cell(n, operation, size) for n in ranks for operation in operations for size in _sizes(setup, operation)]
    return [_distance(tables[cell.ranks], cell, mpi.name, network, excluded[cell.ranks, cell.case]) for cell in cells]


def _sizes(setup: Setup, operation: str) -> tuple[int, ...]:
    return sizes_of(operation, setup.sizes or SIZES)


def _words(setup: Setup, mpi: Mpi, operation: str) -> list[str]:
    sizes = ",".join(map(str, _sizes(setup, operation)))
    words = [program(mpi, "grid"), "--operations", operation, "--sizes", sizes]
    return [*words, "--turns", "4" if setup.quick else "8"]


def _distance(table: Table, cell: Cell, mpi: str, network: str, excluded: dict[str, str]) -> Result:
    variants = [v for v in table.variants(cell.case) if v != "wherry" and v not in excluded]
    ratios = {variant: table.ratio(cell.case, variant, "wherry") for variant in variants}
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
        statistic=IN_TURNS,
        network=network,
        goal=f"<= {GOAL} x the best",
        reached=GOAL * ratios[best] >= 1,
        operation=cell.operation,
        size=cell.size,
        against=best,
        excluded=excluded,
    )
