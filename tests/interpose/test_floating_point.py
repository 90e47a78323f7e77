"""The floating-point environment is the program's: it traps, rounds and flushes as natively, and no flag is raised."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Launcher
from preloading import compile_program, records_in

from wherry.analysis.record import Record, text

#: Enough calls for the learner to try, keep, re-evaluate and change.
CALLS = 200
SETTINGS = {"WHERRY_NO_TUNING": "1", "WHERRY_NONBLOCKING": "1", "WHERRY_CACHE": "always"}


@pytest.fixture(scope="session")
def program(mpi: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(mpi, "floating_point.c", tmp_path_factory.mktemp(f"floating-{mpi.name}") / "floating_point")


def reports(output: str) -> list[str]:
    return sorted(re.findall(r"^rank \d+: (.*)$", output, re.MULTILINE))


@pytest.mark.parametrize("n", [1, 3, 4, 5])
def test_environment_is_the_programs(mpi: Launcher, preload: Path, program: Path, n: int, tmp_path: Path) -> None:
    natively = mpi.run([program, 2], n)
    assert natively.returncode == 0, natively.stdout + natively.stderr
    done = mpi.run([program, CALLS], n, SETTINGS | {"WHERRY_OUTPUT": str(tmp_path)}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(reports(done.stdout)) == n
    assert reports(done.stdout) == reports(natively.stdout)


def choices(record: Record) -> list[tuple[str, str, int, int, int]]:
    """What ran how often for which sizes, and what was decided of it."""
    return sorted(
        (
            record.function(row["function"]),
            text(row["strategy"]),
            int(row["comm"]),
            int(row["bucket"]),
            int(row["calls"]),
        )
        for row in record.tables["uses"]
    )


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_ranks_with_different_environments_choose_alike(
    mpi: Launcher, preload: Path, program: Path, n: int, tmp_path: Path
) -> None:
    """One traps and rounds upwards, one rounds downwards, one is as any other, one flushes to zero: no run hangs."""
    natively = mpi.run([program, 2, "mixed"], n)
    assert natively.returncode == 0, natively.stdout + natively.stderr
    done = mpi.run([program, CALLS, "mixed"], n, SETTINGS | {"WHERRY_OUTPUT": str(tmp_path)}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(reports(done.stdout)) == n
    assert reports(done.stdout) == reports(natively.stdout)
    first, *others = [choices(record) for record in records_in(tmp_path)]
    assert len(others) == n - 1
    assert len({strategy for _, strategy, *_ in first}) > 2, first
    assert all(other == first for other in others)
