"""What the program's heap notices of Wherry: nothing, counted in page faults."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Launcher
from heaps import NATIVE, Counts, counts, program

# First pages of Wherry's own memory and of its record, and of the communicators' pool in MPICH, are the process's too.
OWN_FAULTS = 1500

PROGRAMS = {
    "C": ("work_arrays.c", ["500"]),
    "Fortran": ("work_arrays.f90", ["500"]),
}
NUMPY = {
    "NumPy": ("halo.py", ["800", "400"]),
    "NumPy, barrier": ("halo.py", ["800", "400", "barrier"]),
}


def agree(under: Counts, without: Counts) -> bool:
    faults = abs(under.faults - without.faults) <= 0.01 * without.faults + OWN_FAULTS
    return faults and abs(under.later - without.later) <= 0.01 * without.later + 50 and under.answer == without.answer


def unnoticed(mpi: Launcher, source: str, arguments: list[str], folder: Path) -> None:
    """Recording, and enabled on every communicator, with every collective native: as many faults as without Wherry.

    Where messages of the other rank lie in the heap decides, and on Open MPI it is sometimes one, sometimes the other:
    then one of several native runs must agree.
    """
    command = [*program(mpi, source, folder), *arguments]
    under = counts(mpi, command, {"WHERRY_OUTPUT": str(folder), "WHERRY_MEMORY": "leave", **NATIVE}, preload=True)
    assert list(folder.glob("*.wrec")), "Wherry recorded nothing"
    without: list[Counts] = []
    for _ in range(6 if mpi.family == "openmpi" else 1):
        without += counts(mpi, command)
        if all(any(agree(count, native) for native in without) for count in under):
            return
    pytest.fail(f"with Wherry {under}, without {without}")


@pytest.mark.parametrize("name", PROGRAMS)
def test_unnoticed(mpi: Launcher, preload: Path, name: str, tmp_path: Path) -> None:
    unnoticed(mpi, *PROGRAMS[name], tmp_path)


@pytest.mark.parametrize("name", NUMPY)
def test_unnoticed_by_numpy(mpi: Launcher, preload: Path, name: str, tmp_path: Path) -> None:
    unnoticed(mpi, *NUMPY[name], tmp_path)
