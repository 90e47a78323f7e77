"""MPI datatypes of C++ types, and objects and parts of arrays that are communicated as such, on every MPI."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Launcher, hermetic


@pytest.mark.parametrize("n", [1, 2, 3])
def test_datatypes(mpi: Launcher, build: Path, n: int) -> None:
    done = mpi.run([build / "tests" / "api" / mpi.name / "types"], n, hermetic({}))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_objects(mpi: Launcher, build: Path, n: int) -> None:
    done = mpi.run([build / "tests" / "api" / mpi.name / "objects"], n, hermetic({}))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ran alltoall_objects" in done.stdout


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("name", ["halo", "cell_halo", "arrays"])
def test_exchanges(mpi: Launcher, build: Path, name: str, n: int) -> None:
    done = mpi.run([build / "tests" / "api" / mpi.name / name], n, hermetic({}))
    assert done.returncode == 0, done.stdout + done.stderr
