"""What does it cost a call to be intercepted, with profiling off and on?

MPI_Send to MPI_PROC_NULL is the call with the least work of its own; an MPI_Allreduce of 8 B between ranks in shared
memory is one that Wherry may replace, and that the settings give back to the library here. In a loop both find all that
they need in the caches; in a program that works between its calls they do not, and cost many times as much: the rows
"after other work". Launches without the preload, with it, and with it recording follow each other in turn; the cost is
the difference of the best medians.
"""

from __future__ import annotations

import tempfile

from wherry.measure.harness import LAUNCHING, BenchTable, Setup, Testbed, parse, program
from wherry.measure.harness import preload as under_wherry
from wherry.measure.record import Measurement

OPTIONS = LAUNCHING
GOALS_NS = {"off": 20.0, "on": 150.0}
#: By what is in the case's name. After other work: a hundredth of a program that calls every 100 us.
GOALS_OF_KIND_NS = {"given back": {"off": 5.0, "on": 40.0}, "after other work": {"off": 200.0, "on": 1000.0}}


def run(setup: Setup) -> list[Measurement]:
    mpi = setup.installation()
    ranks, launches = setup.ranks or 2, setup.number_of_launches()
    args = [program(mpi, "preload"), "--turns", "20" if setup.quick else "60"]
    table = BenchTable()
    with Testbed(setup, mpi) as place, tempfile.TemporaryDirectory(prefix="wherry-") as records:
        native = {"WHERRY_ALLREDUCE": "native"}
        variants = {
            "plain": {},
            "off": under_wherry(**native),
            "on": under_wherry(WHERRY_OUTPUT=records, **native),
        }
        for launch in range(launches):
            for i, (variant, environment) in enumerate(variants.items()):
                setup.progress(f"launch {launch + 1}, {variant}", launch * len(variants) + i, launches * len(variants))
                found = parse(place.run(ranks, args, environment), launch)
                table.rows += [type(row)(row.case, variant, row.unit, launch, row.values) for row in found]
        return [
            _result(table, case, variant, mpi.name, ranks, place.network)
            for case in table.cases()
            for variant in GOALS_NS
        ]


def _result(table: BenchTable, case: str, variant: str, mpi: str, ranks: int, network: str) -> Measurement:
    plain, with_wherry = table.best(case, "plain"), table.best(case, variant)
    cost_ns = (with_wherry - plain) * 1e9
    goal_ns = next((goals for kind, goals in GOALS_OF_KIND_NS.items() if kind in case), GOALS_NS)[variant]
    return Measurement(
        bench="preload",
        case=f"{case}, profiling {variant}",
        metric="cost per intercepted call",
        unit="ns",
        value=cost_ns,
        baseline=plain * 1e9,
        ratio=plain / with_wherry if with_wherry > 0 else None,
        mpi=mpi,
        ranks=ranks,
        samples=table.samples(case, "plain", variant),
        statistic="difference of the minima over launches of the median",
        network=network,
        goal=f"<= {goal_ns:.0f} ns",
        reached=cost_ns <= goal_ns,
    )
