"""Neighborhood collectives by name in C, C++ and Python on every MPI: results, and what they run by."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Launcher, enough, hermetic
from test_collectives import program, run_python, settings_for
from test_plans import PROGRESSED, ran

RANKS = (1, 2, 3, 5, 8)
COLLECTIVES = tuple(f"neighbor_{name}" for name in ("alltoall", "alltoallv", "alltoallw", "allgather", "allgatherv"))
DIRECT = settings_for(dict.fromkeys(COLLECTIVES, "direct"))


def expected(mpi: Launcher, strategy: str) -> dict[str, set[str]]:
    """Of every collective, and of its plans where the library lets Wherry progress them."""
    by_plan = strategy if mpi.name in PROGRESSED else "native"
    return {name: {strategy} for name in COLLECTIVES} | {f"{name}_plan": {by_plan} for name in COLLECTIVES}


@pytest.mark.parametrize("n", RANKS)
def test_results(mpi: Launcher, build: Path, n: int) -> None:
    done = mpi.run([program(mpi, build, "neighbors")], n, {**DIRECT, **hermetic({})})
    assert done.returncode == 0, done.stdout + done.stderr
    assert ran(done.stdout) == expected(mpi, "direct" if n > 1 else "native")


def test_few_neighbors_on_one_node_are_native(mpi: Launcher, build: Path) -> None:
    done = mpi.run([program(mpi, build, "neighbors")], enough(mpi.name), hermetic({}))
    assert done.returncode == 0, done.stdout + done.stderr
    assert ran(done.stdout) == expected(mpi, "native")


@pytest.mark.parametrize("n", RANKS)
def test_results_in_python(mpi: Launcher, installed: Path, n: int) -> None:
    done = run_python(mpi, installed, "python_neighbors.py", n, DIRECT)
    assert ran(done.stdout) == expected(mpi, "direct" if n > 1 else "native")
