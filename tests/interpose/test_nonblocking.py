"""Nonblocking and persistent collectives by Wherry: many at once, completion in all ways, and who performed them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import Launcher
from preloading import FORCED, PROGRESSED, asking_for, compile_program, records_in, uses_of

from wherry.analysis.record import Record

UNPROGRESSED = ("mpich-abi", "intel", "debian-mpich")  # those that do not; a thread of Wherry's can progress there
RANKS = [1, 2, 3, 8]


@dataclass(frozen=True)
class Form:
    """A program, and how many checks it makes: where Wherry performs the calls, and where the library does. None there:
    the libraries do not bear all that the program does."""

    program: str
    checks: int
    native_checks: int | None
    function: str  # what is called, with the collective's name at *

    def collective_of(self, function: str) -> str | None:
        match = re.fullmatch(self.function.replace("*", "(.+)"), function)
        return match.group(1).capitalize() if match else None


FORMS = {
    "nonblocking": Form("nonblocking.c", 957, 954, "MPI_I*"),
    "persistent": Form("persistent.c", 459, None, "MPI_*_init"),
}
Compile = Callable[[Form], Path]


@pytest.fixture(scope="session")
def compiled(mpi: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Compile:
    folder = tmp_path_factory.mktemp(f"nonblocking-{mpi.name}")

    def compile_once(form: Form) -> Path:
        if form is FORMS["persistent"] and mpi.name == "debian-openmpi":
            pytest.skip("Open MPI 4 has no persistent collectives")
        target = folder / Path(form.program).stem
        return target if target.exists() else compile_program(mpi, form.program, target)

    return compile_once


@pytest.fixture(params=list(FORMS))
def form(request: pytest.FixtureRequest) -> Form:
    return FORMS[request.param]


def run(mpi: Launcher, program: Path, form: Form, n: int, env: Mapping[str, str]) -> str:
    """What it said besides."""
    performs = (mpi.name in PROGRESSED or "WHERRY_PROGRESS" in env) and n > 1  # one rank is native
    expected = form.checks if performs else form.native_checks
    if expected is None:
        pytest.skip("the library's own persistent collectives are tested by test_matrix.py alone")
    ours = {"TEST_WHERRY_PERFORMS": "1"} if performs else {}
    if mpi.name == "intel":  # a receive of nothing takes any message there
        ours["TEST_ERRORS_ARE_LOST"] = "1"
    done = mpi.run([program], n, {"WHERRY_NONBLOCKING": "1", **ours, **env}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    checks = re.findall(r"^rank \d+: (\d+) checks, 0 failures$", done.stdout, re.MULTILINE)
    assert checks == [str(expected)] * n
    return done.stderr


def uses(record: Record, form: Form) -> set[tuple[str, str]]:
    """Which strategies each collective ran by in this form."""
    found = {(form.collective_of(function), strategy) for function, strategy in uses_of(record)}
    return {(collective, strategy) for collective, strategy in found if collective is not None}


@pytest.mark.parametrize("n", RANKS)
def test_results_without_a_record(mpi: Launcher, preload: Path, compiled: Compile, form: Form, n: int) -> None:
    run(mpi, compiled(form), form, n, {})


@pytest.mark.parametrize("mpi", PROGRESSED, indirect=True)
@pytest.mark.parametrize("strategies", FORCED.values(), ids=list(FORCED))
@pytest.mark.parametrize("n", [5])
def test_strategies_that_are_named(
    mpi: Launcher,
    preload: Path,
    compiled: Compile,
    form: Form,
    n: int,
    strategies: Mapping[str, str],
    tmp_path: Path,
) -> None:
    run(mpi, compiled(form), form, n, {**asking_for(strategies), "WHERRY_OUTPUT": str(tmp_path)})
    records = records_in(tmp_path)
    assert len(records) == n
    assert all(set(strategies.items()) <= uses(record, form) for record in records)


@pytest.mark.parametrize("mpi", [*PROGRESSED, *UNPROGRESSED], indirect=True)
@pytest.mark.parametrize("n", [3])
def test_a_thread_goes_on(mpi: Launcher, preload: Path, compiled: Compile, form: Form, n: int) -> None:
    said = run(mpi, compiled(form), form, n, {"WHERRY_PROGRESS": "thread"})
    assert "WHERRY_PROGRESS" not in said
