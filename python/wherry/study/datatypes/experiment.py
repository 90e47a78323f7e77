"""The source's experiment: every other double of an array, from 8 bytes to 100 MB, by each mechanism.

A ping-pong with a pong of zero bytes, arrays aligned to 64 bytes and zeroed, caches flushed before each, ten trials of
which a size has at least three in its time. Two launches on each library: all schemes natively, and then under the
preload derived types as the program calls them, natively (PMPI) and contiguous data in turns. The receiver checks every
element of every message.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from wherry import paths
from wherry.measure.harness import IN_TURNS, BenchTable, Setup, Testbed, parse, preload, program
from wherry.measure.record import Measurement
from wherry.netlab import why_unavailable
from wherry.run.mpis import Mpi, find_mpis
from wherry.study.datatypes import pictures, statements
from wherry.study.datatypes.eager import DEFAULT, UNLIMITED, settings
from wherry.study.datatypes.schemes import ALL, DERIVED, NATIVE, REFERENCE, WHERRY
from wherry.study.parts import StudyPart, record

SIZES = (8, 80, 1000, 4000, 10_000, 40_000, 100_000, 400_000, 1_000_000, 4_000_000, 10_000_000, 30_000_000, 100_000_000)
QUICK_SIZES = (8, 1000, 100_000)
RANKS = HOSTS = 2
#: Of trials; and the seconds that a size may take in a launch, unless three trials take longer.
TRIALS, QUICK_TRIALS, LIMIT_S, QUICK_LIMIT_S = 10, 3, 2.5, 0.5
#: Enough for Wherry to try and to decide: two calls by which a type becomes known, 32 pairs.
WARM = 72
_PROGRAM = "datatypes"


def installations(setup: Setup, name: str) -> list[Mpi]:
    """The one that the user chose, or all that the program is built for."""
    return [mpi for mpi in ([setup.mpi] if setup.mpi else find_mpis()) if paths.bench_program(mpi.name, name).exists()]


def why_not_built(setup: Setup, name: str) -> str:
    return "" if installations(setup, name) else f"bench_{name} is built for none of the MPI libraries; run: make all"


def words(sizes: Sequence[int], quick: bool, under_wherry: bool) -> list[str]:
    """The program's options for one of the two launches."""
    named = ["--native", ",".join((REFERENCE, *DERIVED)), "--schemes", ",".join(DERIVED)]
    chosen = named if under_wherry else ["--schemes", ",".join(ALL)]
    trials, limit_s = (QUICK_TRIALS, QUICK_LIMIT_S) if quick else (TRIALS, LIMIT_S)
    warm = WARM if under_wherry else 1
    effort = ["--warm", str(warm), "--trials", str(trials), "--limit-s", f"{limit_s:g}"]
    return ["--bytes", ",".join(map(str, sizes)), *chosen, *effort]


@dataclasses.dataclass(frozen=True)
class Where:
    """One of the four experiments."""

    name: str
    question: str
    between_nodes: bool
    eager: str


def measure(where: Where, setup: Setup) -> list[Measurement]:
    mpis = [mpi for mpi in installations(setup, _PROGRAM) if _has_limits(mpi, where)]
    launches = [
        (mpi, launch, under) for mpi in mpis for launch in range(setup.launches or 1) for under in (False, True)
    ]
    found = {mpi.name: ExperimentRun() for mpi in mpis}
    place = dataclasses.replace(setup, netlab=where.between_nodes, hosts=HOSTS)
    for done, (mpi, launch, under_wherry) in enumerate(launches):
        setup.progress(f"{where.name}, {mpi.name}{', under Wherry' if under_wherry else ''}", done, len(launches))
        found[mpi.name].add(place, mpi, where, launch, under_wherry)
    return [row for mpi in mpis for row in records_of(found[mpi.name], mpi, where)]


def _has_limits(mpi: Mpi, where: Where) -> bool:
    return where.eager == DEFAULT or bool(settings(mpi, where.eager, where.between_nodes))


