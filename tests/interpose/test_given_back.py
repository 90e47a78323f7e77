"""Collectives that are given back to the library: every one is counted, timed or not, and none is anything else."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from conftest import Launcher
from preloading import calls_of, compile_program, records_in

from wherry.analysis.record import Record, text

NATIVE = {f"WHERRY_{name}": "native" for name in ("ALLREDUCE", "BARRIER", "BCAST", "REDUCE", "ALLTOALL", "ALLGATHER")}
#: Native by the settings, or after what is learned.
SETTINGS = [NATIVE, {}]
RANKS = 2


@pytest.fixture(scope="session")
def program(mpi: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(mpi, "given_back.c", tmp_path_factory.mktemp(f"given-back-{mpi.name}") / "given_back")


def expected_of(path: Path) -> tuple[Counter[str], Counter[str]]:
    """Calls and bytes of each function; `next`: messages to the next rank in collectives."""
    rows = [line.split() for line in path.read_text().splitlines()]
    return Counter({name: int(n) for name, n, _ in rows}), Counter({name: int(n) for name, _, n in rows})


def bytes_of(record: Record) -> Counter[str]:
    sent: Counter[str] = Counter()
    for row in record.tables["calls"]:
        sent[record.function(row["function"])] += int(row["bytes"])
    return sent


@pytest.mark.parametrize("settings", SETTINGS, ids=["settings", "learned"])
def test_every_call_is_counted(
    mpi: Launcher, preload: Path, program: Path, tmp_path: Path, settings: dict[str, str]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    done = mpi.run([program, tmp_path], RANKS, {"WHERRY_OUTPUT": str(out), **settings}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    records = records_in(out)
    assert len(records) == RANKS
    for record in records:
        calls, sent = expected_of(tmp_path / f"expected-{record.rank}")
        to_next = calls.pop("next")
        counted, moved = calls_of(record), bytes_of(record)
        assert {name: counted[name] for name in calls} == dict(calls)
        assert {name: moved[name] for name in calls} == {name: sent[name] for name in calls}
        peers = {(int(p["peer"]), int(p["kind"])): int(p["messages"]) for p in record.tables["peers"]}
        assert peers[(record.rank + 1) % RANKS, 1] == to_next
        assert sum(record.dropped.values()) == 0


def test_native_calls_are_reported_as_such(mpi: Launcher, preload: Path, program: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    done = mpi.run([program, tmp_path], RANKS, {"WHERRY_OUTPUT": str(out), **NATIVE}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    for record in records_in(out):
        calls, _ = expected_of(tmp_path / f"expected-{record.rank}")
        used: Counter[str] = Counter()
        for row in record.tables["uses"]:
            assert text(row["strategy"]) == "native"
            used[record.function(row["function"])] += int(row["calls"])
        # Those before the ranks enable a communicator are no use of it: at most 17 on each of four.
        early = calls["MPI_Allreduce"] - used["MPI_Allreduce"]
        assert 0 < early <= 4 * 17
        assert used["MPI_Alltoall"] == calls["MPI_Alltoall"]


def test_most_of_them_are_only_counted(mpi: Launcher, preload: Path, program: Path, tmp_path: Path) -> None:
    """Without a lock, a clock and a look at the arguments: else each would cost ten times as much. Calls that take
    longer than a microsecond in the mean are timed, as all may be on a busy machine."""
    for attempt in range(20):
        out = tmp_path / f"out-{attempt}"
        out.mkdir()
        done = mpi.run([program, tmp_path], RANKS, {"WHERRY_OUTPUT": str(out), **NATIVE}, preload=True)
        assert done.returncode == 0, done.stdout + done.stderr
        counted = [counted_on(record, tmp_path) for record in records_in(out)]
        if all(calls > 0 for calls in counted):
            return
    raise AssertionError(f"in no run were calls only counted on all ranks; in the last: {counted}")


def counted_on(record: Record, folder: Path) -> int:
    calls, _ = expected_of(folder / f"expected-{record.rank}")
    counted = {text(row["name"]): int(row["counted"]) for row in record.tables["functions"]}
    counted = {name: counted[name] for name in calls if name != "next"}
    assert all(counted[name] <= calls[name] for name in counted)
    return sum(counted.values())


def test_without_a_profile(mpi: Launcher, preload: Path, program: Path, tmp_path: Path) -> None:
    for settings in SETTINGS:
        done = mpi.run([program, tmp_path], RANKS, settings, preload=True)
        assert done.returncode == 0, done.stdout + done.stderr
