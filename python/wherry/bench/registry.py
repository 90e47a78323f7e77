"""The benchmarks by name. A new one is a module and a row here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from wherry.bench import (
    alltoall,
    chooser,
    executor,
    fluid,
    grid,
    overlap,
    patterns,
    plans,
    preload,
    programs,
    scaling,
    serialization,
    sparse,
    typed,
    verify,
    window,
)
from wherry.errors import UsageError, unknown
from wherry.measure.harness import Setup, check_hosts
from wherry.measure.record import Measurement
from wherry.provenance import commit, machine
from wherry.schedule import plan

_ALWAYS = ("--json", "--quick")


@dataclass(frozen=True)
class Bench:
    name: str
    question: str
    run: Callable[[Setup], list[Measurement]]
    options: tuple[str, ...]  # of `wherry bench` that it uses, besides those that all do
    besides: tuple[str, ...] = ()  # that it takes for --strategies, besides strategies of all-to-alls


_MODULES = (
    *(preload, executor, alltoall, scaling, overlap, plans, sparse, window, chooser, grid),
    *(patterns, typed, serialization, fluid, verify, programs),
)
BENCHES = tuple(
    Bench(
        module.__name__.rsplit(".", 1)[-1],
        (module.__doc__ or "").strip().splitlines()[0],
        module.run,
        module.OPTIONS,
        getattr(module, "BESIDES", ()),
    )
    for module in _MODULES
)


def find(name: str) -> Bench:
    for bench in BENCHES:
        if bench.name == name:
            return bench
    raise unknown("benchmark", name, [bench.name for bench in BENCHES])


def check_options(name: str, given: Collection[str]) -> None:
    """Raises UsageError for an option that the benchmark would not use."""
    options = find(name).options
    for option in given:
        if option not in (*options, *_ALWAYS):
            takes = ", ".join([*options, *_ALWAYS])
            raise UsageError(f"benchmark '{name}' does not use {option}; leave it out (it takes {takes})")
    check_hosts(given)


def check_strategies(name: str, strategies: Iterable[str]) -> None:
    """Raises UsageError for a name that the benchmark does not take for --strategies."""
    plan.check_strategies(strategies, find(name).besides)


def run(name: str, setup: Setup) -> list[Measurement]:
    """Runs a benchmark; its records carry machine and commit."""
    where, version = machine(), commit()  # before: a run may take an hour
    results = find(name).run(setup)
    for result in results:
        result.machine, result.commit = where, version
    return results
