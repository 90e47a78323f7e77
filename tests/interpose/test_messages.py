"""Messages of derived types by the layout kernels: what arrives, and all that MPI says of it, is as without Wherry."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Launcher
from preloading import compile_program, records_in, uses_of

from wherry.analysis.record import text

# Without Wherry too Debian's MPICH 4.0.2 ends this program: "message truncated" in a receive that has room.
MPIS = pytest.mark.parametrize("mpi", ["openmpi", "mpich", "intel", "debian-openmpi"], indirect=True)
ROUNDS = 3  # the third message of a type is the first that Wherry moves
BLOCKING = {"MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Recv", "MPI_Mrecv", "MPI_Sendrecv"}
# What Wherry replaces in each program.
REPLACED = {
    "messages": BLOCKING | {"MPI_Isend", "MPI_Issend", "MPI_Irecv"},
    "message_errors": set(),  # on Open MPI nothing, where the program handles errors
    "requests": {"MPI_Isend", "MPI_Issend", "MPI_Irsend", "MPI_Irecv", "MPI_Neighbor_alltoallw"},
}


def run(mpi: Launcher, program: Path, folder: Path, *, rounds: int, sides: str, lever: str) -> list[bytes]:
    """What MPI told each rank. sides: the ranks that Wherry may do this for; none: without Wherry."""
    folder.mkdir()
    env = {"WHERRY_LAYOUT": lever, "WHERRY_OUTPUT": str(folder)} if sides else {}
    done = mpi.run([program, folder, str(rounds), sides or "01"], 2, env, preload=bool(sides))
    assert done.returncode == 0, (lever, sides, done.stdout, done.stderr)
    return [(folder / f"rank-{rank}").read_bytes() for rank in range(2)]


def by_kernels(folder: Path) -> list[set[str]]:
    """The functions of each rank that did it by the kernels."""
    return [
        {function for function, copier in uses_of(record) if copier == "layout kernels"}
        for record in records_in(folder)
    ]


@MPIS
@pytest.mark.parametrize("name", REPLACED)
def test_same_as_native(mpi: Launcher, tmp_path: Path, name: str) -> None:
    """The program checks what arrives and most of what MPI says; what it writes of the rest must be as without."""
    program = compile_program(mpi, f"{name}.c", tmp_path / name, ["-pthread"])
    native = run(mpi, program, tmp_path / "native", rounds=ROUNDS, sides="", lever="auto")
    for sides in ("01", "0", "1"):
        folder = tmp_path / f"wherry-{sides}"
        assert run(mpi, program, folder, rounds=ROUNDS, sides=sides, lever="wherry") == native, sides
        wanted = [REPLACED[name] if str(rank) in sides else set() for rank in range(2)]
        assert [by & REPLACED[name] for by in by_kernels(folder)] == wanted


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"], indirect=True)
def test_taking_turns(mpi: Launcher, tmp_path: Path) -> None:
    """Both copiers move the messages of one kind, and one is kept."""
    program = compile_program(mpi, "messages.c", tmp_path / "messages", ["-pthread"])
    native = run(mpi, program, tmp_path / "native", rounds=20, sides="", lever="auto")
    folder = tmp_path / "wherry"
    assert run(mpi, program, folder, rounds=20, sides="01", lever="auto") == native
    for record in records_in(folder):
        uses = uses_of(record)
        assert uses >= {(function, copier) for function in BLOCKING for copier in ("layout kernels", "native")}
        decided = [row for row in record.tables["decisions"] if record.function(row["function"]) in BLOCKING]
        assert {record.function(row["function"]) for row in decided} >= {"MPI_Send", "MPI_Recv"}
        assert all(row["native_ns"] > 0 and row["time_ns"] > 0 for row in decided)


@pytest.mark.parametrize("mpi", ["openmpi", "mpich", "debian-openmpi", "debian-mpich"], indirect=True)
def test_from_fortran(mpi: Launcher, tmp_path: Path) -> None:
    """From MPI_BOTTOM the library sends, and the record says so."""
    program = compile_program(mpi, "messages.f90", tmp_path / "messages")
    done = mpi.run([program], 2, {"WHERRY_LAYOUT": "wherry", "WHERRY_OUTPUT": str(tmp_path)}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert by_kernels(tmp_path) == [{"MPI_Send", "MPI_Recv", "MPI_Sendrecv"}] * 2
    for record in records_in(tmp_path):
        reasons = {record.function(row["function"]): text(row["reason"]) for row in record.tables["misses"]}
        assert reasons["MPI_Send"].startswith("MPI_BOTTOM")
        assert reasons["MPI_Recv"].startswith("MPI_BOTTOM")
