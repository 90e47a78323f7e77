"""The sentences about page faults and processor time, from records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from synthetic import MS, Draft, write

from wherry.analysis import analyse, faults, freed_memory, record


def said(folder: Path, *spans: dict[str, Any]) -> list[str]:
    write(folder, [Draft(rank=rank, rows={"memory": list(spans)}) for rank in range(2)])
    return freed_memory.sentences(analyse(record.read_all(folder)))


BEFORE = {"state": 0, "time_ns": 200 * MS, "faults": 36000, "repeated": 35000, "fault_ns": 2000}

SINCE = {"state": 1, "time_ns": 800 * MS, "faults": 900, "repeated": 100, "fault_ns": 2000}


def test_kept(tmp_path: Path) -> None:
    assert said(tmp_path, BEFORE, SINCE) == [
        "page faults: 36,000 a rank, about 70 ms (35% of the processor time) until malloc was told to"
        " keep freed memory; 900 a rank in the 800 ms after; what that gained was not measured"
    ]


def test_what_it_gained_is_said_where_calls_were_counted_before_and_since(tmp_path: Path) -> None:
    [line] = said(tmp_path, {**BEFORE, "calls": 200}, {**SINCE, "calls": 1600})
    assert line.endswith(
        "; 900 a rank in the 800 ms after; processor time for each call of MPI: 1 ms before, 500 us after"
    )
    for before, since in ((99, 1600), (200, 99)):
        [line] = said(tmp_path, {**BEFORE, "calls": before}, {**SINCE, "calls": since})
        assert line.endswith("; what that gained was not measured")


def test_kept_from_the_start(tmp_path: Path) -> None:
    assert said(tmp_path, {**SINCE, "calls": 1600}) == [
        "page faults: malloc was told to keep freed memory; 900 a rank in the 800 ms after;"
        " what that gained was not measured"
    ]


def test_only_looked_at(tmp_path: Path) -> None:
    assert said(tmp_path, BEFORE) == [
        "page faults: 36,000 a rank, about 70 ms (35% of the processor time); worth trying: WHERRY_MEMORY=keep"
    ]


def test_a_reason_stands_in_place_of_the_advice(tmp_path: Path) -> None:
    [line] = said(tmp_path, {**BEFORE, "why_not": b"the program has an allocator of its own"})
    assert line.endswith("; Wherry cannot let malloc keep freed memory: the program has an allocator of its own")


def test_taken_back(tmp_path: Path) -> None:
    since = {**BEFORE, "state": 1}
    assert "taken back on 2 ranks" in said(tmp_path, BEFORE, since, {**BEFORE, "state": 2})[0]


def test_cheap_faults_are_not_worth_a_line(tmp_path: Path) -> None:
    assert said(tmp_path, {**BEFORE, "repeated": 100}) == []
    assert said(tmp_path) == []


def test_processor_time_of_each_rank_is_that_of_all_spans(tmp_path: Path) -> None:
    used = {"user_ns": 30 * MS, "system_ns": 10 * MS}
    spans = [{**BEFORE, **used}, {**BEFORE, "state": 1, **used}]
    write(tmp_path, [Draft(rank=0, rows={"memory": spans}), Draft(rank=1)])
    analysis = analyse(record.read_all(tmp_path))
    first, second = analysis.ranks
    assert (first.cpu_seconds, first.system_seconds, first.faults) == (0.08, 0.02, 72000)
    assert (second.cpu_seconds, second.system_seconds, second.faults) == (None, None, None)
    assert faults.processor(analysis) == (
        "processor time per rank: 80 ms in 1 s, 20 ms of it in the kernel; 72k page faults"
    )
    assert faults.is_notable(analysis)


def test_busy_ranks_outside_the_kernel_are_not_worth_a_line(tmp_path: Path) -> None:
    write(tmp_path, [Draft(rank=0, rows={"memory": [{**BEFORE, "user_ns": 10_000 * MS, "system_ns": MS}]})])
    analysis = analyse(record.read_all(tmp_path))
    assert faults.processor(analysis) and not faults.is_notable(analysis)
    assert faults.processor(analyse(record.read_all(tmp_path / "none"))) == ""
