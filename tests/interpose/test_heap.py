"""A program's heap under Wherry while every collective is native: never more page faults than without it."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import Launcher
from heaps import NATIVE, Counts, counts, program

#: The first pages of Wherry's own memory and of its record are the process's too.
OWN_FAULTS = 1500

COMMANDS = {
    "C": ("work_arrays.c", ["300"]),
    "Fortran": ("work_arrays.f90", ["300"]),
    "NumPy": ("halo.py", ["800", "200"]),
    "NumPy, barrier": ("halo.py", ["800", "200", "barrier"]),
}

# Under Open MPI the faults of one program differ between runs without Wherry, and between ranks, by a factor of up to
# 60: where its receive buffers come to lie depends on which message is first. No count could be compared there.
UNVARYING = pytest.mark.parametrize("mpi", ["mpich", "mpich-abi", "intel", "debian-mpich"], indirect=True)


def is_no_worse(under: Counts, without: Counts) -> bool:
    return under.faults <= 1.01 * without.faults + OWN_FAULTS and under.answer == without.answer


@UNVARYING
@pytest.mark.parametrize("name", COMMANDS)
def test_no_more_page_faults(mpi: Launcher, preload: Path, name: str, tmp_path: Path) -> None:
    """Recording, enabled on every communicator, waiting and memory as they are by default."""
    source, arguments = COMMANDS[name]
    command = [*program(mpi, source, tmp_path), *arguments]
    native = counts(mpi, command)
    wherry = counts(mpi, command, {"WHERRY_OUTPUT": str(tmp_path), **NATIVE}, preload=True)
    assert list(tmp_path.glob("*.wrec")), "Wherry recorded nothing"
    assert all(is_no_worse(*ranks) for ranks in zip(wherry, native, strict=True)), (wherry, native)


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
@pytest.mark.parametrize("name", ["C", "Fortran"])
def test_as_many_page_faults_where_nothing_is_changed(mpi: Launcher, preload: Path, name: str, tmp_path: Path) -> None:
    """Within 1%. On Intel MPI and Debian's MPICH there are 30 times fewer on some ranks, by what the library frees."""
    source, arguments = COMMANDS[name]
    command = [*program(mpi, source, tmp_path), *arguments]
    native = counts(mpi, command)
    env = {"WHERRY_OUTPUT": str(tmp_path), "WHERRY_MEMORY": "leave", **NATIVE}
    wherry = counts(mpi, command, env, preload=True)
    for under, without in zip(wherry, native, strict=True):
        assert abs(under.faults - without.faults) <= 0.01 * without.faults + OWN_FAULTS, (wherry, native)


def memory_calls(
    mpi: Launcher, command: list[str | Path], folder: Path, env: Mapping[str, str] | None = None, preload: bool = False
) -> list[Counter[str]]:
    """The system calls by which the main thread of each rank gets memory and gives it back."""
    folder.mkdir()
    traced = ["strace", "-qq", "-ff", "-e", "trace=brk,mmap,munmap,mremap", "-o", folder / "calls"]
    counts(mpi, [*traced, *command], env, preload=preload)
    found = [Counter(line.split("(")[0] for line in log.read_text().splitlines()) for log in folder.glob("calls.*")]
    return sorted(found, key=Counter.total, reverse=True)[:2]


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is missing (as root: apt-get install strace)")
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
@pytest.mark.parametrize("name", ["C", "NumPy"])
def test_as_many_calls_for_memory_where_nothing_is_changed(
    mpi: Launcher, preload: Path, name: str, tmp_path: Path
) -> None:
    """Else the heap's thresholds have changed, which made it grow and shrink several times as often, or never.

    It grows as often within a half: whether an array of a step fits into what was freed below it depends on where
    each small block lies, and the communicator and the keys that Wherry creates are MPI's own blocks in that heap
    (NumPy on MPICH: 105 calls of each rank alone, 106 and 142 with Wherry, in every run of one build). What is mapped
    does not depend on that: within 1% and what loading takes.
    """
    source, arguments = {"C": ("work_arrays.c", ["500"]), "NumPy": ("halo.py", ["400", "100"])}[name]
    command = [*program(mpi, source, tmp_path), *arguments]
    native = memory_calls(mpi, command, tmp_path / "native")
    out = tmp_path / "out"
    out.mkdir()
    env = {"WHERRY_OUTPUT": str(out), "WHERRY_MEMORY": "leave", **NATIVE}
    wherry = memory_calls(mpi, command, tmp_path / "wherry", env, preload=True)
    assert list(out.glob("*.wrec")), "Wherry recorded nothing"
    for under, without in zip(wherry, native, strict=True):
        assert abs(under["brk"] - without["brk"]) <= 0.5 * without["brk"] + 8, (wherry, native)
        for call in ("mmap", "munmap", "mremap"):
            assert abs(under[call] - without[call]) <= 0.01 * without[call] + 24, (wherry, native)
