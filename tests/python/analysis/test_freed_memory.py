"""The sentence about page faults, from records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from synthetic import MS, Draft, write

from wherry.analysis import analyse, freed_memory, record


def said(folder: Path, *spans: dict[str, Any]) -> list[str]:
    write(folder, [Draft(rank=rank, rows={"memory": list(spans)}) for rank in range(2)])
    return freed_memory.sentences(analyse(record.read_all(folder)))


BEFORE = {"state": 0, "time_ns": 200 * MS, "faults": 36000, "repeated": 35000, "fault_ns": 2000}


def test_kept(tmp_path: Path) -> None:
    since = {"state": 1, "time_ns": 800 * MS, "faults": 900, "repeated": 100, "fault_ns": 2000}
    assert said(tmp_path, BEFORE, since) == [
        "page faults: 36,000 a rank, about 70 ms (35% of the time) before; 900 a rank in 800 ms since malloc keeps"
        " freed memory"
    ]


def test_only_looked_at(tmp_path: Path) -> None:
    assert said(tmp_path, BEFORE) == [
        "page faults: 36,000 a rank, about 70 ms (35% of the time); worth trying: WHERRY_MEMORY=keep"
    ]


def test_taken_back(tmp_path: Path) -> None:
    since = {**BEFORE, "state": 1}
    assert "taken back on 2 ranks" in said(tmp_path, BEFORE, since, {**BEFORE, "state": 2})[0]


def test_cheap_faults_are_not_worth_a_line(tmp_path: Path) -> None:
    assert said(tmp_path, {**BEFORE, "repeated": 100}) == []
    assert said(tmp_path) == []
