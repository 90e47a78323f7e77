"""Trains Wherry ahead: a benchmark makes the calls under the preload, and what is proven goes to the tuning file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wherry import paths
from wherry.collective_names import OPERATIONS
from wherry.errors import UsageError, WherryError
from wherry.measure import harness
from wherry.measure.operations import check_operations, learned_sizes
from wherry.run import launch
from wherry.run.mpis import find_mpis, run_to_end
from wherry.tune.store import Row, rows

SIZES = (8, 64, 1024, 16384)
_LAUNCH_LIMIT_S = 600.0
#: A learner settles after some 30 calls and re-evaluates 512 calls later (docs/design/0003-learner.md).
_CALLS, _CALLS_QUICK = 640, 100

Launch = Callable[[Sequence[str], dict[str, str]], str]  # program and arguments, variables; what it prints


@dataclass(frozen=True)
class Trained:
    """file: the tuning file; rows: what this training wrote there; before: how many rows it held."""

    file: Path
    rows: list[Row]
    before: int


def train(
    setup: harness.Setup, ranks: Sequence[int], operations: Sequence[str] | None, launcher: Sequence[str]
) -> Trained:
    """One launch for each number of ranks, operation and size. A launcher says itself how many ranks it starts."""
    names = check_operations(operations or OPERATIONS)
    file = paths.tuning_file()
    if file is None:
        raise UsageError("there is no place for a tuning file; name one in WHERRY_TUNING_FILE")
    before = rows(file)
    if launcher:
        start, mpi_name = own_launcher(launcher, setup)
        _train_all(setup, names, [(start, "as launched")], mpi_name, file)
    else:
        mpi = setup.installation()
        with harness.Testbed(setup, mpi) as place:
            _train_all(setup, names, [(_on(place, n), f"{n} ranks") for n in ranks], mpi.name, file)
    known = {row.line for row in before}
    return Trained(file, [row for row in rows(file) if row.line not in known], len(before))


def _train_all(
    setup: harness.Setup, names: Sequence[str], starts: Sequence[tuple[Launch, str]], mpi_name: str, file: Path
) -> None:
    program = str(paths.built(paths.bench_program(mpi_name, "collectives")))
    jobs = [
        (start, where, name, size)
        for start, where in starts
        for name in names
        for size in learned_sizes(name, setup.sizes or SIZES)
    ]
    calls = str(_CALLS_QUICK if setup.quick else _CALLS)
    for i, (start, where, name, size) in enumerate(jobs):
        setup.progress(f"{name}, {size} B, {where}", i, len(jobs))
        words = [program, "--operations", name, "--sizes", str(size), "--turns", calls, "--calls", "1"]
        start(words, _variables(name, file))


def _variables(operation: str, file: Path) -> dict[str, str]:
    """Wherry chooses for the operation; what it learns goes to the file."""
    to_learn = {"WHERRY_NO_TUNING": "0", "WHERRY_TUNING_FILE": str(file.absolute())}
    return {**harness.preload(**to_learn), f"WHERRY_{operation.upper()}": "auto"}


def _on(place: harness.Testbed, ranks: int) -> Launch:
    return lambda words, variables: place.run(ranks, words, variables)


def own_launcher(words: Sequence[str], setup: harness.Setup) -> tuple[Launch, str]:
    """How to start the benchmark with the user's launcher, and the MPI that it belongs to."""
    launcher = launch.find_launcher(words)
    if launcher is None:
        raise UsageError(f"'{words[0]}' is no launcher; write for example: wherry tune -- mpiexec -n 8")
    path = Path(launcher.path).resolve()
    fitting = [mpi.name for mpi in find_mpis() if Path(mpi.mpiexec[0]).resolve() == path]
    name = setup.mpi.name if setup.mpi else next(iter(fitting), None)
    if name is None:
        raise UsageError(f"which MPI does {launcher.path} start? name it with --mpi, as `wherry info` does")

    def start(program: Sequence[str], variables: dict[str, str]) -> str:
        library = Path(variables.pop("LD_PRELOAD"))
        command = launch.build([*words, *program], launcher, variables, library)
        done = run_to_end(command.argv, {**os.environ, **command.environment}, _LAUNCH_LIMIT_S)
        if done.returncode != 0:
            last = "\n".join((done.stderr or done.stdout).strip().splitlines()[-8:])
            raise WherryError(f"{words[0]} failed with code {done.returncode}:\n{last}")
        return done.stdout

    return start, name
