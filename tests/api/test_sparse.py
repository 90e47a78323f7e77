"""Sparse exchanges by name, in C, C++ and Python, on every MPI."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Launcher, hermetic

HERE = Path(__file__).resolve().parent
RANKS = (1, 2, 3, 5, 8)


def program(mpi: Launcher, build: Path) -> Path:
    return build / "tests" / "api" / mpi.name / "sparse_exchange"


@pytest.mark.parametrize("n", RANKS)
def test_c_and_cpp(mpi: Launcher, build: Path, n: int) -> None:
    done = mpi.run([program(mpi, build)], n, hermetic({}))
    assert done.returncode == 0, done.stdout + done.stderr
    assert ("ran native" in done.stdout) == (n == 1)


@pytest.mark.parametrize("n", RANKS)
def test_python(mpi: Launcher, installed: Path, n: int) -> None:
    if mpi.python is None:
        pytest.skip(f"{mpi.name} has no mpi4py")
    done = mpi.run([mpi.python, HERE / "python_sparse.py"], n, {"PYTHONPATH": str(installed), **hermetic({})})
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("strategy", ["nbx", "mesh"])
def test_setting_is_followed(mpi: Launcher, build: Path, strategy: str) -> None:
    done = mpi.run([program(mpi, build)], 5, {"WHERRY_SPARSE_EXCHANGE": strategy, **hermetic({})})
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"ran {strategy}\n" in done.stdout


def test_unknown_setting_is_said_once(mpi: Launcher, build: Path) -> None:
    done = mpi.run([program(mpi, build)], 3, {"WHERRY_SPARSE_EXCHANGE": "brucks2", **hermetic({})})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ran native\n" in done.stdout
    said = [line for line in (done.stdout + done.stderr).splitlines() if "WHERRY_SPARSE_EXCHANGE='brucks2'" in line]
    assert len(said) == 1
    assert said[0].endswith("did you mean 'bruck2'?")


def test_disabled_is_native(mpi: Launcher, build: Path) -> None:
    done = mpi.run([program(mpi, build)], 3, {"WHERRY_DISABLE": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ran native\n" in done.stdout
