"""Non-blocking and persistent collectives by Wherry: results, completion in all ways, and who performed them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import Launcher
from preloading import compile_program, records_in

from wherry.record import Record, text

DRIVEN = ("openmpi", "mpich")  # the libraries that tests run at every number of ranks; both let Wherry take part
UNDRIVEN = ("mpich-abi", "intel", "debian-mpich")  # those that do not; a thread of Wherry's can go on there
WRONG_BY_THEMSELVES = ("intel", "debian-mpich")
RANKS = [1, 2, 3, 5, 8]
OPERATIONS = (
    "Alltoall Alltoallv Alltoallw Allgather Bcast Gather Scatter Reduce Allreduce Reduce_scatter_block Allgatherv"
    " Reduce_scatter Barrier"
)

#: Strategies of all operations, in their order.
FORCED = {
    "several": (
        "bruck2 bruck2 mesh bruck binomial binomial binomial binomial recursive_doubling ring bruck pairwise"
        " dissemination"
    ),
    "others": "pairwise direct pairwise ring chain linear linear binary_tree ring pairwise ring direct binomial",
}


@dataclass(frozen=True)
class Form:
    """A program, and how many checks it makes: where Wherry performs the calls, and where the library does."""

    program: str
    checks: int
    native_checks: int
    function: str  # what is called, with the collective's name at *

    def collective_of(self, function: str) -> str | None:
        match = re.fullmatch(self.function.replace("*", "(.+)"), function)
        return match.group(1).capitalize() if match else None


FORMS = {
    "nonblocking": Form("nonblocking.c", 1113, 1110, "MPI_I*"),
    "persistent": Form("persistent.c", 1395, 936, "MPI_*_init"),
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
    performs = mpi.name in DRIVEN or "WHERRY_PROGRESS" in env
    if form is FORMS["persistent"] and not performs and mpi.name in WRONG_BY_THEMSELVES:
        pytest.skip(f"{mpi.name} without Wherry fails in persistent gathers of its own")
    ours = {"TEST_WHERRY_PERFORMS": "1"} if performs else {}
    if mpi.name == "intel":  # a receive of nothing takes any message there
        ours["TEST_ERRORS_ARE_LOST"] = "1"
    done = mpi.run([program], n, {"WHERRY_NONBLOCKING": "1", **ours, **env}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    checks = re.findall(r"^rank \d+: (\d+) checks, 0 failures$", done.stdout, re.MULTILINE)
    expected = form.checks if performs and n > 1 else form.native_checks  # one rank is the library's
    assert checks == [str(expected)] * n
    return done.stderr


def uses(record: Record, form: Form) -> dict[str, set[str]]:
    """Which strategies each collective ran by in this form."""
    found: dict[str, set[str]] = {}
    for row in record.tables["uses"]:
        if collective := form.collective_of(record.function(row["function"])):
            found.setdefault(collective, set()).add(text(row["strategy"]))
    return found


@pytest.mark.parametrize("n", RANKS)
def test_results_without_a_record(mpi: Launcher, preload: Path, compiled: Compile, form: Form, n: int) -> None:
    run(mpi, compiled(form), form, n, {})


@pytest.mark.parametrize("mpi", DRIVEN, indirect=True)
@pytest.mark.parametrize("names", FORCED.values(), ids=list(FORCED))
@pytest.mark.parametrize("n", [5])
def test_strategies_that_are_named(
    mpi: Launcher, preload: Path, compiled: Compile, form: Form, n: int, names: str, tmp_path: Path
) -> None:
    asked = dict(zip(OPERATIONS.split(), names.split(), strict=True))
    env = {f"WHERRY_{operation.upper()}": name for operation, name in asked.items()}
    run(mpi, compiled(form), form, n, {**env, "WHERRY_OUTPUT": str(tmp_path)})
    for record in records_in(tmp_path):
        ran = uses(record, form)
        missing = {operation for operation, name in asked.items() if name not in ran.get(operation, set())}
        assert not missing


@pytest.mark.parametrize("mpi", DRIVEN, indirect=True)
def test_the_library_performs_them_unless_asked(
    mpi: Launcher, preload: Path, compiled: Compile, form: Form, tmp_path: Path
) -> None:
    done = mpi.run([compiled(form)], 3, {"WHERRY_OUTPUT": str(tmp_path)}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [uses(record, form) for record in records_in(tmp_path)] == [{}] * 3


@pytest.mark.parametrize("mpi", [*DRIVEN, *UNDRIVEN], indirect=True)
@pytest.mark.parametrize("n", [3])
def test_a_thread_goes_on(mpi: Launcher, preload: Path, compiled: Compile, form: Form, n: int) -> None:
    said = run(mpi, compiled(form), form, n, {"WHERRY_PROGRESS": "thread"})
    assert "WHERRY_PROGRESS" not in said
