"""Programs for `wherry bench programs` in the environments of `make setup`: ours in Python, and those of PyPI.

LAMMPS is Debian's for its Open MPI, which no wheel is built for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from wherry.bench import debian_programs as debian
from wherry.bench.place import Find, Missing, Place, Start, our_file
from wherry.run.launch import FAMILY_OF
from wherry.run.mpis import Mpi

#: Linear algebra libraries would start one thread per core in every rank.
ONE_THREAD = {"OMP_NUM_THREADS": "1"}


def ours(name: str, *options: str, needs: str = "mpi4py") -> Find:
    """A program of bench/programs, run by the interpreter of the MPI's environment. needs: a Python package."""

    def start(place: Place) -> Start:
        python = place.mpi.python
        if python is None or (needs != "mpi4py" and not _has_package(python, needs)):
            raise Missing(f"there is no Python with {needs} for {place.mpi.name}; see what `make setup` says about it")
        return Start((str(python), str(our_file(name)), *options), ONE_THREAD)

    return start


def fft(grid: str, points: int, repeat: int) -> Find:
    """mpi4py-fft. grid: "slab" or "pencil"."""
    shape = ("--shape", *[str(points)] * 3)
    return ours("fft.py", *shape, "--grid", grid, "--repeat", str(repeat), needs="mpi4py_fft")


def lammps(cells: int, steps: int) -> Find:
    """A molten salt of so many cells in each direction."""

    def start(place: Place) -> Start:
        program = lammps_program(place.mpi, place.mpis)
        variables = ("-var", "cells", str(cells), "-var", "steps", str(steps))
        return replace(program, args=(*program.args, "-in", str(our_file("salt.lmp")), "-log", "none", *variables))

    return start


def lammps_program(mpi: Mpi, mpis: Mapping[str, Mpi]) -> Start:
    """The program of the wheel, which is in MPICH's environment and runs with any libmpi.so.12; or Debian's."""
    if mpi.name == "debian-openmpi":
        return Start((debian.installed("lmp", "lammps"),), ONE_THREAD)
    if FAMILY_OF[mpi.family] != "mpich":
        raise Missing(f"it is built for MPICH, Intel MPI and Debian's Open MPI, not for {mpi.name}")
    home = mpis.get("mpich")
    found = sorted(home.prefix.glob("lib/python3.*/site-packages/lammps/lmp")) if home else []
    if not found:
        raise Missing("the lammps wheel is not installed; run: make setup")
    return Start((str(found[0]),), {**ONE_THREAD, "LD_LIBRARY_PATH": str(mpi.libmpi.parent)})


def _has_package(python: Path, name: str) -> bool:
    return any(python.parent.parent.glob(f"lib/python3.*/site-packages/{name}/__init__.py"))
