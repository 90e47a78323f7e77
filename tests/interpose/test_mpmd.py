"""`wherry run` with several programs, of which only some can be preloaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Launcher
from preloading import calls_of, compile_program, records_in

from wherry.run.mpis import run_to_end

#: An MPI library inside the program, behind which everything else is linked as usual.
INSIDE = ["-Wl,-Bstatic", "-lmpich", "-Wl,-Bdynamic", "-lhwloc", "-lucp", "-lucs", "-luct", "-lpthread", "-lm"]


@pytest.mark.parametrize("mpi", ["debian-mpich"], indirect=True)  # alone in having a static library
@pytest.mark.parametrize(
    ("source", "call", "times"), [("repeat.c", "Alltoall", 40), ("window_once.c", "Win_create", 1)]
)
def test_a_part_that_wherry_cannot_enter_leaves_all_to_the_library(
    mpi: Launcher, preload: Path, tmp_path: Path, source: str, call: str, times: int
) -> None:
    """Without that the ranks of the other part wait for it forever."""
    outside = compile_program(mpi, source, tmp_path / "outside", INSIDE)
    inside = compile_program(mpi, source, tmp_path / "inside")
    out = tmp_path / "out"
    wherry = [sys.executable, "-m", "wherry", "run", "--report", str(out), "--"]
    parts = [*mpi.mpi.mpiexec, "-n", "1", str(inside), str(times), ":", "-n", "1", str(outside), str(times)]
    done: subprocess.CompletedProcess[str] = run_to_end([*wherry, *parts], mpi.env, 120)
    assert done.returncode == 0, done.stderr
    assert f"warning: ranks of '{outside}' may run without Wherry" in done.stderr
    (record,) = records_in(out)
    assert record.rank == 0
    assert calls_of(record)[f"MPI_{call}"] == times
    assert len(record.tables["uses"]) == 0
    assert len(record.tables["windows"]) == 0
