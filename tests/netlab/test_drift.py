"""The links slow down while a program runs: the learner notices, and trains again. By root only; counts, no times."""

from __future__ import annotations

import subprocess
import threading
import time
from pathlib import Path

import pytest
from conftest import Launcher

from wherry import netlab
from wherry.analysis import record
from wherry.analysis.record import Record, text
from wherry.analysis.record_format import LIMITS, REASONS
from wherry.netlab import Cluster

REASON = netlab.why_unavailable()
PROGRAMS = Path(__file__).resolve().parent / "programs"
HOSTS, RANKS, BLOCK = 4, 8, 32768
#: Training takes some 30 calls, the first re-evaluation comes 64 later, and drift checks are 64 apart; one that
#: finds another time than usual is repeated 16 calls later (docs/design/0003-learner.md).
BEFORE, AFTER = 250, 220
DRIFT_CHECK, AGAIN = 64, 16
#: So slow that a call takes far more than twice as long afterwards: at 1 Gbit/s the processor has a large part in it.
FAST, SLOW = "200mbit", "20mbit"

Step = tuple[int, str, str]  # call, reason, strategy


@pytest.mark.skipif(REASON is not None, reason=REASON or "")
@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_a_link_that_slows_down_in_mid_run_is_noticed_and_all_is_learned_anew(
    mpi: Launcher, preload: Path, tmp_path: Path
) -> None:
    steps = run_while_links_slow_down(mpi, preload, tmp_path)
    assert len({tuple(rank) for rank in steps}) == 1, "the ranks tell different stories"
    before = [step for step in steps[0] if step[0] <= BEFORE]
    after = [step for step in steps[0] if step[0] > BEFORE]
    assert [reason for _, reason, _ in before][-1] == "kept", before
    call, reason, strategy = after[0]
    assert reason == "changed", after
    assert strategy == before[-1][2]  # what ran when it was noticed
    bursts, travel = 16, 4  # calls of a re-evaluation or drift check, and of the agreement
    assert call - BEFORE <= DRIFT_CHECK + AGAIN + 2 * (bursts + travel), after
    reasons = [reason for _, reason, _ in after]
    assert "trial" in reasons and "kept" in reasons[reasons.index("trial") :], after


def run_while_links_slow_down(mpi: Launcher, preload: Path, folder: Path) -> list[list[Step]]:
    """The decisions of each rank."""
    program, records = folder / "drift", folder / "records"
    command = [str(mpi.mpicc), "-O1", "-o", str(program), str(PROGRAMS / "drift.c")]
    subprocess.run(command, env=mpi.env, check=True, capture_output=True)
    yielding = folder / "yielding.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(yielding), str(PROGRAMS / "yielding.c")], check=True)
    records.mkdir()
    env = {"LD_PRELOAD": f"{preload} {yielding}", "WHERRY_OUTPUT": str(records), "WHERRY_NO_TUNING": "1"}
    words = [str(program), str(BLOCK), str(BEFORE), str(AFTER), str(folder)]
    with Cluster(HOSTS, FAST) as cluster:
        slowing = threading.Thread(target=slow_down, args=(cluster, folder), daemon=True)
        slowing.start()
        done = cluster.run(mpi.mpi, RANKS, words, env, timeout_s=300)
        assert done.returncode == 0, done.stderr
        slowing.join()
        assert cluster.rate == SLOW
    found = record.read_all(records).ranks
    assert len(found) == RANKS
    return [steps_of(rank) for rank in found]


def slow_down(cluster: Cluster, folder: Path) -> None:
    while not (folder / "half").exists():
        time.sleep(0.01)
    cluster.set_rate(SLOW)
    (folder / "go").touch()


def steps_of(rank: Record) -> list[Step]:
    rows = [row for row in rank.tables["decisions"] if rank.function(row["function"]) == "MPI_Alltoall"]
    assert {LIMITS[row["limit"]] for row in rows} == {""}
    return [(int(row["call"]), REASONS[row["reason"]], text(row["strategy"])) for row in rows]
