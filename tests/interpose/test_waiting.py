"""Blocking calls that poll: they give what they give natively, on every MPI, and it is known which ones did."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import Launcher
from preloading import Runs, compile_program, records_in

from wherry.analysis.record import Record, text

RANKS = 3
#: Every function of the table that can poll, as far as waiting.c calls it.
ALONE = ["Send", "Ssend", "Recv", "Sendrecv", "Probe", "Mprobe", "Wait", "Waitall", "Waitany", "Waitsome", "Win_wait"]
TOGETHER = ["Barrier", "Gatherv", "Scatterv", "Bcast"]
REDUCING = ["Allreduce", "Scan", "Exscan"]
#: Only the library can make these: it gives the core away where it has a means and is not locked meanwhile.
LIBRARYS = [
    *[
        "Win_fence",
        "Win_start",
        "Win_complete",
        "Win_lock",
        "Win_lock_all",
        "Win_unlock",
        "Win_unlock_all",
        "Win_flush",
    ],
    *["Win_flush_all", "Win_flush_local", "Win_flush_local_all", "Win_create", "Win_allocate", "Win_free"],
    *["Sendrecv_replace", "Mrecv", "Comm_split", "Intercomm_create", "Intercomm_merge"],
]
WITH_MEANS = ("openmpi", "mpich", "mpich-abi", "debian-openmpi")
#: "": MPI_THREAD_SINGLE.
LEVELS = ("", "funneled", "ordered", "multiple")


def polled(record: Record) -> dict[str, int]:
    rows = record.tables["functions"]
    return {text(row["name"]).removeprefix("MPI_"): int(row["polled"]) for row in rows if row["polled"]}


@pytest.fixture
def runs(mpi: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(mpi, "waiting.c", tmp_path_factory.mktemp(f"waiting-{mpi.name}"))


def compare(runs: Runs, env: dict[str, str], out: Path) -> list[Record]:
    expected = [result.decode().splitlines() for result in runs.without(RANKS)]
    results, records = runs.with_wherry(RANKS, env, out)
    assert [result.decode().splitlines() for result in results] == expected
    assert all(lines[-1] == "end" for lines in expected)
    return records


def tried_levels(request: pytest.FixtureRequest, mpi: Launcher) -> tuple[str, ...]:
    """The lowest and the highest, which differ most; all of them with --whole-matrix."""
    return LEVELS if request.config.getoption("--whole-matrix") else ("", "multiple")


def test_polling_gives_what_waiting_gives(
    mpi: Launcher, preload: Path, runs: Runs, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    for level in tried_levels(request, mpi):
        folder = tmp_path / f"level-{level}"
        folder.mkdir()
        records = compare(runs, {"WHERRY_WAIT": "yield", "WAITING_LEVEL": level}, folder)
        for function in ALONE + TOGETHER + REDUCING:
            assert sum(polled(record).get(function, 0) for record in records) > 0, (level, function)
        has_means = mpi.name in WITH_MEANS and level != "multiple"
        for function in LIBRARYS:
            assert all((function in polled(record)) == has_means for record in records), (level, function)
        assert not any({"Bsend", "Rsend", "Test"} & set(polled(record)) for record in records)


def test_collectives_that_stay_native_poll(mpi: Launcher, preload: Path, runs: Runs, tmp_path: Path) -> None:
    """Else leaving out the collectives would leave out that they give the core away, too."""
    for record in compare(runs, {"WHERRY_WAIT": "yield", "WHERRY_NO_COLLECTIVES": "1"}, tmp_path):
        assert set(TOGETHER + REDUCING) <= set(polled(record))


def test_reproducible_reductions_are_native(mpi: Launcher, preload: Path, runs: Runs, tmp_path: Path) -> None:
    """At a level where no native call counts as one that gives the core away."""
    env = {"WHERRY_WAIT": "yield", "WHERRY_REPRODUCIBLE": "1", "WAITING_LEVEL": "multiple"}
    records = compare(runs, env, tmp_path)
    for record in records:
        assert set(TOGETHER) <= set(polled(record))
        assert not set(REDUCING) & set(polled(record))


def test_spinning_polls_nowhere(mpi: Launcher, preload: Path, runs: Runs, tmp_path: Path) -> None:
    assert not any(polled(record) for record in compare(runs, {"WHERRY_WAIT": "spin"}, tmp_path))


@pytest.mark.parametrize("mpi", ["mpich", "openmpi", "debian-openmpi"], indirect=True)
def test_threads_with_communicators_of_their_own(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    program = compile_program(mpi, "own_communicators.c", tmp_path / "own", ["-pthread"])
    done = mpi.run([program, "20"], RANKS, {"WHERRY_WAIT": "yield", "WHERRY_OUTPUT": str(tmp_path)}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 wrong" in done.stdout
    assert all(polled(record) for record in records_in(tmp_path))


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_threads_that_compute_and_their_cores_are_recorded(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    program = compile_program(mpi, "computing_threads.c", tmp_path / "threads", ["-pthread"])
    core = str(min(os.sched_getaffinity(0)))
    done = mpi.run(["taskset", "-c", core, program], 1, {"WHERRY_OUTPUT": str(tmp_path)}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (record,) = records_in(tmp_path)
    assert (record.threads, record.processors) == (2, 1)


@pytest.mark.parametrize("mpi", ["mpich", "debian-mpich"], indirect=True)
def test_ranks_are_counted_where_the_launcher_does_not_say(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    """More ranks than cores poll from the start: not one call more or less than where that is asked for."""
    program = compile_program(mpi, "waiting.c", tmp_path / "waiting")
    core = str(min(os.sched_getaffinity(0)))
    counts = []
    for waits in ("yield", "auto"):
        folder = tmp_path / waits
        (folder / "results").mkdir(parents=True)
        command = ["env", "-u", "MPI_LOCALNRANKS", "taskset", "-c", core, program, folder / "results"]
        done = mpi.run(command, RANKS, {"WHERRY_WAIT": waits, "WHERRY_OUTPUT": str(folder)}, preload=True)
        assert done.returncode == 0, done.stdout + done.stderr
        counts.append([polled(record) for record in records_in(folder)])
    assert counts[0] == counts[1]
    assert all(counts[1])


@pytest.mark.parametrize("mpi", ["openmpi", "debian-openmpi"], indirect=True)
def test_open_mpi_asks_nobody_else_once_the_cores_are_free(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    """What is registered with the library to give cores away slows each of its polls, so it must go again.

    Wherry decides in its own floating-point environment: the program finds no flag raised.
    """
    counting = compile_program(mpi, "callbacks.c", tmp_path / "callbacks.so", ["-fPIC", "-shared"])
    program = compile_program(mpi, "crowded.c", tmp_path / "crowded", ["-lm"])
    done = mpi.run([program], 2, {"LD_PRELOAD": f"{preload}:{counting}", "WHERRY_WAIT": "auto"}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "flags 0\n" in done.stdout


@pytest.mark.parametrize("mpi", ["mpich", "debian-mpich"], indirect=True)
def test_mpich_gives_cores_away_since_5_with_several_threads(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    program = compile_program(mpi, "waiting.c", tmp_path / "waiting")
    core = str(min(os.sched_getaffinity(0)))
    for level in ("", "multiple"):
        out = tmp_path / f"level-{level}"
        out.mkdir()
        env = {"WHERRY_WAIT": "auto", "WAITING_LEVEL": level, "WHERRY_OUTPUT": str(out)}
        done = mpi.run(["taskset", "-c", core, program, tmp_path], 2, env, preload=True)
        assert done.returncode == 0, done.stdout + done.stderr
        leaves_alone = mpi.name == "mpich" and level == "multiple"
        assert [bool(polled(record)) for record in records_in(out)] == [not leaves_alone] * 2, level
