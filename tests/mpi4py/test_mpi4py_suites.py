"""mpi4py's own tests end under Wherry, test by test and rank by rank, as they do without.

`make setup` unpacks their source in .cache/mpi4py (requirements/mpi4py-tests.txt). Open MPI and MPICH from PyPI.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import ROOT, Launcher

from wherry.mpis import find_mpi, why_missing
from wherry.record import read_all, text

SOURCES = ROOT / ".cache/mpi4py/test"
NOTE_OUTCOMES = Path(__file__).resolve().parent / "note_outcomes.py"
TIMEOUT_S = 900

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
#: One rank's business, and long: more ranks would only repeat them.
LOCAL = ("test_pack", "test_datatype")
COLLECTIVES = (
    "test_cco_buf.TestCCOBufWorld",
    "test_cco_buf.TestCCOBufInplaceWorld",
    "test_cco_vec.TestCCOVecWorld",
    "test_cco_vec.TestCCOVecInplaceWorld",
)
NONBLOCKING = ("test_cco_nb_buf", "test_cco_nb_vec")
NAMED = {
    "alltoall": "bruck2",
    "alltoallv": "direct",
    "bcast": "linear",
    "allreduce": "recursive_doubling",
    "barrier": "dissemination",
}
#: Blocking ones first: at these the ranks join.
BEFORE_NONBLOCKING = "test_cco_buf.TestCCOBufWorld"
ALL_TO_ALLS = ("test_cco_buf.TestCCOBufWorld.testAlltoall", *COLLECTIVES[2:])

#: What runs instead of MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw.
FUNCTIONS = ("MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw")
FORCED = (
    ("mesh", "mesh", "mesh"),
    ("bruck2", "bruck2", "bruck2"),
    ("pairwise_xor", "pairwise", "direct"),
)

GOOD = ("passed", "skipped")

#: How each test ended on each rank.
Outcomes = list[dict[str, str]]


@pytest.fixture(scope="module", params=["openmpi", "mpich"])
def launcher(request: pytest.FixtureRequest) -> Launcher:
    mpi = find_mpi(request.param)
    if mpi is None or mpi.python is None:
        pytest.skip(why_missing(request.param))
    if not SOURCES.is_dir():
        pytest.skip("mpi4py's source is not there; run: make setup")
    return Launcher(mpi)


def outcomes(
    launcher: Launcher, n: int, modules: tuple[str, ...], notes: Path, env: Mapping[str, str], preload: bool
) -> Outcomes:
    notes.mkdir()
    assert launcher.python is not None
    command: list[str | Path] = [launcher.python, NOTE_OUTCOMES, notes, SOURCES, *modules]
    done = launcher.run(command, n, env, preload=preload, timeout=TIMEOUT_S)
    assert done.returncode == 0, f"{n} ranks ended with code {done.returncode}:\n{done.stderr[-3000:]}"
    return [read_outcomes(notes / f"rank-{rank}") for rank in range(n)]


def read_outcomes(path: Path) -> dict[str, str]:
    pairs = (line.split(" ", 1) for line in path.read_text().splitlines())
    return {test: outcome for outcome, test in pairs}


def with_wherry(launcher: Launcher, n: int, modules: tuple[str, ...], folder: Path, env: Mapping[str, str]) -> Outcomes:
    record = folder / "record"
    record.mkdir()
    variables = {"WHERRY_OUTPUT": str(record), "WHERRY_TUNING_FILE": str(folder / "tuning"), **env}
    found = outcomes(launcher, n, modules, folder / "with", variables, preload=True)
    records = read_all(record)
    assert not records.problems
    assert [r.rank for r in records.ranks if r.finalized] == list(range(n))
    return found


def strategies_used(record: Path) -> set[tuple[str, str]]:
    """(function, strategy) of every all-to-all that rank 0 ran."""
    rank = read_all(record).ranks[0]
    return {(rank.function(row["function"]), text(row["strategy"])) for row in rank.tables["uses"]}


SUITES = {
    1: COMMUNICATING + LOCAL,
    2: COMMUNICATING,
    3: COMMUNICATING,
    5: COLLECTIVES,
}
#: MPICH spins: more ranks than processors take minutes.
CASES = [("openmpi", n) for n in (1, 2, 3, 5)] + [("mpich", n) for n in (1, 2, 3)]


@pytest.mark.parametrize(("launcher", "n"), CASES, indirect=["launcher"])
def test_same_outcomes(launcher: Launcher, preload: Path, n: int, tmp_path: Path) -> None:
    without = outcomes(launcher, n, SUITES[n], tmp_path / "without", {}, preload=False)
    assert all(without), "no test was run"
    assert with_wherry(launcher, n, SUITES[n], tmp_path, {}) == without


@pytest.mark.parametrize("strategies", FORCED, ids="-".join)
def test_replaced_all_to_alls(launcher: Launcher, preload: Path, strategies: tuple[str, ...], tmp_path: Path) -> None:
    n = 5 if launcher.family == "openmpi" else 4
    names = list(zip(FUNCTIONS, strategies, strict=True))
    env = {"WHERRY_" + function.removeprefix("MPI_").upper(): strategy for function, strategy in names}
    found = with_wherry(launcher, n, ALL_TO_ALLS, tmp_path, env)
    assert not {test: outcome for rank in found for test, outcome in rank.items() if outcome not in GOOD}
    assert strategies_used(tmp_path / "record") >= set(names)


def test_nonblocking_collectives(launcher: Launcher, preload: Path, tmp_path: Path) -> None:
    n, modules = 3, (BEFORE_NONBLOCKING, *NONBLOCKING)
    without = outcomes(launcher, n, modules, tmp_path / "without", {}, preload=False)
    assert all(without), "no test was run"
    env = {"WHERRY_" + name.upper(): strategy for name, strategy in NAMED.items()}
    assert with_wherry(launcher, n, modules, tmp_path, {"WHERRY_NONBLOCKING": "1", **env}) == without
    asked = {("MPI_I" + name, strategy) for name, strategy in NAMED.items()}
    assert asked <= strategies_used(tmp_path / "record")


def test_concurrent_all_to_alls(launcher: Launcher, preload: Path, tmp_path: Path) -> None:
    assert launcher.python is not None
    program = Path(__file__).resolve().parent / "concurrent_all_to_alls.py"
    done = launcher.run([launcher.python, program], 3, {"WHERRY_OUTPUT": str(tmp_path)}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("0 wrong exchanges") == 3
    assert {strategy for _, strategy in strategies_used(tmp_path)} > {"native"}
    assert {rank.program for rank in read_all(tmp_path).ranks} == {str(program)}
