"""WHERRY_VERBOSE: what rank 0 says, and that nobody else does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from conftest import Launcher
from preloading import compile_program, records_in

from wherry.analysis.record import Record, text
from wherry.analysis.record_format import REASONS

RANKS = 3
CALLS = "40"
WORDS = {"trial": "is tried", "kept": "is kept", "loaded": "was loaded", "forced": "is forced", "dropped": "is dropped"}


@pytest.fixture(scope="session")
def repeat(mpi: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(mpi, "repeat.c", tmp_path_factory.mktemp(f"verbose-{mpi.name}") / "repeat")


def said(mpi: Launcher, program: Path, **settings: str) -> list[str]:
    done = mpi.run([program, CALLS], RANKS, settings, preload=True)
    assert done.returncode == 0, done.stderr
    return [line for line in done.stderr.splitlines() if line.startswith("wherry:")]


def sentence(record: Record, decision: Any) -> str:
    times = (int(decision["time_ns"]), int(decision["native_ns"]))
    known = f" ({times[0] / 1e3:.1f} us; native {times[1] / 1e3:.1f} us)" if all(times) else ""
    return (
        f"wherry: {record.function(decision['function'])}, size class {decision['bucket']}, call {decision['call']}:"
        f" {text(decision['strategy'])} {WORDS[REASONS[decision['reason']]]}{known}"
    )


def test_nothing_is_said_unasked(mpi: Launcher, preload: Path, repeat: Path) -> None:
    assert said(mpi, repeat) == []


def test_level_1_is_one_line_of_what_was_found(mpi: Launcher, preload: Path, repeat: Path, tmp_path: Path) -> None:
    found = f"wherry: ABI {mpi.abi}; profile: "
    assert said(mpi, repeat, WHERRY_VERBOSE="1") == [f"{found}off; collectives: learning; windows: transparent"]
    settings = {"WHERRY_OUTPUT": str(tmp_path), "WHERRY_NO_COLLECTIVES": "1", "WHERRY_CACHE": "off"}
    expected = [f"{found}{tmp_path}; collectives: native; windows: native"]
    assert said(mpi, repeat, WHERRY_VERBOSE="1", **settings) == expected


def test_level_2_also_tells_the_decisions_on_record(mpi: Launcher, preload: Path, repeat: Path, tmp_path: Path) -> None:
    lines = said(mpi, repeat, WHERRY_VERBOSE="2", WHERRY_OUTPUT=str(tmp_path))
    assert lines[0] == f"wherry: ABI {mpi.abi}; profile: {tmp_path}; collectives: learning; windows: transparent"
    (record,) = (record for record in records_in(tmp_path) if record.rank == 0)
    assert len(record.tables["decisions"]) > 0
    assert lines[1:] == [sentence(record, decision) for decision in record.tables["decisions"]]


def test_level_2_needs_no_record(mpi: Launcher, preload: Path, repeat: Path) -> None:
    found, *decisions = said(mpi, repeat, WHERRY_VERBOSE="2")
    assert found == f"wherry: ABI {mpi.abi}; profile: off; collectives: learning; windows: transparent"
    assert decisions
    assert all(re.match(r"wherry: MPI_Alltoall, size class 3, call \d+: \w+ is ", line) for line in decisions)
