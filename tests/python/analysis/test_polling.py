"""The sentence about how blocking calls waited: what, why, and what it gained if that was measured."""

from __future__ import annotations

from pathlib import Path

from synthetic import Draft, write

from wherry.analysis import Analysis, analyse, polling, record
from wherry.analysis.rows import MachineRow, from_data

CROWDED, ROOMY = MachineRow(["host"], ranks=4, cores=2), MachineRow(["host"], ranks=2, cores=2)
NOT_MEASURED = "; what that gained was not measured: wherry compare --why does"


def said(polled: int, machine: MachineRow, asked: str = "") -> list[str]:
    return polling.sentences(Analysis(polled_calls=polled, machines=[machine]), asked)


def test_calls_that_polled_and_why() -> None:
    polled = "waiting: 1200 blocking calls polled and yielded the core, as"
    off = " (WHERRY_WAIT=spin turns it off)"
    assert said(1200, CROWDED) == [f"{polled} ranks outnumber cores{off}{NOT_MEASURED}"]
    assert said(1200, ROOMY) == [f"{polled} others wanted the cores at times{off}{NOT_MEASURED}"]
    assert said(1200, ROOMY, "yield") == [f"{polled} WHERRY_WAIT=yield asks{NOT_MEASURED}"]


def test_nothing_is_said_where_each_rank_has_a_core() -> None:
    assert said(0, ROOMY) == []


def test_waits_in_the_library_where_ranks_share_cores() -> None:
    assert said(0, CROWDED, "spin") == ["waiting: in the MPI library, as WHERRY_WAIT=spin asks"]
    [line] = said(0, CROWDED)
    assert line.startswith("waiting: in the MPI library, ") and "WHERRY_WAIT=yield" in line


def test_trials_tell_what_polling_brought(tmp_path: Path) -> None:
    won = {"trials": 2, "verdict": 2, "pairs": 8, "spun_hourly": 3600 * 100, "polled_hourly": 3600 * 170}
    open_ = {"trials": 1, "verdict": 0, "pairs": 3, "spun_hourly": 3600 * 100, "polled_hourly": 3600 * 130}
    write(tmp_path, [Draft(rank=0, rows={"wait_trials": [won]}), Draft(rank=1, rows={"wait_trials": [open_]})])
    analysis = analyse(record.read_all(tmp_path))
    assert [(row.rank, row.pairs, row.verdict, row.polled_per_second) for row in analysis.wait_trials] == [
        (0, 8, "polling", 170.0),
        (1, 3, "open", 130.0),
    ]
    assert from_data(analysis.data()).wait_trials == analysis.wait_trials
    analysis.polled_calls = 40
    [line] = polling.sentences(analysis)
    measured = "in 11 pairs of stretches they made 1.50 times the calls of spinning"
    assert line.endswith(f"; {measured} (polling kept on 1 rank, 1 rank undecided)")


def test_trials_that_spinning_won() -> None:
    analysis = Analysis(polled_calls=5, machines=[ROOMY])
    analysis.wait_trials = [polling.WaitTrialRow(rank, 4, "spinning", 100.0, 80.0) for rank in range(2)]
    [line] = polling.sentences(analysis)
    measured = "in 8 pairs of stretches they made 0.80 times the calls of spinning"
    assert line.endswith(f"; {measured} (spinning kept on 2 ranks)")
