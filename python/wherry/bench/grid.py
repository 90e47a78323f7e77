"""Over many collectives, ranks and sizes: how far is Wherry's choice from the best of the library and every strategy?

The library's own default, each algorithm that it can be told to use while it runs (Open MPI, MPICH), what Wherry
chooses after training, and every strategy that applies run in one process in turns: launches of the same program
differ by a factor of two and more as a whole, by how ranks and processors meet. An algorithm that fails, such as those
for two processes only, is left out; the records say why.

The best is named by other launches than those it is compared in. Who is fastest of twenty in noisy samples owes it
in part to the noise: of twenty equal ones that vary by 10% the "best" is 15% ahead, and next time as slow as the rest.
So in each launch Wherry is compared with what was fastest in all others, and the ratio is the median over launches;
what the same samples say in hindsight is kept beside it.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from wherry.measure.harness import IN_TURNS, LAUNCHING, BenchTable, Setup, Testbed, parse, preload, program
from wherry.measure.operations import check_operations, sizes_of
from wherry.measure.record import Measurement
from wherry.run.mpis import Mpi

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
DISTANCE, GAIN = "time per call after training", "time per call after training, against the library's default"
GOAL = 1.15
#: Less than this is noise, as it is for the learner.
NOISE = 0.04
STATISTIC = "time: minimum over launches of the median, ratio: median over launches, to the best of the other launches"
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


def run(setup: Setup) -> list[Measurement]:
    mpi = setup.installation()
    operations = check_operations(setup.operations or OPERATIONS)
    ranks = (setup.ranks,) if setup.ranks else ((2, 8) if setup.quick else RANKS)
    launches = setup.launches or (1 if setup.quick else 3)
    tables = {n: BenchTable() for n in ranks}
    excluded: dict[tuple[int, str], dict[str, str]] = defaultdict(dict)  # ranks and case: variant, why
    steps = [(launch, n, operation) for launch in range(launches) for n in ranks for operation in operations]
    with Testbed(setup, mpi) as place:
        for done, (launch, n, operation) in enumerate(steps):
            setup.progress(f"{operation} on {n} ranks", done, len(steps))
            for row in parse(place.run(n, _words(setup, mpi, operation), preload(**_ALL_AUTOMATIC)), launch):
                if row.excluded:
                    excluded[n, row.case][row.variant] = row.excluded
                else:
                    tables[n].rows.append(row)
        network = place.network
    cells = [Cell(n, operation, size) for n in ranks for operation in operations for size in _sizes(setup, operation)]
    distances = [_distance(tables[c.ranks], c, mpi.name, network, excluded[c.ranks, c.case]) for c in cells]
    return distances + [_gain(tables[c.ranks], c, mpi.name, network) for c in cells]


def _sizes(setup: Setup, operation: str) -> tuple[int, ...]:
    return sizes_of(operation, setup.sizes or SIZES)


def _words(setup: Setup, mpi: Mpi, operation: str) -> list[str]:
    sizes = ",".join(map(str, _sizes(setup, operation)))
    words = [program(mpi, "grid"), "--operations", operation, "--sizes", sizes]
    return [*words, "--turns", "4" if setup.quick else "8"]


def _distance(table: BenchTable, cell: Cell, mpi: str, network: str, excluded: dict[str, str]) -> Measurement:
    variants = [v for v in table.variants(cell.case) if v != "wherry" and v not in excluded]
    shares = {variant: table.ratios(cell.case, variant, "wherry") for variant in variants}
    best, ratio = rival(shares)
    mine = table.best(cell.case, "wherry")
    return Measurement(
        bench="grid",
        case=f"{cell.case}, best: {best}",
        metric=DISTANCE,
        unit="s",
        value=mine,
        baseline=ratio * mine,
        ratio=ratio,
        mpi=mpi,
        ranks=cell.ranks,
        samples=table.samples(cell.case, "wherry", *variants),
        statistic=STATISTIC,
        network=network,
        goal=f"<= {GOAL} x the best",
        reached=GOAL * ratio >= 1,
        operation=cell.operation,
        size=cell.size,
        against=best,
        hindsight=statistics.median(shares[best].values()),
        excluded=excluded,
    )


Shares = Mapping[str, Mapping[int, float]]


def rival(shares: Shares) -> tuple[str, float]:
    """The best over all launches; and the median over launches of what the best of the others takes, in Wherry's time.

    shares: of each variant, its time / Wherry's in each launch that has it. One that is missing in a launch cannot be
    the best; native is in all. A single launch names its own best.
    """
    launches = set(shares["native"])
    complete = {name: of_variant for name, of_variant in shares.items() if set(of_variant) == launches}
    chosen = [complete[_fastest(complete, launches - {launch} or launches)][launch] for launch in launches]
    return _fastest(complete, launches), statistics.median(chosen)


def _fastest(shares: Shares, launches: set[int]) -> str:
    """By the median over these launches."""
    return min(shares, key=lambda name: statistics.median(shares[name][launch] for launch in launches))


def _gain(table: BenchTable, cell: Cell, mpi: str, network: str) -> Measurement:
    """Slower is what is so in every launch, and in the middle by more than noise."""
    ratios = table.ratios(cell.case, "native", "wherry").values()
    ratio = statistics.median(ratios)
    return Measurement(
        bench="grid",
        case=cell.case,
        metric=GAIN,
        unit="s",
        value=table.best(cell.case, "wherry"),
        baseline=table.best(cell.case, "native"),
        ratio=ratio,
        mpi=mpi,
        ranks=cell.ranks,
        samples=[],  # with the distance of the same cell
        statistic=IN_TURNS,
        network=network,
        goal="not slower beyond noise",
        reached=ratio >= 1 - NOISE or max(ratios) >= 1,
        operation=cell.operation,
        size=cell.size,
        against="native",
    )