@dataclasses.dataclass
class ExperimentRun:
    native: BenchTable = dataclasses.field(default_factory=BenchTable)
    wherry: BenchTable = dataclasses.field(default_factory=BenchTable)
    network: str = ""

    def add(self, setup: Setup, mpi: Mpi, where: Where, launch: int, under_wherry: bool) -> None:
        sizes = QUICK_SIZES if setup.quick else SIZES
        args = [program(mpi, _PROGRAM), *words(sizes, setup.quick, under_wherry)]
        # Freed memory stays as malloc has it: what Wherry keeps would help what is native in the same process.
        env = preload(WHERRY_MEMORY="leave") if under_wherry else {}
        limits = settings(mpi, where.eager, where.between_nodes)
        with Testbed(setup, mpi) as place:
            (self.wherry if under_wherry else self.native).rows += parse(place.run(RANKS, args, env | limits), launch)
            self.network = place.network


def records_of(launched: ExperimentRun, mpi: Mpi, where: Where) -> Iterable[Measurement]:
    like = {"mpi": mpi.name, "ranks": RANKS, "network": launched.network}
    like |= {"eager": where.eager, "version": mpi.version, "metric": "ping-pong", "unit": "s", "statistic": IN_TURNS}
    for case in launched.native.cases():
        for scheme in ALL:
            yield from _record(launched.native, case, scheme, REFERENCE, like | {"side": NATIVE, "scheme": scheme})
        for scheme in DERIVED:
            members = like | {"side": WHERRY, "scheme": scheme}
            yield from _record(launched.wherry, case, scheme, f"native {REFERENCE}", members)


def _record(
    table: BenchTable, case: str, variant: str, baseline: str, members: dict[str, Any]
) -> Iterable[Measurement]:
    """None of a scheme that is impossible there, or took too long."""
    if _excluded(table, case, variant) or _excluded(table, case, baseline):
        return
    native = f"native {variant}"
    if members["side"] == WHERRY:
        over = None if _excluded(table, case, native) else table.ratio(case, native, variant)
        members = members | {"native_over_wherry": over}
    yield record(
        case=f"{case}, {ALL[variant]}, {members['side']}",
        value=table.best(case, variant),
        baseline=table.best(case, baseline),
        ratio=table.ratio(case, baseline, variant),
        samples=table.samples(case, baseline, variant, *([native] if members["side"] == WHERRY else [])),
        size=int(case.split()[0]),
        against=REFERENCE,
        **members,
    )


def _excluded(table: BenchTable, case: str, variant: str) -> bool:
    return any(row.excluded for row in table.of(case, variant))


def _why_not(where: Where) -> Callable[[Setup], str]:
    def why(setup: Setup) -> str:
        if where.between_nodes and not setup.netlab:
            return "it runs on emulated hosts; give --netlab, as root"
        no_hosts = why_unavailable() if where.between_nodes else None
        return no_hosts or why_not_built(setup, _PROGRAM) or _why_no_limits(where, setup)

    return why


def _why_no_limits(where: Where, setup: Setup) -> str:
    mpis = installations(setup, _PROGRAM)
    if any(_has_limits(mpi, where) for mpi in mpis):
        return ""
    return f"{', '.join(mpi.name for mpi in mpis)} has no setting for it; choose another --mpi"


def _part(where: Where) -> StudyPart:
    options = ("--mpi", "--launches", *(("--netlab",) if where.between_nodes else ()))
    return StudyPart(
        where.name,
        where.question,
        lambda setup: measure(where, setup),
        pictures.tabulate,
        pictures.draw,
        _why_not(where),
        options,
        every_mpi=True,
        answers=statements.tabulate,
        sheet=pictures.sheet,
    )


_QUESTION = "What does it cost to send strided data"
PARTS = tuple(
    _part(where)
    for where in (
        Where("node", f"{_QUESTION} within a node?", False, DEFAULT),
        Where("node-eager", f"{_QUESTION} within a node, if all messages go at once?", False, UNLIMITED),
        Where("cluster", f"{_QUESTION} between hosts with Gigabit links?", True, DEFAULT),
        Where("cluster-eager", f"{_QUESTION} between hosts, if all messages go at once?", True, UNLIMITED),
    )
)
