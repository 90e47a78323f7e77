"""Blocking calls that poll: they give what they give natively, on every MPI, and it is known which ones did."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from conftest import Launcher, enough
from preloading import Runs, calls_of, compile_program, records_in

from wherry.analysis.record import Record, text

RANKS = 3
#: Every function of the table that can poll, as far as waiting.c calls it.
ALONE = [
    *["Send", "Ssend", "Recv", "Sendrecv", "Sendrecv_replace", "Probe", "Mprobe", "Mrecv"],
    *["Wait", "Waitall", "Waitany", "Waitsome", "Win_wait"],
]
TOGETHER = ["Barrier", "Gatherv", "Scatterv", "Bcast"]
REDUCING = ["Allreduce", "Scan", "Exscan"]
#: Only the library can make these: it gives the core away where it has a setting for that and is not locked meanwhile.
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
    *["Comm_split", "Intercomm_create", "Intercomm_merge"],
]
WITH_MEANS = ("openmpi", "mpich", "mpich-abi", "debian-openmpi")
NEIGHBORS = [f"Neighbor_{name}" for name in ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")]
#: What the target of target_progress.c waits in.
BLOCKING_TARGETS = [
    *["Recv", "Wait", "Waitall", "Waitany", "Waitsome", "Probe", "Mprobe", "Ssend", "Send"],
    *["Sendrecv", "Sendrecv_replace", "Barrier", "Bcast", "Allreduce", "Win_wait"],
]
#: "": MPI_THREAD_SINGLE.
LEVELS = ("", "funneled", "ordered", "multiple")


def polled(record: Record) -> dict[str, int]:
    rows = record.tables["functions"]
    return {text(row["name"]).removeprefix("MPI_"): int(row["polled"]) for row in rows if row["polled"]}


@pytest.fixture(scope="session")
def runs(mpi: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(mpi, "waiting.c", tmp_path_factory.mktemp(f"waiting-{mpi.name}"))


def compare(runs: Runs, env: dict[str, str], out: Path) -> list[Record]:
    n = enough(runs.launcher.name)
    expected = [result.decode().splitlines() for result in runs.without(n)]
    results, records = runs.with_wherry(n, env, out)
    assert [result.decode().splitlines() for result in results] == expected
    assert all(lines[-1] == "end" for lines in expected)
    return records


def polled_topologies(mpi: Launcher, n: int) -> int:
    """In how many of the five of patient_exchanges.c exchanges with neighbors poll. Alone, a rank waits for nobody.

    In Open MPI those do where all ranks know that none has a neighbor twice: on a line, and on a ring of three or more.
    """
    if n == 1:
        return 0
    return 5 if mpi.family != "openmpi" else 1 + (n > 2)


@pytest.fixture(scope="session")
def exchanges(mpi: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(mpi, "patient_exchanges.c", tmp_path_factory.mktemp(f"exchanges-{mpi.name}"))


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_polling_exchanges_give_what_waiting_gives(
    mpi: Launcher, preload: Path, exchanges: Runs, n: int, tmp_path: Path
) -> None:
    """With several threads in MPI, where the library itself has no setting to give the core away, too."""
    expected = exchanges.without(n)
    for level in ("", "multiple"):
        out = tmp_path / f"level-{level}"
        out.mkdir()
        env = {"WHERRY_WAIT": "yield", "WHERRY_NO_COLLECTIVES": "1", "WAITING_LEVEL": level}
        results, records = exchanges.with_wherry(n, env, out)
        assert [result.decode().splitlines() for result in results] == [
            result.decode().splitlines() for result in expected
        ]
        for record in records:
            counts = polled(record)
            assert (counts["Sendrecv_replace"], counts["Mrecv"]) == (13 if n > 1 else 12, 5)
            if level == "multiple":
                assert [counts.get(name, 0) for name in NEIGHBORS] == [polled_topologies(mpi, n)] * len(NEIGHBORS)


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


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_threads_that_wait_at_once(mpi: Launcher, preload: Path, runs: Runs, tmp_path: Path) -> None:
    """Each makes all calls, in a communicator of its own, and gets what it gets natively.

    Intel MPI may stand still there, without Wherry.
    """
    threads = {"WAITING_LEVEL": "multiple", "WAITING_THREADS": "2"}
    natively = runs.natively(RANKS, threads, tmp_path / "natively")
    results, records = runs.with_wherry(RANKS, {"WHERRY_WAIT": "yield", **threads}, tmp_path / "polling")
    assert results == natively
    once = runs.without(RANKS)
    assert all(
        len(twice.splitlines()) == 2 * len(one.splitlines()) - 1 for twice, one in zip(results, once, strict=True)
    )
    for function in ALONE:
        assert sum(polled(record).get(function, 0) for record in records) > 0, function


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


@pytest.mark.parametrize("level", ["single", "multiple"])
def test_a_target_that_polls_lets_others_have_its_memory(
    mpi: Launcher, preload: Path, level: str, tmp_path: Path
) -> None:
    """Whatever blocking call it is in: their accumulates and gets are over before it is given what it waits for."""
    program = compile_program(mpi, "target_progress.c", tmp_path / "target_progress")
    natively = mpi.run([program, level], RANKS)
    env = {"WHERRY_WAIT": "yield", "WHERRY_OUTPUT": str(tmp_path)}
    polling = mpi.run([program, level], RANKS, env, preload=True)
    assert (natively.returncode, polling.returncode) == (0, 0), natively.stderr + polling.stdout + polling.stderr
    lines = [line for line in natively.stdout.splitlines() if line.startswith("target of")]
    assert len(lines) > len(BLOCKING_TARGETS) and all(line.endswith("as it should be") for line in lines)
    assert all(line in polling.stdout for line in lines)
    target = next(record for record in records_in(tmp_path) if record.rank == 0)
    assert set(BLOCKING_TARGETS) <= set(polled(target))


@pytest.mark.parametrize("mpi", ["openmpi", "debian-openmpi"], indirect=True)
def test_ranks_beside_other_processes_spin_and_poll_in_turn(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    """As many ranks as cores, each with another that wants its core: some calls poll, others do not, and it is told.

    Not with the libraries that the tests have yield while they spin (conftest.py).
    """
    program = compile_program(mpi, "beside_others.c", tmp_path / "beside")
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        pytest.skip("needs two cores: on one, two ranks poll from the start")
    env = {"WHERRY_WAIT": "auto", "WHERRY_OUTPUT": str(tmp_path)}
    command = ["taskset", "-c", ",".join(map(str, cores)), program, "4", "1"]
    done = mpi.run(command, 2, env, preload=True)
    assert done.returncode == 0 and "right" in done.stdout, done.stdout + done.stderr
    records = records_in(tmp_path)
    assert len(records) == 2
    for record in records:
        (tried,) = record.tables["wait_trials"]
        assert tried["trials"] > 0 and tried["pairs"] > 0
        assert tried["spun_hourly"] > 0 and tried["polled_hourly"] > 0
        assert 0 < polled(record)["Sendrecv"] < calls_of(record)["MPI_Sendrecv"]


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_threads_that_compute_and_their_cores_are_recorded(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    program = compile_program(mpi, "computing_threads.c", tmp_path / "threads", ["-pthread"])
    core = str(min(os.sched_getaffinity(0)))
    done = mpi.run(["taskset", "-c", core, program], 1, {"WHERRY_OUTPUT": str(tmp_path)}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (record,) = records_in(tmp_path)
    assert (record.threads, record.processors) == (2, 1)


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
@pytest.mark.parametrize("waits", ["auto", "spin"])
def test_late_ranks_that_share_cores_are_waited_for_by_polling(
    mpi: Launcher, preload: Path, waits: str, tmp_path: Path
) -> None:
    """Four on two cores, each late by another time: each native call polls, from the first on, whatever is learned.

    Not in Open MPI, which gives cores away itself there.
    """
    ranks, calls = 4, 400
    program = compile_program(mpi, "jitter.c", tmp_path / "jitter")
    cores = ",".join(str(core) for core in sorted(os.sched_getaffinity(0))[:2])
    env = {"WHERRY_WAIT": waits, "WHERRY_OUTPUT": str(tmp_path)}
    done = mpi.run(["taskset", "-c", cores, program, str(calls)], ranks, env, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    records = records_in(tmp_path)
    ran = [calls_by_strategy(record, "MPI_Allreduce") for record in records]
    assert len(ran) == ranks and all(strategies == ran[0] for strategies in ran), "ranks chose differently"
    assert [calls_of(record)["MPI_Allreduce"] for record in records] == [calls] * ranks
    by_wherry = sum(count for strategy, count in ran[0].items() if strategy != "native")
    expected = calls - by_wherry if (mpi.name, waits) == ("mpich", "auto") else 0
    assert [polled(record).get("Allreduce", 0) for record in records] == [expected] * ranks


def calls_by_strategy(record: Record, function: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for row in record.tables["uses"]:
        if record.function(row["function"]) == function:
            counts[text(row["strategy"])] += int(row["calls"])
    return counts


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
