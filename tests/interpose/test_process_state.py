"""The process is the program's: signals, limits, descriptors, environment, umask, folder, locale as natively."""

from __future__ import annotations

from pathlib import Path

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
