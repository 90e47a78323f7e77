"""Messages of derived types by the layout kernels: what arrives, and all that MPI says of it, is as without Wherry."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from conftest import Launcher
from preloading import compile_program, records_in, uses_of

from wherry.analysis.record import Record, text

# Without Wherry too Debian's MPICH 4.0.2 ends this program: "message truncated" in a receive that has room.
MPIS = pytest.mark.parametrize("mpi", ["openmpi", "mpich", "intel", "debian-openmpi"], indirect=True)
ROUNDS = 3  # the third message of a type is the first that Wherry moves
BLOCKING = {"MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Recv", "MPI_Mrecv", "MPI_Sendrecv"}
# What Wherry replaces in each program.
REPLACED = {
    "messages": BLOCKING | {"MPI_Isend", "MPI_Issend", "MPI_Irecv"},
    "message_errors": set(),  # on Open MPI nothing, where the program handles errors
    "requests": {
        *("MPI_Isend", "MPI_Issend", "MPI_Irsend", "MPI_Irecv", "MPI_Neighbor_alltoallw"),
        *("MPI_Start", "MPI_Startall", "MPI_Ineighbor_alltoallw"),
    },
    "request_ends": {"MPI_Irecv", "MPI_Start"},
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


@MPIS
@pytest.mark.parametrize("lever", ["wherry", "auto"])
def test_receives_that_callbacks_complete(mpi: Launcher, tmp_path: Path, lever: str) -> None:
    program = compile_program(mpi, "callback_waits.c", tmp_path / "callback_waits")
    for variables in ({}, {"WHERRY_OUTPUT": str(tmp_path)}):
        done = mpi.run([program], 2, {"WHERRY_LAYOUT": lever, **variables}, preload=True)
        assert done.returncode == 0, done.stderr


def copiers_of(record: Record, function: str) -> Counter[str]:
    """How many calls each copier made."""
    counts: Counter[str] = Counter()
    for row in record.tables["uses"]:
        if record.function(row["function"]) == function:
            counts[text(row["strategy"])] += int(row["calls"])
    return counts


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"], indirect=True)
def test_starts_are_counted(mpi: Launcher, tmp_path: Path) -> None:
    """Every start of persistent requests of derived types until they stay native, by who moved the data."""
    program = compile_program(mpi, "starts.c", tmp_path / "starts")
    for lever, by_kernels_alone in (("wherry", True), ("auto", False)):
        folder = tmp_path / lever
        folder.mkdir()
        done = mpi.run([program, "40", "10"], 2, {"WHERRY_LAYOUT": lever, "WHERRY_OUTPUT": str(folder)}, preload=True)
        assert done.returncode == 0, done.stdout + done.stderr
        for record in records_in(folder):
            starts, bursts = copiers_of(record, "MPI_Start"), copiers_of(record, "MPI_Startall")
            if by_kernels_alone:
                assert (starts, bursts) == ({"layout kernels": 40}, {"layout kernels": 10})
                continue
            # An exchange is one of either copier: both its starts, and in turns. From two pairs on, if both are clear,
            # the requests may be native, and are counted no more.
            assert 10 <= sum(starts.values()) <= 40
            assert starts["layout kernels"] % 2 == 0
            assert starts["layout kernels"] >= 4
            assert sum(bursts.values()) <= 10
            assert bursts["layout kernels"] >= 3 or sum(starts.values()) < 40 or sum(bursts.values()) <= 1


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"], indirect=True)
def test_requests_taking_turns(mpi: Launcher, tmp_path: Path) -> None:
    """The same with exchanges: both copiers move messages of every form."""
    program = compile_program(mpi, "requests.c", tmp_path / "requests", ["-pthread"])
    native = run(mpi, program, tmp_path / "native", rounds=20, sides="", lever="auto")
    for sides in ("01", "0"):
        folder = tmp_path / f"wherry-{sides}"
        assert run(mpi, program, folder, rounds=20, sides=sides, lever="auto") == native
        functions = {
            "MPI_Isend",
            "MPI_Irecv",
            "MPI_Start",
            "MPI_Startall",
            "MPI_Neighbor_alltoallw",
            "MPI_Ineighbor_alltoallw",
        }
        wanted = {(function, copier) for function in functions for copier in ("layout kernels", "native")}
        for rank in sides:
            assert wanted - uses_of(records_in(folder)[int(rank)]) == set()


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
