"""What does an all-to-all of fixed arguments cost by each form of the call, with and without a thread for progress?

The native call and its nonblocking and persistent forms, Wherry's call, and Wherry's plan run in one process in
turns (WHERRY_PROGRESS says whether there is a thread). Bursts of calls from a barrier: time on the slowest rank, and
processor time of the whole process, in which a thread counts too, as the mean of the ranks. Ratios are to the native
call in the same launch.
"""

from __future__ import annotations

from wherry.measure.harness import IN_TURNS, LAUNCHING, BenchTable, Setup, Testbed, parse, program
from wherry.measure.record import Measurement

OPTIONS = (*LAUNCHING, "--sizes", "--strategies")
SIZES = (64, 1024, 16384)
STRATEGIES = ("direct",)
BESIDES = ("native",)
#: Who makes progress: words for the program besides the setting.
PROGRESS = {"calls": (), "thread": ("--thread",)}
ELAPSED, PROCESSOR = "time per exchange", "processor time per exchange"


def run(setup: Setup) -> list[Measurement]:
    mpi = setup.installation()
    ranks, launches = setup.ranks or (8 if setup.netlab else 2), setup.number_of_launches()
    strategies = setup.strategies or STRATEGIES
    setup.check_strategies(ranks, BESIDES)
    words = [program(mpi, "plans"), "--sizes", ",".join(map(str, setup.sizes or SIZES))]
    words += ["--turns", "3" if setup.quick else "10"]
    tables = {(strategy, progress): BenchTable() for strategy in strategies for progress in PROGRESS}
    steps = [(launch, *key) for launch in range(launches) for key in tables]
    with Testbed(setup, mpi) as place:
        for done, (launch, strategy, progress) in enumerate(steps):
            setup.progress(f"{strategy}, progress in {progress}", done, len(steps))
            environment = {"WHERRY_ALLTOALL": strategy, "WHERRY_PROGRESS": progress, "WHERRY_NO_TUNING": "1"}
            output = place.run(ranks, [*words, *PROGRESS[progress]], environment)
            tables[strategy, progress].rows += parse(output, launch)
        network = place.network
    return [
        _result(table, case, variant, f"{strategy}, {progress}", mpi.name, ranks, network)
        for (strategy, progress), table in tables.items()
        for case in table.cases()
        for variant in table.variants(case)
        if variant != "native"
    ]


def _result(
    table: BenchTable, case: str, variant: str, setting: str, mpi: str, ranks: int, network: str
) -> Measurement:
    exchange = case.removesuffix(", processor")
    value, ratio = table.best(case, variant), table.ratio(case, "native", variant)
    return Measurement(
        bench="plans",
        case=f"{exchange}, {variant} ({setting})",
        metric=ELAPSED if case == exchange else PROCESSOR,
        unit="s",
        value=value,
        baseline=ratio * value,
        ratio=ratio,
        mpi=mpi,
        ranks=ranks,
        samples=table.samples(case, "native", variant),
        statistic=IN_TURNS,
        network=network,
        against="native",
    )
