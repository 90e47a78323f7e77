"""Messages of derived types by the layout kernels: what arrives, and all that MPI says of it, is as without Wherry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Launcher
from preloading import compile_program, records_in, uses_of

from wherry.analysis.record import Record, text

# Without Wherry too Debian's MPICH 4.0.2 ends this program: "message truncated" in a receive that has room.
MPIS = pytest.mark.parametrize("mpi", ["openmpi", "mpich", "intel", "debian-openmpi"], indirect=True)
ROUNDS = 3  # the third message of a type is the first that Wherry moves
ROUNDS_WITHOUT = 1  # where what MPI says does not depend on their number
BLOCKING = {
    *("MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Bsend", "MPI_Recv", "MPI_Mrecv"),
    *("MPI_Sendrecv", "MPI_Sendrecv_replace"),
}
# What Wherry replaces in each program.
REPLACED = {
    "messages": BLOCKING | {"MPI_Isend", "MPI_Issend", "MPI_Irecv"},
    "requests": {
        *("MPI_Isend", "MPI_Issend", "MPI_Irsend", "MPI_Irecv", "MPI_Neighbor_alltoallw"),
        *("MPI_Start", "MPI_Startall", "MPI_Ineighbor_alltoallw"),
    },
    "request_ends": {"MPI_Irecv", "MPI_Start"},
}
MOVED = {  # of derived types in memory, beside null pointers
    *("MPI_Send", "MPI_Recv", "MPI_Sendrecv", "MPI_Sendrecv_replace", "MPI_Bsend", "MPI_Isend", "MPI_Irecv"),
    *("MPI_Startall", "MPI_Pack", "MPI_Unpack", "MPI_Neighbor_alltoallw", "MPI_Ineighbor_alltoallw"),
}
COPIED = {"MPI_Bsend", "MPI_Ibsend", "MPI_Start", "MPI_Sendrecv_replace"}  # a started request is MPI_Bsend_init's


def run(mpi: Launcher, program: Path, folder: Path, *, rounds: int, sides: str, lever: str, n: int = 2) -> list[bytes]:
    """What MPI told each of n ranks. sides: those that Wherry may do this for; none: without Wherry."""
    folder.mkdir()
    env = {"WHERRY_LAYOUT": lever, "WHERRY_OUTPUT": str(folder)} if sides else {}
    done = mpi.run([program, folder, str(rounds), sides or "01"], n, env, preload=bool(sides))
    assert done.returncode == 0, (lever, sides, done.stdout, done.stderr)
    return [(folder / f"rank-{rank}").read_bytes() for rank in range(n)]


def by_kernels(folder: Path) -> list[set[str]]:
    """The functions of each rank that did it by the kernels."""
    return [
        {function for function, copier in uses_of(record) if copier == "layout kernels"}
        for record in records_in(folder)
    ]


Natively = Callable[[Launcher, str], tuple[Path, list[bytes]]]


@pytest.fixture(scope="module")
def natively(tmp_path_factory: pytest.TempPathFactory) -> Natively:
    """A program, compiled, and what MPI tells its two ranks without Wherry: once for all tests of it."""
    found: dict[tuple[str, str], tuple[Path, list[bytes]]] = {}

    def run_once(mpi: Launcher, name: str) -> tuple[Path, list[bytes]]:
        key = (mpi.name, name)
        if key not in found:
            folder = tmp_path_factory.mktemp(f"{name}-{mpi.name}")
            program = compile_program(mpi, f"{name}.c", folder / name, ["-pthread"])
            told = run(mpi, program, folder / "native", rounds=ROUNDS_WITHOUT, sides="", lever="auto")
            found[key] = program, told
        return found[key]

    return run_once


@MPIS
@pytest.mark.parametrize("name", REPLACED)
def test_same_as_native(mpi: Launcher, natively: Natively, tmp_path: Path, name: str) -> None:
    """The program checks what arrives and most of what MPI says; what it writes of the rest must be as without."""
    program, native = natively(mpi, name)
    for sides in ("01", "0", "1"):
        folder = tmp_path / f"wherry-{sides}"
        assert run(mpi, program, folder, rounds=ROUNDS, sides=sides, lever="wherry") == native, sides
        wanted = [REPLACED[name] if str(rank) in sides else set() for rank in range(2)]
        assert [by & REPLACED[name] for by in by_kernels(folder)] == wanted


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("mpi", ["openmpi", "mpich"], indirect=True)
def test_null_pointers(mpi: Launcher, tmp_path: Path, n: int) -> None:
    """No elements at a null pointer, and absolute addresses: the program checks what arrives."""
    program = compile_program(mpi, "null_pointers.c", tmp_path / "null_pointers", ["-pthread"])
    native = run(mpi, program, tmp_path / "native", rounds=ROUNDS, sides="", lever="auto", n=n)
    out = tmp_path / "wherry"
    assert run(mpi, program, out, rounds=ROUNDS, sides="01234567"[:n], lever="wherry", n=n) == native
    assert by_kernels(out) == [MOVED] * n
    for record in records_in(out):
        reasons = {record.function(row["function"]): text(row["reason"]) for row in record.tables["misses"]}
        left = {function for function, reason in reasons.items() if reason.startswith("MPI_BOTTOM")}
        assert left >= MOVED - {"MPI_Startall"} | {"MPI_Send_init", "MPI_Recv_init"}


def check_copied(mpi: Launcher, folder: Path, n: int) -> None:
    """Buffered sends, what the attached buffer has room for, and MPI_Sendrecv_replace around a ring of n ranks."""
    program = compile_program(mpi, "buffered.c", folder / "buffered", ["-pthread"])
    native = run(mpi, program, folder / "native", rounds=ROUNDS, sides="", lever="auto", n=n)
    every = "01234567"[:n]
    for sides in {every, every[::2]}:
        out = folder / f"wherry-{sides}"
        assert run(mpi, program, out, rounds=ROUNDS, sides=sides, lever="wherry", n=n) == native, sides
        wanted = [COPIED if str(rank) in sides else set() for rank in range(n)]
        assert [by & COPIED for by in by_kernels(out)] == wanted


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("mpi", ["openmpi", "mpich"], indirect=True)
def test_what_the_library_copies(mpi: Launcher, tmp_path: Path, n: int) -> None:
    check_copied(mpi, tmp_path, n)


@pytest.mark.parametrize("mpi", ["debian-openmpi"], indirect=True)
def test_what_other_libraries_copy(mpi: Launcher, tmp_path: Path) -> None:
    """Not Intel MPI's: without Wherry, too, its buffer has room for one message more at times."""
    check_copied(mpi, tmp_path, 2)


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"], indirect=True)
def test_what_is_copied_taking_turns(mpi: Launcher, tmp_path: Path) -> None:
    program = compile_program(mpi, "buffered.c", tmp_path / "buffered", ["-pthread"])
    native = run(mpi, program, tmp_path / "native", rounds=20, sides="", lever="auto")
    assert run(mpi, program, tmp_path / "wherry", rounds=20, sides="01", lever="auto") == native
    for record in records_in(tmp_path / "wherry"):
        assert uses_of(record) >= {(function, copier) for function in COPIED for copier in ("layout kernels", "native")}


