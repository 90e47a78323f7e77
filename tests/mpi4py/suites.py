"""Runs mpi4py's own tests under Wherry, and without it those that did not pass: how they end, rank by rank.

`make setup` unpacks their source in .cache/mpi4py (requirements/mpi4py-tests.txt). The tests are in several files, so
that they run side by side.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import ROOT, Launcher

from wherry.analysis.record import read_all, text
from wherry.run.mpis import find_mpi, why_missing

SOURCES = ROOT / ".cache/mpi4py/test"
NOTE_OUTCOMES = Path(__file__).resolve().parent / "note_outcomes.py"
TIMEOUT_S = 900
NAMES = ("openmpi", "mpich")

COMMUNICATING = (
    "test_cco_buf",
    "test_cco_vec",
    "test_cco_nb_buf",
    "test_cco_buf_inter",
    "test_p2p_buf",
    "test_comm",
    "test_attributes",
    "test_errhandler",
    "test_threads",
    "test_rma",
)
#: Of these, the ones that exchange otherwise on another number of ranks.
BY_RANKS = ("test_cco_buf", "test_cco_vec", "test_cco_nb_buf", "test_cco_buf_inter", "test_p2p_buf")
COLLECTIVES = (
    "test_cco_buf.TestCCOBufWorld",
    "test_cco_buf.TestCCOBufInplaceWorld",
    "test_cco_vec.TestCCOVecWorld",
    "test_cco_vec.TestCCOVecInplaceWorld",
)

#: Of arrays, where all types are tried on other numbers of ranks: flags, integers, real and complex numbers.
FEW_TYPES = "?bidD"

#: How each test ended on each rank.
Outcomes = list[dict[str, str]]


def launcher_of(name: str) -> Launcher:
    mpi = find_mpi(name)
    if mpi is None or mpi.python is None:
        pytest.skip(why_missing(name))
    if not SOURCES.is_dir():
        pytest.skip("mpi4py's source is not there; run: make setup")
    return Launcher(mpi)


def types_of(request: pytest.FixtureRequest, few: bool = True) -> str:
    """FEW_TYPES, and says so, unless all tests run in full."""
    if not few or request.config.getoption("--whole-matrix"):
        return "all"
    name = request.node.nodeid.rpartition("/")[2]
    request.node.user_properties.append(("part", f"{name}: arrays of the types {FEW_TYPES} (--whole-matrix runs all)"))
    return FEW_TYPES


def modules_of(request: pytest.FixtureRequest, part: tuple[str, ...]) -> tuple[str, ...]:
    """This part of COMMUNICATING, and says so, unless all tests run in full."""
    if request.config.getoption("--whole-matrix"):
        return COMMUNICATING
    name = request.node.nodeid.rpartition("/")[2]
    request.node.user_properties.append(("part", f"{name}: {', '.join(part)} (--whole-matrix runs all)"))
    return part


def outcomes(
    launcher: Launcher,
    n: int,
    modules: tuple[str, ...],
    notes: Path,
    env: Mapping[str, str],
    preload: bool,
    types: str = "all",
) -> Outcomes:
    notes.mkdir()
    assert launcher.python is not None
    command: list[str | Path] = [launcher.python, NOTE_OUTCOMES, notes, SOURCES, types, *modules]
    done = launcher.run(command, n, env, preload=preload, timeout=TIMEOUT_S)
    assert done.returncode == 0, f"{n} ranks ended with code {done.returncode}:\n{done.stderr[-3000:]}"
    return [read_outcomes(notes / f"rank-{rank}") for rank in range(n)]


def read_outcomes(path: Path) -> dict[str, str]:
    pairs = (line.split(" ", 1) for line in path.read_text().splitlines())
    return {test: outcome for outcome, test in pairs}


def with_wherry(
    launcher: Launcher, n: int, modules: tuple[str, ...], folder: Path, env: Mapping[str, str], types: str = "all"
) -> Outcomes:
    record = folder / "record"
    record.mkdir()
    variables = {"WHERRY_OUTPUT": str(record), "WHERRY_TUNING_FILE": str(folder / "tuning"), **env}
    found = outcomes(launcher, n, modules, folder / "with", variables, preload=True, types=types)
    records = read_all(record)
    assert not records.problems
    assert [r.rank for r in records.ranks if r.finalized] == list(range(n))
    return found


def strategies_used(record: Path) -> set[tuple[str, str]]:
    """(function, strategy) of every all-to-all that rank 0 ran."""
    rank = read_all(record).ranks[0]
    return {(rank.function(row["function"]), text(row["strategy"])) for row in rank.tables["uses"]}


def check_none_ends_worse(
    launcher: Launcher, n: int, modules: tuple[str, ...], folder: Path, env: Mapping[str, str], types: str = "all"
) -> None:
    """What does not pass under Wherry ends without it in the same way, on every rank.

    Sessions do not count on Open MPI 4, which has none: mpi4py finds the preload's functions, and does not skip them.
    """
    found = with_wherry(launcher, n, modules, folder, env, types)
    assert all("passed" in rank.values() for rank in found), "no test passed"
    doubtful = {test for rank in found for test, outcome in rank.items() if outcome != "passed"}
    if launcher.name == "debian-openmpi":
        doubtful = {test for test in doubtful if "Session" not in test}
    if doubtful:
        without = outcomes(launcher, n, tuple(sorted(doubtful)), folder / "without", {}, preload=False, types=types)
        assert [{test: rank[test] for test in doubtful & rank.keys()} for rank in found] == without
