"""How much faster is MPI_Alltoall under Wherry than the library's own?

Both run in one process in turns of a few calls; the time is that of the slowest rank. The ranks enter each call
together, from a barrier; "in rows" are calls without a pause, which overlap. With --strategies every named
strategy takes part.
"""

from __future__ import annotations

from wherry.bench.frame import (
    IN_TURNS,
    LAUNCHING,
    Place,
    Result,
    Setup,
    Table,
    check_applicable,
    choose_mpi,
    parse,
    preload,
    program,
)

OPTIONS = (*LAUNCHING, "--sizes", "--strategies")
BESIDES = ("wherry", "native")
SIZES = (64, 1024, 16384)
#: Ratios to reach on the emulated Gigabit cluster with Open MPI, by ranks and block.
GOALS = {(8, 64): 1.3, (8, 1024): 1.1, (8, 16384): 1.05, (32, 1024): 1.5}


def run(setup: Setup) -> list[Result]:
    mpi = setup.mpi or choose_mpi(None)
    ranks = setup.ranks or (8 if setup.netlab else 4)
    launches, sizes = setup.number_of_launches(), setup.sizes or SIZES
    strategies = setup.strategies or ("wherry",)
    if setup.strategies:
        check_applicable(setup.strategies, setup.placement(ranks), BESIDES)
    args = [program(mpi, "alltoall"), "--sizes", ",".join(map(str, sizes))]
    args += ["--strategies", ",".join(("native", *(name for name in strategies if name != "native")))]
    args += ["--turns", "6" if setup.quick else "20"]
    table = Table()
    with Place(setup, mpi) as place:
        for launch in range(launches):
            setup.progress(f"launch {launch + 1}", launch, launches)
            table.rows += parse(place.run(ranks, args, preload()), launch)
        return [
            _result(table, case, variant, mpi.name, ranks, place.network)
            for case in table.cases()
            for variant in table.variants(case)
            if variant != "native"
        ]


def _result(table: Table, case: str, variant: str, mpi: str, ranks: int, network: str) -> Result:
    ratio = table.ratio(case, "native", variant)
    judged = "emulated" in network and variant == "wherry" and "in rows" not in case
    goal = GOALS.get((ranks, int(case.split()[0]))) if judged else None
    return Result(
        bench="alltoall",
        case=f"{case}" if variant == "wherry" else f"{case}, {variant}",
        metric="time per call",
        unit="s",
        value=table.best(case, variant),
        baseline=table.best(case, "native"),
        ratio=ratio,
        mpi=mpi,
        ranks=ranks,
        samples=table.samples(case, "native", variant),
        statistic=IN_TURNS,
        network=network,
        goal=f"ratio >= {goal}" if goal else "",
        reached=ratio >= goal if goal else None,
    )
