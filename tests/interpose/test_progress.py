"""What progresses what was started: the library's calls, or a thread; and that the thread is in nobody's way."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Launcher
from preloading import PROGRESSED, compile_program

THREAD = {"WHERRY_NONBLOCKING": "1", "WHERRY_PROGRESS": "thread", "WHERRY_BCAST": "chain"}
RANKS = 3


@pytest.fixture(scope="session")
def program(mpi: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(mpi, "progress.c", tmp_path_factory.mktemp(f"progress-{mpi.name}") / "progress")


@pytest.mark.parametrize("mpi", [*PROGRESSED, "intel", "debian-mpich"], indirect=True)
def test_a_thread_goes_on_while_a_rank_computes(mpi: Launcher, preload: Path, program: Path, tmp_path: Path) -> None:
    """Rank 2 gets its data from rank 1, which does not call MPI until rank 2 has them."""
    done = mpi.run([program, tmp_path / "arrived", "60"], RANKS, THREAD, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "rank 1 handed on while it computed" in done.stdout


@pytest.mark.parametrize("mpi", PROGRESSED, indirect=True)
def test_calls_go_on_when_a_rank_waits(mpi: Launcher, preload: Path, program: Path, tmp_path: Path) -> None:
    env = {**THREAD, "WHERRY_PROGRESS": "calls"}
    done = mpi.run([program, tmp_path / "arrived", "2"], RANKS, env, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "rank 1 handed on when it waited" in done.stdout


@pytest.mark.parametrize("mpi", PROGRESSED, indirect=True)
def test_fork_with_a_thread(mpi: Launcher, preload: Path, program: Path) -> None:
    done = mpi.run([program, "fork"], RANKS, THREAD, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("mpi", PROGRESSED, indirect=True)
def test_exit_with_a_call_under_way(mpi: Launcher, preload: Path, program: Path, tmp_path: Path) -> None:
    """Launchers may call it a failure that MPI_Finalize was not called, but no rank stays or crashes."""
    done = mpi.run([program, "exit", tmp_path / "left"], RANKS, THREAD, preload=True)
    assert (tmp_path / "left.all").exists(), done.stdout + done.stderr
    assert not re.search("Segmentation fault|Aborted|signal (11|6)", done.stdout + done.stderr)


@pytest.mark.parametrize("mpi", PROGRESSED, indirect=True)
def test_a_setting_that_is_neither(mpi: Launcher, preload: Path, program: Path) -> None:
    done = mpi.run([program, "fork"], RANKS, {**THREAD, "WHERRY_PROGRESS": "threads"}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    said = "WHERRY_PROGRESS='threads' is neither calls nor thread; it counts as calls"
    assert (done.stdout + done.stderr).count(said) == 1
