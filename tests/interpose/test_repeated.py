"""Calls that are counted with others of their key: none is lost, and none is another's."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from conftest import Launcher
from preloading import calls_of, compile_program, records_in

from wherry.analysis.record import Record, text

POINT_TO_POINT, ONE_SIDED = 0, 2
#: Calls of these are counted.
COUNTED = [
    *("MPI_Send", "MPI_Isend", "MPI_Irecv", "MPI_Recv", "MPI_Sendrecv", "MPI_Sendrecv_replace"),
    *("MPI_Bcast", "MPI_Allreduce", "MPI_Reduce", "MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Test"),
]
#: The same on windows.
ON_WINDOWS = ["MPI_Put", "MPI_Get", "MPI_Accumulate", "MPI_Get_accumulate", "MPI_Win_flush"]


@pytest.fixture(scope="session")
def program(mpi: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(mpi, "repeated.c", tmp_path_factory.mktemp(f"repeated-{mpi.name}") / "repeated")


def run(
    mpi: Launcher, program: Path, folder: Path, ranks: int, threads: bool = False, end: str = "finalize"
) -> list[Record]:
    seed = random.SystemRandom().randrange(2**32)
    out = folder / "out"
    out.mkdir()
    # Ranks that had better not spin poll, and are booked as usual.
    settings = {"WHERRY_OUTPUT": str(out), "WHERRY_WAIT": "spin"}
    done = mpi.run([program, folder, str(seed), str(int(threads)), end], ranks, settings, preload=True)
    assert (done.returncode == 0) == (end == "finalize"), f"seed {seed}: {done.stdout}{done.stderr}"
    records = records_in(out)
    assert len(records) == ranks
    for record in records:
        check(record, folder / f"expected-{record.rank}", seed, POINT_TO_POINT)
        have_times(record, COUNTED)
    return records


def check(record: Record, expected: Path, seed: int, kind: int) -> None:
    rows = [line.split() for line in expected.read_text().splitlines()]
    calls, moved = calls_of(record), Counter[str]()
    for row in record.tables["calls"]:
        moved[record.function(row["function"])] += int(row["bytes"])
    sent = {int(p["peer"]): (int(p["messages"]), int(p["bytes"])) for p in record.tables["peers"] if p["kind"] == kind}
    for name, count, volume in rows:
        if name == "derived":
            derived = sum(int(row["derived"]) for row in record.tables["calls"])
            assert (derived, bytes_of_types(record)) == (int(count), int(volume)), f"seed {seed}"
            assert sum(int(row["count"]) for row in record.tables["types"]) == derived
        elif name == "hvector":
            assert totals_of_type(record, name) == (int(count), int(volume)), f"seed {seed}"
        elif name.startswith("to-"):
            assert sent.get(int(name[3:]), (0, 0)) == (int(count), int(volume)), f"seed {seed}, {name}"
        else:
            assert (calls[name], moved[name]) == (int(count), int(volume)), f"seed {seed}, {name}"
    assert sum(record.dropped.values()) == 0


def bytes_of_types(record: Record) -> int:
    return sum(int(row["bytes"]) for row in record.tables["types"])


def totals_of_type(record: Record, name: str) -> tuple[int, int]:
    rows = [row for row in record.tables["types"] if text(row["name"]) == name]
    return sum(int(row["count"]) for row in rows), sum(int(row["bytes"]) for row in rows)


def have_times(record: Record, functions: list[str]) -> None:
    for name in functions:
        times = [int(row["time_ns"]) for row in record.tables["calls"] if record.function(row["function"]) == name]
        assert sum(times) > 0


def counted_in(record: Record) -> dict[str, int]:
    return {text(row["name"]): int(row["counted"]) for row in record.tables["functions"]}


@pytest.mark.parametrize("n", [1, 2, 3])
def test_every_call_is_booked_once(mpi: Launcher, preload: Path, program: Path, tmp_path: Path, n: int) -> None:
    for record in run(mpi, program, tmp_path, n):
        refused = {
            record.function(row["function"]): int(row["count"])
            for row in record.tables["misses"]
            if text(row["reason"]) == "communicator of one rank"
        }
        calls = calls_of(record)
        for name in ("MPI_Bcast", "MPI_Allreduce", "MPI_Reduce"):
            assert refused[name] == calls[name]


def test_collectives_of_one_rank_are_counted(mpi: Launcher, preload: Path, program: Path, tmp_path: Path) -> None:
    """However busy the machine is: nobody else is waited for. Kinds that come a few times only are booked."""
    for record in run(mpi, program, tmp_path, 1):
        counted, calls = counted_in(record), calls_of(record)
        for name in ("MPI_Bcast", "MPI_Allreduce", "MPI_Reduce"):
            assert counted[name] > calls[name] / 10


def test_calls_of_no_elements_are_counted(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    program = compile_program(mpi, "empty_calls.c", tmp_path / "empty_calls")
    out = tmp_path / "out"
    out.mkdir()
    done = mpi.run([program], 1, {"WHERRY_OUTPUT": str(out), "WHERRY_WAIT": "spin"}, preload=True)
    assert done.returncode == 0, done.stderr
    (record,) = records_in(out)
    counted, calls = counted_in(record), calls_of(record)
    for name in ("MPI_Bcast", "MPI_Send"):
        assert calls[name] == 10_000
        assert counted[name] > calls[name] / 10


@pytest.mark.parametrize("layout", ["auto", "native"])
def test_calls_of_a_dense_type_are_counted(mpi: Launcher, preload: Path, tmp_path: Path, layout: str) -> None:
    """By its own size: the next type may have its handle."""
    program, each = compile_program(mpi, "reused_types.c", tmp_path / "reused_types"), 5000
    out = tmp_path / "out"
    out.mkdir()
    settings = {"WHERRY_OUTPUT": str(out), "WHERRY_WAIT": "spin", "WHERRY_LAYOUT": layout}
    done = mpi.run([program, str(each)], 1, settings, preload=True)
    assert done.returncode == 0, done.stderr
    (record,) = records_in(out)
    assert calls_of(record)["MPI_Sendrecv"] == 2 * each
    assert counted_in(record)["MPI_Sendrecv"] > 2 * each * 9 / 10
    assert bytes_of_types(record) == each * 2 * (24 + 16)


@pytest.fixture(scope="session")
def windows_program(mpi: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(mpi, "repeated_windows.c", tmp_path_factory.mktemp(f"windows-{mpi.name}") / "windows")


@pytest.mark.parametrize("cache", ["off", "transparent", "always"])
@pytest.mark.parametrize("n", [1, 2])
def test_calls_on_windows(
    mpi: Launcher, preload: Path, windows_program: Path, tmp_path: Path, n: int, cache: str
) -> None:
    """What is read is right, also from a cache; windows that are made anew are not those before."""
    seed = random.SystemRandom().randrange(2**32)
    out = tmp_path / "out"
    out.mkdir()
    settings = {"WHERRY_OUTPUT": str(out), "WHERRY_WAIT": "spin", "WHERRY_CACHE": cache}
    done = mpi.run([windows_program, tmp_path, str(seed)], n, settings, preload=True)
    assert done.returncode == 0, f"seed {seed}: {done.stdout}{done.stderr}"
    for record in records_in(out):
        check(record, tmp_path / f"expected-{record.rank}", seed, ONE_SIDED)
        have_times(record, ON_WINDOWS)
        counted, calls = counted_in(record), calls_of(record)
        assert sum(counted[name] for name in ON_WINDOWS) > 0
        if n == 1:  # nobody else is waited for
            assert counted["MPI_Win_flush"] > calls["MPI_Win_flush"] / 10


def test_places_of_fortran_are_told_apart(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    """Their calls go through the library's Fortran bindings, whose own call of MPI_Send is the same for all."""
    out = tmp_path / "out"
    out.mkdir()
    program = compile_program(mpi, "two_places.f90", tmp_path / "two_places", ["-O0"])
    done = mpi.run([program], 2, {"WHERRY_OUTPUT": str(out), "WHERRY_WAIT": "spin"}, preload=True)
    assert done.returncode == 0, done.stderr
    sender = next(record for record in records_in(out) if record.rank == 0)
    counts = [int(r["count"]) for r in sender.tables["calls"] if sender.function(r["function"]) == "MPI_Send"]
    assert sorted(counts) == [300, 700]
    assert counted_in(sender)["MPI_Send"] > 100, "each was booked by itself"


def test_an_abort_loses_none(mpi: Launcher, preload: Path, program: Path, tmp_path: Path) -> None:
    run(mpi, program, tmp_path, 1, end="abort")


def test_calls_of_one_thread_are_counted_where_several_call_at_once(
    mpi: Launcher, preload: Path, program: Path, tmp_path: Path
) -> None:
    """The one that has begun MPI, as in programs in Python, whose level is the highest; the other's are booked."""
    for record in run(mpi, program, tmp_path, 1, threads=True):
        counted, calls = counted_in(record), calls_of(record)
        for name in ("MPI_Bcast", "MPI_Allreduce", "MPI_Reduce"):
            assert counted[name] > calls[name] / 10
