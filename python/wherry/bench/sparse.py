"""What does it cost to exchange little: when nobody knows who sends to whom, and in an all-to-all with few blocks?

Sparse exchanges are compared with what programs do without them: an MPI_Alltoall of the counts, then an MPI_Alltoallv.
An MPI_Alltoallv in which every rank sends to one neighbor is compared with MPI_Sendrecv, and one in which all send to
one rank with native. All run in one process, in turns of a few calls; the time is that of the slowest rank.
"""

from __future__ import annotations

from wherry.bench.launched import Launched, launch
from wherry.measure.harness import IN_TURNS, LAUNCHING, Setup, preload
from wherry.measure.record import Measurement
from wherry.run.settings import SPARSE_ALGORITHMS

OPTIONS = (*LAUNCHING, "--sizes", "--strategies")
BESIDES = SPARSE_ALGORITHMS
SIZES = (64, 16384)
ALGORITHMS = ("auto", "nbx", "census")
#: What Wherry's MPI_Alltoallv may take, in times of the first variant of the case.
GOALS = {"one neighbor": (2.0, "MPI_Sendrecv"), "hot receiver": (1.05, "native")}


def run(setup: Setup) -> list[Measurement]:
    ranks = setup.ranks or (8 if setup.netlab else 4)
    setup.check_strategies(ranks, BESIDES)
    words = ["--sizes", ",".join(map(str, setup.sizes or SIZES))]
    words += ["--algorithms", ",".join(setup.strategies or ALGORITHMS), "--turns", "6" if setup.quick else "20"]
    table = launch(setup, "sparse", ranks, words, preload())
    return [_result(table, case, variant) for case in table.cases() for variant in table.variants(case)[1:]]


def _result(table: Launched, case: str, variant: str) -> Measurement:
    first = table.variants(case)[0]
    ratio = table.ratio(case, first, variant)
    most, what = GOALS.get(case.split(",")[0], (0.0, "")) if variant == "wherry" else (0.0, "")
    return Measurement(
        bench="sparse",
        case=f"{case}, {variant}",
        metric="time per call",
        unit="s",
        value=table.best(case, variant),
        baseline=table.best(case, first),
        ratio=ratio,
        mpi=table.mpi,
        ranks=table.ranks,
        samples=table.samples(case, first, variant),
        statistic=IN_TURNS,
        network=table.network,
        goal=f"<= {most:g} x {what}" if what else "",
        reached=most * ratio >= 1 if what else None,
    )
