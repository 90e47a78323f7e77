"""How much can a program compute while a nonblocking all-to-all is under way?

Completion is the time from the start to the end of MPI_Wait with nothing in between, on the slowest rank. Then the same
call with computation: slices of 20 us, each followed by MPI_Test, until it is over. Processor time that is not in the
slices is the compute overhead; the share is that of the slices in all processor time. Both are means over the ranks.
All variants run in one process in turns.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from wherry.bench.launched import Launched, launch
from wherry.measure.harness import IN_TURNS, LAUNCHING, BenchTable, Setup, preload
from wherry.measure.record import Measurement

OPTIONS = (*LAUNCHING, "--sizes", "--strategies")
BESIDES = ("wherry", "native")
OPERATIONS = ("alltoall", "allgather")
SIZES = (64, 1024, 16384)
COMPLETION, OVERHEAD, SHARE = "completion time", "compute overhead", "computing share"
#: Metrics in seconds, and what the program calls them.
_TIMES = {COMPLETION: "alone", OVERHEAD: "inside"}


def run(setup: Setup) -> list[Measurement]:
    ranks = setup.ranks or (8 if setup.netlab else 2)
    setup.check_strategies(ranks, BESIDES)
    operations = ("alltoall",) if setup.strategies or setup.quick else OPERATIONS
    words = ["--operations", ",".join(operations), "--sizes", ",".join(map(str, setup.sizes or SIZES))]
    words += ["--turns", "3" if setup.quick else "10"]
    words += ["--strategies", ",".join(setup.strategies)] if setup.strategies else []
    table = launch(setup, "overlap", ranks, words, preload(WHERRY_NONBLOCKING="1"))
    cases = list(dict.fromkeys(case.split(",")[0] for case in table.cases()))
    places = [(case, variant) for case in cases for variant in table.variants(f"{case}, alone") if variant != "native"]
    return [
        _result(table, metric, case, variant) for metric in (COMPLETION, OVERHEAD, SHARE) for case, variant in places
    ]


def _result(table: Launched, metric: str, case: str, variant: str) -> Measurement:
    in_seconds = metric in _TIMES
    value, native = (
        table.best(f"{case}, {_TIMES[metric]}", of) if in_seconds else 100 * _share(table, case, of)
        for of in (variant, "native")
    )
    has_goal = metric == SHARE and variant == "wherry"
    kept = (_TIMES[metric],) if in_seconds else ("inside", "computed")
    operation, size = case.removesuffix(" B").split()
    return Measurement(
        bench="overlap",
        case=case if variant == "wherry" else f"{case}, {variant}",
        metric=metric,
        unit="s" if in_seconds else "%",
        value=value,
        baseline=native,
        ratio=table.ratio(f"{case}, {_TIMES[metric]}", "native", variant) if in_seconds else value / native,
        mpi=table.mpi,
        ranks=table.ranks,
        samples=[sample for what in kept for sample in _samples(table, case, what, variant)],
        statistic=IN_TURNS if in_seconds else "median over launches of the median",
        network=table.network,
        goal=">= native" if has_goal else "",
        reached=value >= native if has_goal else None,
        operation=operation,
        size=int(size),
        against="native",
    )


def _share(table: BenchTable, case: str, variant: str) -> float:
    pairs = zip(table.of(f"{case}, inside", variant), table.of(f"{case}, computed", variant), strict=True)
    return statistics.median(statistics.median(_shares(inside.values, computed.values)) for inside, computed in pairs)


def _shares(inside: Sequence[float], computed: Sequence[float]) -> list[float]:
    return [work / (work + rest) for rest, work in zip(inside, computed, strict=True)]


def _samples(table: BenchTable, case: str, what: str, variant: str) -> list[dict[str, object]]:
    """The native one too, once: beside those of Wherry's choice."""
    variants = ("native", variant) if variant == "wherry" else (variant,)
    return [{"what": what} | sample for sample in table.samples(f"{case}, {what}", *variants)]
