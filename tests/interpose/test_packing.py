"""MPI_Pack and MPI_Unpack by Wherry's kernels: the same bytes, positions and errors as the library's, and said so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Launcher
from preloading import calls_of, compile_program, records_in, uses_of

from wherry.analysis.record import text

MPIS = pytest.mark.parametrize("mpi", ["openmpi", "mpich", "intel", "debian-openmpi", "debian-mpich"], indirect=True)
KERNELS = {("MPI_Pack", "layout kernels"), ("MPI_Unpack", "layout kernels")}


@MPIS
def test_same_as_native(mpi: Launcher, tmp_path: Path) -> None:
    """The program checks the bytes; what it prints of MPI's codes and positions is the library's."""
    program = compile_program(mpi, "packing.c", tmp_path / "packing")
    native = mpi.run([program], 1)
    assert native.returncode == 0, native.stdout
    for lever in ("wherry", "auto", "native"):
        folder = tmp_path / lever
        folder.mkdir()
        env = {"WHERRY_LAYOUT": lever, "WHERRY_OUTPUT": str(folder)}
        done = mpi.run([program], 1, env, preload=True)
        assert (done.returncode, done.stdout) == (0, native.stdout), (lever, done.stdout, done.stderr)
        (record,) = records_in(folder)
        uses = uses_of(record)
        assert calls_of(record)["MPI_Pack"] > 0
        assert uses >= KERNELS if lever == "wherry" else lever == "auto" or not uses & KERNELS, (lever, uses)
        if lever == "auto":  # both took turns, and one was kept
            assert uses >= {*KERNELS, ("MPI_Pack", "native"), ("MPI_Unpack", "native")}, uses
            kept = {record.function(row["function"]) for row in record.tables["decisions"]}
            assert kept == {"MPI_Pack", "MPI_Unpack"}
            assert all(row["native_ns"] > 0 and row["time_ns"] > 0 for row in record.tables["decisions"])
    unrecorded = mpi.run([program], 1, {"WHERRY_LAYOUT": "wherry"}, preload=True)
    assert (unrecorded.returncode, unrecorded.stdout) == (0, native.stdout)


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_fallback_is_counted(mpi: Launcher, tmp_path: Path) -> None:
    """Types at absolute addresses, which only some libraries pack."""
    program = compile_program(mpi, "packing_bottom.c", tmp_path / "packing")
    done = mpi.run([program], 1, {"WHERRY_LAYOUT": "wherry", "WHERRY_OUTPUT": str(tmp_path)}, preload=True)
    assert done.returncode == 0, done.stderr
    (record,) = records_in(tmp_path)
    fallbacks = {
        record.function(row["function"]): (int(row["count"]), text(row["reason"])) for row in record.tables["misses"]
    }
    count, reason = fallbacks["MPI_Pack"]
    assert (count, reason.split(",")[0]) == (10 - 2, "MPI_BOTTOM")


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"], indirect=True)
def test_large_data(mpi: Launcher, tmp_path: Path) -> None:
    """Where the rank has cores to itself, several threads pack."""
    program = compile_program(mpi, "packing_large.c", tmp_path / "packing", ["-rdynamic", "-ldl"])
    done = mpi.run([program], 1, {"WHERRY_LAYOUT": "wherry"}, preload=True)
    found = re.fullmatch(r"right, (\d+) helpers, (\d+) cores\n", done.stdout)
    assert done.returncode == 0 and found, (done.stdout, done.stderr)
    helpers, cores = int(found[1]), int(found[2])
    if cores == 1:
        assert helpers == 0
        pytest.skip("the rank has one core, by the launcher or the machine: there is none for a helper")
    assert helpers > 0
