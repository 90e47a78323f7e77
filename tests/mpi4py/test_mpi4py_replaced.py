"""mpi4py's own tests of all-to-alls, with strategies that are named, and several all-to-alls at a time."""

from __future__ import annotations

from pathlib import Path

import pytest
from suites import COLLECTIVES, NAMES, launcher_of, strategies_used, types_of, with_wherry

from wherry.analysis.record import read_all

ALL_TO_ALLS = ("test_cco_buf.TestCCOBufWorld.testAlltoall", *COLLECTIVES[2:])

#: What runs instead of MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw.
FUNCTIONS = ("MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw")
FORCED = (
    ("mpich", ("mesh", "mesh", "mesh")),
    ("openmpi", ("bruck2", "bruck2", "bruck2")),
    ("openmpi", ("pairwise_xor", "pairwise", "direct")),
)

GOOD = ("passed", "skipped")


@pytest.mark.parametrize(
    "name,strategies", FORCED, ids=lambda value: value if isinstance(value, str) else "-".join(value)
)
def test_replaced_all_to_alls(
    name: str,
    preload: Path,
    strategies: tuple[str, ...],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    launcher = launcher_of(name)
    n = 5 if launcher.family == "openmpi" else 4
    asked = list(zip(FUNCTIONS, strategies, strict=True))
    env = {"WHERRY_" + function.removeprefix("MPI_").upper(): strategy for function, strategy in asked}
    found = with_wherry(launcher, n, ALL_TO_ALLS, tmp_path, env, types_of(request))
    assert not {test: outcome for rank in found for test, outcome in rank.items() if outcome not in GOOD}
    assert strategies_used(tmp_path / "record") >= set(asked)


@pytest.mark.parametrize("name", NAMES)
def test_concurrent_all_to_alls(name: str, preload: Path, tmp_path: Path) -> None:
    launcher = launcher_of(name)
    assert launcher.python is not None
    program = Path(__file__).resolve().parent / "concurrent_all_to_alls.py"
    done = launcher.run([launcher.python, program], 3, {"WHERRY_OUTPUT": str(tmp_path)}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("0 wrong exchanges") == 3
    assert {strategy for _, strategy in strategies_used(tmp_path)} > {"native"}
    assert {rank.program for rank in read_all(tmp_path).ranks} == {str(program)}
