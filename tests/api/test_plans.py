"""Plans in C, C++ and Python on every MPI: results, what they run by, and what progresses them."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Launcher, hermetic
from test_collectives import check_followed, program, run_python, settings_for

RANKS = (1, 2, 3, 5, 8)
PROGRESSED = ("openmpi", "debian-openmpi", "mpich")  # these let Wherry take part in their progress
ASKED = {
    "alltoall": "mesh",
    "alltoallv": "bruck2",
    "alltoallw": "mesh",
    "allgather": "bruck",
    "bcast": "chain",
    "gather": "binomial",
    "scatter": "linear",
    "barrier": "binomial",
    "reduce": "rabenseifner",
    "allreduce": "mesh",
    "reduce_scatter_block": "recursive_halving_ordered",
}
IN_PYTHON = ("alltoall", "alltoallv", "allgather", "bcast", "allreduce", "reduce_scatter_block")


def ran(output: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for line in output.splitlines():
        if line.startswith("ran "):
            _, collective, strategy = line.split()
            found.setdefault(collective, set()).add(strategy)
    return found


@pytest.mark.parametrize("n", RANKS)
def test_results(mpi: Launcher, build: Path, n: int) -> None:
    done = mpi.run([program(mpi, build, "plans")], n, hermetic({}))
    assert done.returncode == 0, done.stdout + done.stderr
    native = {collective: strategies == {"native"} for collective, strategies in ran(done.stdout).items()}
    assert native == dict.fromkeys(ASKED, n == 1 or mpi.name not in PROGRESSED)


@pytest.mark.parametrize("mpi", PROGRESSED, indirect=True)
def test_settings_are_followed(mpi: Launcher, build: Path) -> None:
    done = mpi.run([program(mpi, build, "plans")], 5, {**settings_for(ASKED), **hermetic({})})
    assert done.returncode == 0, done.stdout + done.stderr
    assert ran(done.stdout) == {collective: {strategy} for collective, strategy in ASKED.items()}


def test_disabled_is_native(mpi: Launcher, build: Path) -> None:
    done = mpi.run([program(mpi, build, "plans")], 3, {"WHERRY_DISABLE": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert ran(done.stdout) == {collective: {"native"} for collective in ASKED}


def test_a_program_without_threads_says_so_once(mpi: Launcher, build: Path) -> None:
    """The program asks for no MPI_THREAD_MULTIPLE, and a library cannot ask for it later."""
    done = mpi.run([program(mpi, build, "plans")], 3, {"WHERRY_PROGRESS": "thread", **hermetic({})})
    assert done.returncode == 0, done.stdout + done.stderr
    said = "WHERRY_PROGRESS=thread, but MPI provides no MPI_THREAD_MULTIPLE here"
    assert (done.stdout + done.stderr).count(said) == 1


@pytest.mark.parametrize("n", RANKS)
def test_results_in_python(mpi: Launcher, installed: Path, n: int) -> None:
    done = run_python(mpi, installed, "python_plans.py", n, {})
    assert set(ran(done.stdout)) == set(IN_PYTHON)


def test_settings_are_followed_in_python(mpi: Launcher, installed: Path) -> None:
    """mpi4py asks for MPI_THREAD_MULTIPLE, so a thread can go on wherever there is one."""
    asked = {collective: ASKED[collective] for collective in IN_PYTHON}
    env = {**settings_for(asked), "WHERRY_PROGRESS": "thread"}
    check_followed(run_python(mpi, installed, "python_plans.py", mpi.few(5), env).stdout, asked)
