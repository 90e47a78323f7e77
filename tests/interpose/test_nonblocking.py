"""Non-blocking collectives by Wherry's strategies: results, completion in all ways, and who performed them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Launcher
from preloading import compile_program, records_in

from wherry.record import Record, text

DRIVEN = ("openmpi", "mpich")  # the libraries that tests run at every number of ranks; both let Wherry take part
OPERATIONS = (
    "Alltoall Alltoallv Alltoallw Allgather Bcast Gather Scatter Reduce Allreduce Reduce_scatter_block Allgatherv"
    " Reduce_scatter Barrier"
)
CHECKS = 1112

#: Strategies of all operations, in their order.
FORCED = {
    "several": (
        "bruck2 bruck2 mesh bruck binomial binomial binomial binomial recursive_doubling ring bruck pairwise"
        " dissemination"
    ),
    "others": "pairwise direct pairwise ring chain linear linear binary_tree ring pairwise ring direct binomial",
}


@pytest.fixture(scope="session")
def program(mpi: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(mpi, "nonblocking.c", tmp_path_factory.mktemp(f"nonblocking-{mpi.name}") / "nonblocking")


def run(mpi: Launcher, program: Path, n: int, env: dict[str, str]) -> None:
    performs = {"TEST_WHERRY_PERFORMS": "1"} if mpi.name in DRIVEN else {}
    done = mpi.run([program], n, {"WHERRY_NONBLOCKING": "1", **performs, **env}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    checks = re.findall(r"^rank \d+: (\d+) checks, 0 failures$", done.stdout, re.MULTILINE)
    expected = CHECKS if performs and n > 1 else CHECKS - 2  # one rank is the library's
    assert checks == [str(expected)] * n


def nonblocking_uses(record: Record) -> dict[str, set[str]]:
    """Which strategies each non-blocking function ran by."""
    uses: dict[str, set[str]] = {}
    for row in record.tables["uses"]:
        name = record.function(row["function"])
        if name.startswith("MPI_I"):
            uses.setdefault(name.removeprefix("MPI_I").capitalize(), set()).add(text(row["strategy"]))
    return uses


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_results_without_a_record(mpi: Launcher, preload: Path, program: Path, n: int) -> None:
    run(mpi, program, n, {})


@pytest.mark.parametrize("mpi", DRIVEN, indirect=True)
@pytest.mark.parametrize("names", FORCED.values(), ids=list(FORCED))
@pytest.mark.parametrize("n", [5])
def test_strategies_that_are_named(
    mpi: Launcher, preload: Path, program: Path, n: int, names: str, tmp_path: Path
) -> None:
    asked = dict(zip(OPERATIONS.split(), names.split(), strict=True))
    env = {f"WHERRY_{operation.upper()}": name for operation, name in asked.items()}
    run(mpi, program, n, {**env, "WHERRY_OUTPUT": str(tmp_path)})
    for record in records_in(tmp_path):
        uses = nonblocking_uses(record)
        missing = {operation for operation, name in asked.items() if name not in uses.get(operation, set())}
        assert not missing


@pytest.mark.parametrize("mpi", DRIVEN, indirect=True)
def test_the_library_performs_them_unless_asked(mpi: Launcher, preload: Path, program: Path, tmp_path: Path) -> None:
    done = mpi.run([program], 3, {"WHERRY_OUTPUT": str(tmp_path)}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [nonblocking_uses(record) for record in records_in(tmp_path)] == [{}] * 3