@MPIS
def test_errors_are_the_librarys(mpi: Launcher, tmp_path: Path) -> None:
    """Where errors return, on Open MPI all stays native but buffered sends; rank 1 at last receives where none do."""
    program = compile_program(mpi, "message_errors.c", tmp_path / "errors", ["-pthread"])
    native = run(mpi, program, tmp_path / "native", rounds=ROUNDS, sides="", lever="auto")
    for sides in ("01", "0", "1"):
        out = tmp_path / f"wherry-{sides}"
        assert run(mpi, program, out, rounds=ROUNDS, sides=sides, lever="wherry") == native, sides
        for rank, (by, record) in enumerate(zip(by_kernels(out), records_in(out), strict=True)):
            obstacles = {record.function(row["function"]): text(row["reason"]) for row in record.tables["misses"]}
            if str(rank) not in sides:
                assert (by, obstacles) == (set(), {})
            elif mpi.mpi.family == "openmpi":
                assert by == ({"MPI_Bsend"}, {"MPI_Recv"})[rank]
                assert set(obstacles) == ({"MPI_Send"}, {"MPI_Recv", "MPI_Imrecv"})[rank]
                assert all(reason.startswith("errors return") for reason in obstacles.values())
            else:
                assert by >= ({"MPI_Send", "MPI_Bsend"}, {"MPI_Recv", "MPI_Imrecv"})[rank]
                assert obstacles == {}


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
            assert bursts["layout kernels"] >= 2 or sum(starts.values()) < 40 or sum(bursts.values()) <= 1


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"], indirect=True)
def test_calls_that_are_counted_take_none_from_the_kernels(mpi: Launcher, tmp_path: Path) -> None:
    """Few elements are native for good; of more, in the same size class, and with more room, are the kernels'."""
    program, each = compile_program(mpi, "sparse_types.c", tmp_path / "sparse_types"), 1000
    settings = {"WHERRY_LAYOUT": "wherry", "WHERRY_WAIT": "spin", "WHERRY_OUTPUT": str(tmp_path)}
    done = mpi.run([program, str(each)], 1, settings, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (record,) = records_in(tmp_path)
    # A type is known once the library has taken it some times.
    assert copiers_of(record, "MPI_Sendrecv")["layout kernels"] in range(2 * each - 4, 2 * each + 1)


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"], indirect=True)
def test_requests_taking_turns(mpi: Launcher, natively: Natively, tmp_path: Path) -> None:
    """The same with exchanges: both copiers move messages of every form."""
    program, native = natively(mpi, "requests")
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
def test_taking_turns(mpi: Launcher, natively: Natively, tmp_path: Path) -> None:
    """Both copiers move the messages of one kind, and one is kept."""
    program, native = natively(mpi, "messages")
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
