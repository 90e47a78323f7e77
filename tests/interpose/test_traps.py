"""Programs that trap floating-point exceptions end as natively, again and again.

WHERRY_TEST_REPEATS says how often each runs, and where it is more than once, at more numbers of ranks, for longer:
`make test-long` has 50.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import TRAPPING, Launcher, with_programs
from preloading import compile_program

REPEATS = int(os.environ.get("WHERRY_TEST_REPEATS", "1"))
RANKS = (2, 3, 4, 8) if REPEATS > 1 else (2, 4)
CALLS = 20000 if REPEATS > 1 else 300


@pytest.fixture(scope="session")
def program(mpi: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(mpi, "traps.c", tmp_path_factory.mktemp(f"traps-{mpi.name}") / "traps", ["-lm"])


@pytest.mark.parametrize("n", RANKS)
def test_no_trap_and_no_flag(mpi: Launcher, preload: Path, program: Path, n: int, tmp_path: Path) -> None:
    """Each run learns anew."""
    ends = [
        mpi.run([program, str(CALLS)], n, {"WHERRY_OUTPUT": str(tmp_path / str(run))}, preload=True)
        for run in range(REPEATS)
    ]
    failed = [done.stdout[-300:] + done.stderr[-300:] for done in ends if done.returncode != 0]
    assert not failed, f"{len(failed)} of {REPEATS} runs, the first: {failed[0]}"
    lines = [f"rank {rank}: sum {n}, flags 0" for rank in range(n)]
    assert [sorted(done.stdout.split("\n")[:-1]) for done in ends] == [lines] * REPEATS


@with_programs()
def test_learning_with_traps(mpi: Launcher) -> None:
    """Ranks that learn and agree, with trials; `make test-long` runs all of tests/mpi so."""
    done = mpi.run([mpi.program("test_cell")], 3, TRAPPING)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
