"""The sentence about how blocking calls waited: what, why, and that its gain was not measured."""

from __future__ import annotations

from wherry.analysis import Analysis, polling
from wherry.analysis.rows import MachineRow

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
