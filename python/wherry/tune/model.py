"""Fits the constants of the cost model to this machine: bench/model.cpp measures, wherry-plan fits and keeps them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wherry import paths
from wherry.errors import UsageError, WherryError
from wherry.measure import harness
from wherry.schedule import plan
from wherry.tune import ahead

#: A launch on a shared machine may be disturbed as a whole; of three, the lower quartile takes the others' word.
_LAUNCHES = 3


@dataclass(frozen=True)
class Constant:
    """value: as fitted, or the default if it was not measured; provenance: measured, missing or absurd."""

    name: str
    unit: str
    value: float
    default: float
    provenance: str


@dataclass(frozen=True)
class Measured:
    """What the launches printed: where they ran, and one line for each sample, as wherry-plan reads them."""

    machine: str
    mpi: str
    ranks: int
    nodes: int
    samples: list[str]


@dataclass(frozen=True)
class Fitted:
    file: Path
    measured: Measured
    constants: list[Constant]


def fit(setup: harness.Setup, ranks: int, launcher: Sequence[str]) -> Fitted:
    """Measures on so many ranks, or as the launcher starts them, and puts the row into the tuning file."""
    file = paths.tuning_file()
    if file is None:
        raise UsageError("there is no place for a tuning file; name one in WHERRY_TUNING_FILE")
    measured = parse("\n".join(_launches(setup, ranks, launcher)))
    words = ["fit", "--tuning", str(file), "--machine", measured.machine, "--mpi", measured.mpi]
    answer = json.loads(plan.ask(words, "\n".join(measured.samples)))
    return Fitted(file, measured, [Constant(**row) for row in answer])


def parse(output: str) -> Measured:
    """The JSON lines of the launches; other lines are not ours."""
    rows = [_row(line) for line in output.splitlines() if line.startswith("{")]
    try:
        head = next(row for row in rows if "machine" in row)
        samples = [sample for row in rows if "probe" in row for sample in _samples(row)]
        return Measured(head["machine"], head["mpi"], int(head["ranks"]), int(head["nodes"]), samples)
    except StopIteration:
        raise WherryError("the benchmark program did not say where it ran") from None
    except (KeyError, TypeError, ValueError) as error:
        raise WherryError(f"the benchmark program printed something else than samples: {error!r}") from error


def _row(line: str) -> dict[str, Any]:
    try:
        row: dict[str, Any] = json.loads(line)
    except ValueError as error:
        raise WherryError(f"a benchmark program printed a damaged line: {line[:100]}") from error
    return row


def _samples(row: dict[str, Any]) -> list[str]:
    kind = f"{row['probe']} {row['where']} {int(row['bytes'])} {int(row['flows'])}"
    return [f"{kind} {float(value)!r}" for value in row["samples"]]


def _launches(setup: harness.Setup, ranks: int, launcher: Sequence[str]) -> list[str]:
    """What each launch printed."""
    launches = setup.launches or (1 if setup.quick else _LAUNCHES)
    if launcher:
        start, mpi_name = ahead.own_launcher(launcher, setup)
        program = str(paths.built(paths.bench_program(mpi_name, "model")))
        return _repeat(setup, launches, lambda: start([program], harness.preload(WHERRY_DISABLE="1")))
    mpi = setup.installation()
    with harness.Testbed(setup, mpi) as place:
        return _repeat(setup, launches, lambda: place.run(ranks, [harness.program(mpi, "model")], {}))


def _repeat(setup: harness.Setup, launches: int, launch: Callable[[], str]) -> list[str]:
    printed = []
    for i in range(launches):
        setup.progress(f"launch {i + 1}", i, launches)
        printed.append(launch())
    return printed
