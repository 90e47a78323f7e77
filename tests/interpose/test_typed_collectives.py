"""All-to-alls and broadcasts of derived types that Wherry performs: each answer is what was sent."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import BUILD, Launcher
from preloading import records_in, uses_of

STRATEGIES = (("direct", "linear"), ("bruck2", "binomial"))


@pytest.mark.parametrize("strategies", STRATEGIES, ids="-".join)
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_every_block_arrives(mpi: Launcher, preload: Path, n: int, strategies: tuple[str, str], tmp_path: Path) -> None:
    """The program compares them itself: natively, packed by hand, and by the strategy that is named."""
    alltoall, bcast = strategies
    program = BUILD / "bench" / mpi.name / "bench_typed"
    settings = {"WHERRY_ALLTOALL": alltoall, "WHERRY_BCAST": bcast, "WHERRY_OUTPUT": str(tmp_path)}
    done = mpi.run([program, "--sizes", "50,2000,60000", "--turns", "1", "--train", "20"], n, settings, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    if n > 4:  # elsewhere some of them do not apply
        for record in records_in(tmp_path):
            assert uses_of(record) >= {("MPI_Alltoall", alltoall), ("MPI_Bcast", bcast)}
