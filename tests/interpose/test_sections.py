"""Several collectives at once on disjoint and overlapping sections of the ranks, in an order of each rank's own."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from conftest import Launcher
from preloading import PROGRESSED, compile_program, records_in

from wherry.analysis.record import text

ROUNDS, PER_SECTION = 25, 3

STRATEGIES = {
    "learning": {},
    "of several hops": {"ALLTOALL": "bruck2", "ALLGATHER": "ring", "ALLREDUCE": "ring"},
    "of one hop": {"ALLTOALL": "direct", "ALLGATHER": "bruck", "ALLREDUCE": "recursive_doubling"},
}


@pytest.fixture(scope="session")
def program(mpi: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(mpi, "sections.c", tmp_path_factory.mktemp(f"sections-{mpi.name}") / "sections")


@pytest.mark.parametrize("mpi", PROGRESSED, indirect=True)
@pytest.mark.parametrize("names", STRATEGIES.values(), ids=list(STRATEGIES))
@pytest.mark.parametrize("n", [3, 5, 8])
def test_sections_at_once(
    mpi: Launcher, preload: Path, program: Path, n: int, names: dict[str, str], tmp_path: Path
) -> None:
    seed = str(random.randrange(1, 1 << 30))
    print("seed", seed)
    env = {"WHERRY_NONBLOCKING": "1", **{f"WHERRY_{name}": strategy for name, strategy in names.items()}}
    done = mpi.run([program, seed], n, {**env, "WHERRY_OUTPUT": str(tmp_path)}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    ranks = re.findall(r"^rank \d+: (\d+) sections, (\d+) checks, 0 failures$", done.stdout, re.MULTILINE)
    assert len(ranks) == n
    assert all(int(checks) == ROUNDS * (int(sections) * (PER_SECTION + 1) + 1) for sections, checks in ranks)
    for record in records_in(tmp_path):
        started = {
            text(row["strategy"])
            for row in record.tables["uses"]
            if record.function(row["function"]) in ("MPI_Ialltoall", "MPI_Iallgather", "MPI_Iallreduce")
        }
        assert set(names.values()) <= started
        assert started - {"native"}, "Wherry performed nothing"
