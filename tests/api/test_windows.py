"""Cached windows by name, on every MPI: exact counts, and random schedules against native windows."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, THOROUGH, Launcher, hermetic

from wherry.analysis.record import Record, read_all

RANKS = (2, 3, 5)
#: As records count them.
HITS = ("full_hits", "pending_hits", "partial_hits")
#: That tests/api/windows.cpp gives, each on one rank, which tells it.
WRONG_INFOS = 10
#: In each mode, half of them on libraries that are tested lightly; more ranks than cores take longer to meet.
#: WHERRY_TEST_SCHEDULES asks for another number.
SCHEDULES = {2: 150, 3: 60, 5: 15}

# Without shared memory: messages of ranks on one host go through sockets.
SOCKETS = {
    "openmpi": {"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl_tcp_if_include": "lo"},
    "mpich": {"MPIR_CVAR_NOLOCAL": "1", "MPIR_CVAR_CH4_SHM_ENABLE": "0", "MPIR_CVAR_CH4_NETMOD": "ofi"},
}


def program(mpi: Launcher, build: Path, name: str) -> Path:
    return build / "tests" / "api" / mpi.name / name


@pytest.mark.parametrize("n", RANKS)
def test_counts_coherence_and_errors(mpi: Launcher, build: Path, n: int) -> None:
    done = mpi.run([program(mpi, build, "windows")], n, hermetic({}))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr.count("wherry: ") == WRONG_INFOS


@pytest.mark.parametrize("n", RANKS)
def test_windows_that_are_not_cached(mpi: Launcher, build: Path, n: int) -> None:
    done = mpi.run([program(mpi, build, "window_kinds")], n, hermetic({}))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, ["cached", "cached", "cached"]),
        ({"WHERRY_CACHE": "off"}, ["off", "cached", "off"]),
        ({"WHERRY_DISABLE": "1"}, ["off", "off", "off"]),
    ],
)
def test_windows_whose_info_does_not_say_follow_the_settings(
    mpi: Launcher, build: Path, settings: dict[str, str], said: list[str]
) -> None:
    done = mpi.run([program(mpi, build, "window_settings")], 2, settings | hermetic(settings))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == said
    remark = "what a window's info says by wherry_cache_cieling has no effect; there are clampi_mode, wherry_cache, "
    assert done.stderr.count(remark) == (0 if "WHERRY_DISABLE" in settings else 1)


@pytest.mark.parametrize("n", RANKS)
def test_why_a_window_ends_the_program_is_told(mpi: Launcher, build: Path, n: int) -> None:
    done = mpi.run([program(mpi, build, "window_settings"), "wrong"], n, hermetic({}))
    assert done.returncode != 0
    assert done.stderr.count("wherry: the info key wherry_cache is 'usr', which is no mode; write transparent") == 1


@pytest.mark.parametrize("n", RANKS)
def test_ranks_of_a_node_read_for_each_other(mpi: Launcher, build: Path, n: int) -> None:
    done = mpi.run([program(mpi, build, "window_node")], n, hermetic({}))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"], indirect=True)
@pytest.mark.parametrize(("mode", "cycles"), [("user", 300), ("node", 200)])
def test_windows_that_come_and_go_leave_no_memory(mpi: Launcher, build: Path, mode: str, cycles: int) -> None:
    # Making windows is all waiting: ranks that spin would take minutes where other tests have the cores. And Open MPI
    # looks at UCX for each window, in vain.
    env = {**hermetic({}), "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_osc": "^ucx"}
    done = mpi.run([program(mpi, build, "window_cycles"), str(cycles), mode], 2, env)
    assert done.returncode == 0, done.stdout + done.stderr
    # A few kilobytes for each window would be ten times as much as what comes and goes by itself.
    assert int(done.stdout.split()[1]) < cycles * 5000, done.stdout


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"], indirect=True)
@pytest.mark.parametrize("what", ["put", "invalidate", "end"])
def test_schedules_notice_what_a_cache_is_not_told(mpi: Launcher, build: Path, what: str) -> None:
    done = mpi.run([program(mpi, build, "window_schedules"), "60", "blind", what], 2, hermetic({}))
    assert done.returncode == 1, done.stdout + done.stderr
    assert int(done.stdout.split("wrong ")[1].split()[0]) > 0


@pytest.mark.parametrize("n", RANKS)
def test_schedules(mpi: Launcher, build: Path, n: int) -> None:
    done = run_schedules(mpi, build, n, {})
    assert int(done.stdout.split(" hits ")[1].split()[0]) > 100, "the schedules read little twice"
    assert n == 2 or int(done.stdout.split(" found ")[1]) > 3, "the ranks read little for each other"


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"], indirect=True)
def test_schedules_through_sockets(mpi: Launcher, build: Path) -> None:
    run_schedules(mpi, build, 3, SOCKETS[mpi.name])


@pytest.mark.parametrize("n", RANKS)
def test_schedules_under_the_preload(mpi: Launcher, build: Path, preload: Path, n: int, tmp_path: Path) -> None:
    run_schedules(mpi, build, n, {"WHERRY_OUTPUT": str(tmp_path), "WHERRY_CACHE_CURVE": "256"}, preload=True)
    found = read_all(tmp_path)
    assert not found.problems
    windows = [row for record in found.ranks for row in record.tables["windows"]]
    assert len(windows) == 9 * n  # of those that are not cached nothing is told
    hits = sum(int(row[kind]) for row in windows for kind in HITS)
    assert hits > 100, "the schedules read little twice"
    for record in found.ranks:
        points, curves = (
            {int(row["window"]) for row in record.tables[f"window_{what}"]} for what in ("points", "curves")
        )
        # What is read a few times only may lack one of them.
        assert points & curves
        for at in points & curves:
            check_track(record, at)


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"], indirect=True)
def test_windows_of_the_library_are_its_alone_under_the_preload(
    mpi: Launcher, build: Path, preload: Path, tmp_path: Path
) -> None:
    """Else they would be cached twice, and what is invalidated by name would stay valid below."""
    words = [program(mpi, build, "window_schedules"), str(SCHEDULES[3])]
    done = mpi.run(words, 3, {**hermetic({}), "WHERRY_OUTPUT": str(tmp_path)}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    found = read_all(tmp_path)
    assert not found.problems
    assert [len(record.tables["windows"]) for record in found.ranks] == [0, 0, 0]


def check_track(record: Record, at: int) -> None:
    """Points only grow, to no more than the window came to; with more memory fewer reads miss."""
    window = record.tables["windows"][at]
    hits = sum(int(window[name]) for name in HITS)
    points = [row for row in record.tables["window_points"] if int(row["window"]) == at]
    for name, most in (("lookups", hits + sum(window["misses"])), ("hits", hits)):
        seen = [int(row[name]) for row in points]
        assert seen == sorted(seen)
        assert seen[-1] <= most
    curve = [row for row in record.tables["window_curves"] if int(row["window"]) == at]
    memory, shares = ([int(row[name]) for row in curve] for name in ("bytes", "missed_millionth"))
    assert memory == sorted(memory)
    assert shares == sorted(shares, reverse=True)
    assert shares[0] <= 1_000_000


def run_schedules(
    mpi: Launcher, build: Path, n: int, env: dict[str, str], preload: bool = False
) -> subprocess.CompletedProcess[str]:
    usual = SCHEDULES[n] if mpi.name in THOROUGH else SCHEDULES[n] // 2
    schedules = os.environ.get("WHERRY_TEST_SCHEDULES", str(usual))
    words = [program(mpi, build, "window_schedules"), schedules, *(["preload"] if preload else [])]
    done = mpi.run(words, n, {**hermetic({}), **env}, preload=preload, timeout=60 + int(schedules))
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.mark.parametrize("header", ["wherry/window.h", "clampi.h"])
def test_headers_are_c(mpi: Launcher, tmp_path: Path, header: str) -> None:
    if mpi.mpicc is None:
        pytest.skip(f"{mpi.name} has no C compiler")
    source = tmp_path / "program.c"
    source.write_text(f"#include <{header}>\nint main(void) {{ return 0; }}\n")
    options = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{ROOT / 'include'}"]
    done = subprocess.run([mpi.mpicc, *options, source], env=mpi.env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
