"""The process is the program's: signals, limits, descriptors, environment, umask, folder, locale as natively."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
from conftest import Launcher
from preloading import compile_program

SETTINGS = {"WHERRY_NO_TUNING": "1", "WHERRY_NONBLOCKING": "1"}


def test_process_is_as_natively(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    program = compile_program(mpi, "process_state.c", tmp_path / "process_state")
    natively = mpi.run([program], 3)
    assert natively.returncode == 0, natively.stdout + natively.stderr
    done = mpi.run([program], 3, SETTINGS | {"WHERRY_OUTPUT": str(tmp_path)}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) == 10
    assert done.stdout.splitlines() == natively.stdout.splitlines()


@pytest.mark.parametrize(("wait", "mappings"), [("auto", 2), ("spin", 0)])
def test_ranks_of_a_host_share_memory_without_a_name(
    mpi: Launcher, preload: Path, tmp_path: Path, wait: str, mappings: int
) -> None:
    """In which they agree how to wait, unless one of the two ways is asked for or they have too few cores."""
    program = compile_program(mpi, "shared_trials.c", tmp_path / "shared_trials")
    have_cores = len(os.sched_getaffinity(0)) >= 2
    done = mpi.run([program], 2, SETTINGS | {"WHERRY_WAIT": wait}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split() == [str(mappings if have_cores else 0)]
    left = named_memory()
    time.sleep(1 if left else 0)  # of programs that other tests start at this moment
    assert not left & named_memory()


def named_memory() -> set[str]:
    return {path.name for path in Path("/dev/shm").iterdir() if re.fullmatch("wherry-[0-9a-f]{16}", path.name)}
