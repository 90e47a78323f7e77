"""Does a schedule cost anything: pairwise through the executor against a hand-written pairwise loop?"""

from __future__ import annotations

from wherry.bench.frame import IN_TURNS, LAUNCHING, Place, Result, Setup, Table, choose_mpi, parse, program

OPTIONS = LAUNCHING
GOAL = 1.05


def run(setup: Setup) -> list[Result]:
    mpi = setup.mpi or choose_mpi(None)
    ranks, launches = setup.ranks or 4, setup.number_of_launches()
    table = Table()
    with Place(setup, mpi) as place:
        for launch in range(launches):
            setup.progress(f"launch {launch + 1}", launch, launches)
            table.rows += parse(place.run(ranks, [program(mpi, "executor")], {"WHERRY_NO_TUNING": "1"}), launch)
        return [_result(table, case, mpi.name, ranks, place.network) for case in table.cases()]


def _result(table: Table, case: str, mpi: str, ranks: int, network: str) -> Result:
    by_hand, *others = table.variants(case)
    ratio = table.ratio(case, by_hand, others[0])
    return Result(
        bench="executor",
        case=case,
        metric="time per call",
        unit="s",
        value=table.best(case, others[0]),
        baseline=table.best(case, by_hand),
        ratio=ratio,
        mpi=mpi,
        ranks=ranks,
        samples=table.samples(case, by_hand, others[0]),
        statistic=IN_TURNS,
        network=network,
        goal=f"<= {GOAL} x the loop",
        reached=GOAL * ratio >= 1,
    )
