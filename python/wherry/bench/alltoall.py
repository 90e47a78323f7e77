"""How much faster is MPI_Alltoall under Wherry than native?

Both run in one process in turns of a few calls; the time is that of the slowest rank. The ranks enter each call
together, from a barrier; "back to back" are calls without a pause, which overlap. With --strategies every named
strategy takes part.
"""

from __future__ import annotations

from wherry.bench.launched import Launched, launch
from wherry.measure.harness import IN_TURNS, LAUNCHING, Setup, preload
from wherry.measure.record import Measurement

OPTIONS = (*LAUNCHING, "--sizes", "--strategies")
BESIDES = ("wherry", "native")
SIZES = (64, 1024, 16384)
#: Ratios to reach on the emulated Gigabit cluster with Open MPI, by ranks and block.
GOALS = {(8, 64): 1.6, (8, 1024): 1.25, (8, 16384): 1.15, (32, 1024): 1.7}


def run(setup: Setup) -> list[Measurement]:
    ranks = setup.ranks or (8 if setup.netlab else 4)
    setup.check_strategies(ranks, BESIDES)
    strategies = setup.strategies or ("wherry",)
    words = ["--sizes", ",".join(map(str, setup.sizes or SIZES))]
    words += ["--strategies", ",".join(("native", *(name for name in strategies if name != "native")))]
    words += ["--turns", "6" if setup.quick else "20"]
    table = launch(setup, "alltoall", ranks, words, preload())
    return [
        _result(table, case, variant)
        for case in table.cases()
        for variant in table.variants(case)
        if variant != "native"
    ]


def _result(table: Launched, case: str, variant: str) -> Measurement:
    ratio = table.ratio(case, "native", variant)
    has_goal = "emulated" in table.network and variant == "wherry" and "back to back" not in case
    goal = GOALS.get((table.ranks, int(case.split()[0]))) if has_goal else None
    return Measurement(
        bench="alltoall",
        case=f"{case}" if variant == "wherry" else f"{case}, {variant}",
        metric="time per call",
        unit="s",
        value=table.best(case, variant),
        baseline=table.best(case, "native"),
        ratio=ratio,
        mpi=table.mpi,
        ranks=table.ranks,
        samples=table.samples(case, "native", variant),
        statistic=IN_TURNS,
        network=table.network,
        goal=f"ratio >= {goal}" if goal else "",
        reached=ratio >= goal if goal else None,
    )
