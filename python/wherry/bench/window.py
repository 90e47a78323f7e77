"""What does a get from a cached window take: when the data are there or on the node, and what does a miss add?

Rank 0 reads rank 1's memory. Hits are given as they are, beside a plain get with its flush; of a miss counts
the difference to that. What is on the node is not cached by rank 0, but another rank of its node has read it.
In blocks: of a window that fetches 1 KiB around what is missing, when the block is there and when nothing is.
Of bursts of adjacent gets before one flush it is the time of a burst, if each is asked for and if they are joined. All
run in one process, in turns of bursts of calls.
"""

from __future__ import annotations

from wherry.bench.launched import Launched, launch
from wherry.measure.harness import LAUNCHING, STATISTIC, Setup
from wherry.measure.record import Measurement

OPTIONS = tuple(option for option in LAUNCHING if option != "-n")  # always two ranks
#: ns; of a miss, what it adds.
GOALS_NS = {
    ("8 entries", "hit"): 25.0,
    ("8 entries", "hit and flush"): 40.0,
    ("262144 entries", "hit"): 100.0,
    ("miss", "miss"): 100.0,
}


def run(setup: Setup) -> list[Measurement]:
    table = launch(setup, "window", 2, ["--turns", "10" if setup.quick else "30"], {})
    return [_result(table, case, variant) for case in table.cases() for variant in table.variants(case)[1:]]


def _result(table: Launched, case: str, variant: str) -> Measurement:
    plain, mine = table.best(case, "plain"), table.best(case, variant)
    cost_ns = (mine - plain if variant == "miss" else mine) * 1e9
    goal = GOALS_NS.get((case.split(",")[0], variant))
    return Measurement(
        bench="window",
        case=f"{case}, {variant}" if variant != "miss" else case,
        metric="time above a plain get" if variant == "miss" else "time per call",
        unit="ns",
        value=cost_ns,
        baseline=plain * 1e9,
        ratio=plain / mine if mine > 0 else None,
        mpi=table.mpi,
        ranks=table.ranks,
        samples=table.samples(case, "plain", variant),
        statistic=STATISTIC,
        network=table.network,
        goal="" if goal is None else f"<= {goal:.0f} ns",
        reached=None if goal is None else cost_ns <= goal,
    )
