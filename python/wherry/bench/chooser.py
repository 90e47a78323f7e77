"""After training, how far is the chosen strategy from the best candidate, and what did the training cost?

A fresh process learns from its first call on; then the choice and every candidate run in turns. The cost of training is
the time of the calls before the decision beyond what native calls would have taken, in native calls. When the
decision fell is read from the record.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from wherry.analysis import record, record_format
from wherry.measure.harness import IN_TURNS, LAUNCHING, BenchTable, Samples, Setup, Testbed, parse, preload, program
from wherry.measure.record import Measurement
from wherry.schedule import plan

OPTIONS = (*LAUNCHING, "--sizes", "--strategies")
BESIDES = ("wherry", "native")
SIZES = (8, 1024, 65536)
GOAL_TIME, GOAL_COST = 1.15, 3.0
_TRAINING, _ALONE, _DECIDED = "training", "native alone", "decided at call"


def run(setup: Setup) -> list[Measurement]:
    mpi = setup.installation()
    ranks = setup.ranks or (8 if setup.netlab else 4)
    launches, sizes = setup.number_of_launches(), setup.sizes or SIZES
    args = [program(mpi, "chooser"), "--sizes", ",".join(map(str, sizes)), "--turns", "6" if setup.quick else "20"]
    args += ["--strategies", ",".join(_candidates(setup, ranks))]
    table, decided = BenchTable(), dict[tuple[int, int], int]()
    with Testbed(setup, mpi) as place:
        for launch in range(launches):
            setup.progress(f"launch {launch + 1}", launch, launches)
            with tempfile.TemporaryDirectory(prefix="wherry-") as records:
                table.rows += parse(place.run(ranks, args, preload(WHERRY_OUTPUT=records)), launch)
                decided |= {(launch, bucket): call for bucket, call in _decision_calls(Path(records)).items()}
        network = place.network
    results = []
    for size in sizes:
        results.append(_distance(table, f"{size} B", mpi.name, ranks, network))
        results.append(_cost(table, size, decided, mpi.name, ranks, network))
    return results


def _candidates(setup: Setup, ranks: int) -> list[str]:
    setup.check_strategies(ranks, BESIDES)
    if setup.strategies:
        return list(setup.strategies)
    answer = plan.explain("alltoall", setup.placement(ranks), SIZES[1])
    return [str(candidate["name"]) for candidate in answer["candidates"] if candidate["name"] != "native"]


def _decision_calls(records: Path) -> dict[int, int]:
    """Size class -> number of the call from which the first decision held, as rank 0 recorded it."""
    found: dict[int, int] = {}
    for rank in record.read_all(records).ranks[:1]:
        for decision in rank.tables["decisions"]:
            if record_format.REASONS[decision["reason"]] == "kept":
                found.setdefault(int(decision["bucket"]), int(decision["call"]))
    return found


def bucket_of(size: int) -> int:
    """profile::bucket_of."""
    return 0 if size == 0 else 1 + (size - 1).bit_length()


def _distance(table: BenchTable, case: str, mpi: str, ranks: int, network: str) -> Measurement:
    candidates = [variant for variant in table.variants(case) if variant not in ("wherry", _TRAINING, _ALONE, _DECIDED)]
    ratios = {variant: table.ratio(case, variant, "wherry") for variant in candidates}
    best = min(ratios, key=lambda variant: ratios[variant])
    return Measurement(
        bench="chooser",
        case=f"{case}, best: {best}",
        metric="time per call after training",
        unit="s",
        value=table.best(case, "wherry"),
        baseline=table.best(case, best),
        ratio=ratios[best],
        mpi=mpi,
        ranks=ranks,
        samples=table.samples(case, "wherry", *candidates),
        statistic=IN_TURNS,
        network=network,
        goal=f"<= {GOAL_TIME} x the best",
        reached=GOAL_TIME * ratios[best] >= 1,
    )


def _cost(
    table: BenchTable, size: int, decided: dict[tuple[int, int], int], mpi: str, ranks: int, network: str
) -> Measurement:
    case = f"{size} B"
    costs = []
    for row in list(table.of(case, _TRAINING)):
        native = statistics.median(
            [value for other in table.of(case, _ALONE) if other.launch == row.launch for value in other.values]
        )
        # Without a decision all calls were trials.
        calls = decided.get((row.launch, bucket_of(size)), len(row.values))
        table.rows.append(Samples(case, _DECIDED, "calls", row.launch, (float(calls),)))
        costs.append(sum(t - native for t in row.values[:calls]) / native)
    cost = statistics.median(costs)
    return Measurement(
        bench="chooser",
        case=f"{case}, training",
        metric="training cost in native calls",
        unit="calls",
        value=cost,
        baseline=None,
        ratio=None,
        mpi=mpi,
        ranks=ranks,
        samples=table.samples(case, _TRAINING, _ALONE, _DECIDED),
        statistic="median over launches",
        network=network,
        goal=f"<= {GOAL_COST:.0f}",
        reached=cost <= GOAL_COST,
    )
