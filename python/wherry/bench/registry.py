"""The benchmarks by name. A new one is a module and a row here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from wherry.bench import alltoall, chooser, executor, grid, preload, verify
from wherry.bench.frame import Result, Setup, commit, machine
from wherry.errors import unknown


@dataclass(frozen=True)
class Bench:
    name: str
    question: str
    run: Callable[[Setup], list[Result]]


BENCHES = tuple(
    Bench(module.__name__.rsplit(".", 1)[-1], (module.__doc__ or "").strip().splitlines()[0], module.run)
    for module in (preload, executor, alltoall, chooser, grid, verify)
)


def find(name: str) -> Bench:
    for bench in BENCHES:
        if bench.name == name:
            return bench
    raise unknown("benchmark", name, [bench.name for bench in BENCHES])


def run(name: str, setup: Setup) -> list[Result]:
    """Runs a benchmark; its records carry machine and commit."""
    results = find(name).run(setup)
    where, version = machine(), commit()
    for result in results:
        result.machine, result.commit = where, version
    return results
