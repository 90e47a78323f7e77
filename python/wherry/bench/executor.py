"""Does a schedule cost anything: pairwise through the executor against a hand-written pairwise loop?"""

from __future__ import annotations

from wherry.bench.launched import Launched, launch
from wherry.measure.harness import IN_TURNS, LAUNCHING, Setup
from wherry.measure.record import Measurement

OPTIONS = LAUNCHING
GOAL = 1.05


def run(setup: Setup) -> list[Measurement]:
    table = launch(setup, "executor", setup.ranks or 4, [], {"WHERRY_NO_TUNING": "1"})
    return [_result(table, case) for case in table.cases()]


def _result(table: Launched, case: str) -> Measurement:
    by_hand, *others = table.variants(case)
    ratio = table.ratio(case, by_hand, others[0])
    return Measurement(
        bench="executor",
        case=case,
        metric="time per call",
        unit="s",
        value=table.best(case, others[0]),
        baseline=table.best(case, by_hand),
        ratio=ratio,
        mpi=table.mpi,
        ranks=table.ranks,
        samples=table.samples(case, by_hand, others[0]),
        statistic=IN_TURNS,
        network=table.network,
        goal=f"<= {GOAL} x the loop",
        reached=GOAL * ratio >= 1,
    )
