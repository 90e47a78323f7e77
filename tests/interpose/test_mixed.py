"""One signature described differently by the ranks: 10 ints here, one contiguous type of 10 there, types with gaps.

Ranks that choose by count or by type, not by bytes, would choose differently, and wait for each other forever.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import Launcher
from preloading import PROGRESSED, compile_program, records_in, uses_of
from test_matrix import STRATEGIES, expected_uses

ROUNDS = 48
COLLECTIVES = (
    *("Alltoall", "Alltoallv", "Alltoallw", "Allgather", "Allgatherv", "Bcast", "Gather", "Scatter"),
    *("Reduce", "Allreduce", "Reduce_scatter_block", "Reduce_scatter"),
)
pytestmark = pytest.mark.parametrize("mpi", PROGRESSED, indirect=True)


def run(
    mpi: Launcher, folder: Path, n: int, arguments: list[str], env: Mapping[str, str]
) -> list[set[tuple[str, str]]]:
    """What ran on each rank."""
    program = compile_program(mpi, "mixed.c", folder / "mixed")
    done = mpi.run([program, *arguments], n, {**env, "WHERRY_OUTPUT": str(folder)}, preload=True, timeout=170)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    checks = re.findall(r"^rank \d+: (\d+) checks, 0 failures$", done.stdout, re.MULTILINE)
    assert checks == [str(int(arguments[0]) * len(arguments[1]) * 17 * 3)] * n
    return [uses_of(record) for record in records_in(folder)]


@pytest.mark.parametrize("n", [2, 3, 5])
def test_while_candidates_are_tried(mpi: Launcher, preload: Path, tmp_path: Path, n: int) -> None:
    """Ranks that come at different times, none of which waits for another forever."""
    for uses in run(mpi, tmp_path, n, [str(ROUNDS), "b"], {"WHERRY_RANKS_PER_NODE": "2"}):
        tried = defaultdict(set)
        for function, strategy in uses:
            tried[function].add(strategy)
        assert [name for name in COLLECTIVES if len(tried[f"MPI_{name}"]) < 2] == []


@pytest.mark.parametrize(("n", "strategies"), [(3, "three"), (5, "several")])
def test_in_every_form(mpi: Launcher, preload: Path, tmp_path: Path, n: int, strategies: str) -> None:
    forced = STRATEGIES[strategies]
    env = {f"WHERRY_{name.upper()}": strategy for name, strategy in forced.items()}
    env |= {"WHERRY_RANKS_PER_NODE": "2", "WHERRY_NONBLOCKING": "1", "TEST_WHERRY_PERFORMS": "1"}
    wanted = {(f, s) for f, s in expected_uses(forced, "bnp") if "arrier" not in f}
    for uses in run(mpi, tmp_path, n, ["6", "bnp"], env):
        assert wanted - uses == set()
