"""Neighborhood collectives under the preload: by every strategy, C and mpi4py programs get what they got."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import ROOT, Launcher
from preloading import PROGRAMS, Runs, asking_for, blocking_uses, launcher_of, records_in

from wherry.analysis.record import text

REGISTRY = ROOT / "src/schedule/registry/block_strategies.cpp"
OPERATIONS = tuple(f"neighbor_{name}" for name in ("alltoall", "alltoallv", "alltoallw", "allgather", "allgatherv"))
PER_NODE = "2"  # ranks

#: On so many ranks a graph in which everybody sends to everybody has room for every strategy.
EVERY_STRATEGY = 10


def registered() -> list[str]:
    """Those of rows that say what a strategy does on a graph."""
    return re.findall(r'(?:with_graphs\(\s*row<[^"]*|\{\.name = )"(\w+)"', REGISTRY.read_text())


def told(strategy: str) -> dict[str, str]:
    return {**asking_for(dict.fromkeys(OPERATIONS, strategy)), "WHERRY_RANKS_PER_NODE": PER_NODE}


def run(runs: Runs, n: int, env: Mapping[str, str], out: Path) -> list[set[tuple[str, str]]]:
    """What each rank used. The results must be those without Wherry."""
    results, records = runs.with_wherry(n, env, out)
    assert results == runs.without(n)
    return [blocking_uses(record) for record in records]


@pytest.fixture(scope="module", params=["openmpi", "mpich"])
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    name: str = request.param
    return Runs(launcher_of(name), "neighbors.c", tmp_path_factory.mktemp(f"neighbors-{name}"))


def test_the_registry_is_read() -> None:
    assert registered()[0] == "direct"
    assert len(registered()) == 6


@pytest.mark.parametrize("strategy", registered())
def test_every_strategy_gives_the_same(runs: Runs, preload: Path, strategy: str, tmp_path: Path) -> None:
    uses = run(runs, EVERY_STRATEGY, told(strategy), tmp_path)
    assert all({(operation, strategy) for operation in OPERATIONS} <= each for each in uses)


@pytest.fixture(scope="module")
def runs_on_each(mpi: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(mpi, "neighbors.c", tmp_path_factory.mktemp(f"neighbors-on-{mpi.name}"))


@pytest.mark.parametrize("strategy", ["direct", "node_aware"])
def test_every_library_keeps_its_order_of_repeated_neighbors(
    runs_on_each: Runs, preload: Path, strategy: str, tmp_path: Path
) -> None:
    """They differ in it, and neighbors are repeated in the graph and on the grid."""
    uses = run(runs_on_each, 4, told(strategy), tmp_path)
    assert all(("neighbor_alltoall", strategy) in each for each in uses)


def test_learning_gives_the_same(runs: Runs, preload: Path, tmp_path: Path) -> None:
    uses = run(runs, 5, {"WHERRY_RANKS_PER_NODE": PER_NODE}, tmp_path)
    assert all(each == uses[0] for each in uses)
    assert {use for use in uses[0] if use[0] == "neighbor_alltoall" and use[1] != "native"}


def test_few_neighbors_on_one_node_are_native(runs: Runs, preload: Path, tmp_path: Path) -> None:
    results, records = runs.with_wherry(4, {}, tmp_path)
    assert results == runs.without(4)
    for record in records:
        assert not {use for use in blocking_uses(record) if use[0].startswith("neighbor")}
        reasons = {
            (record.function(row["function"]), text(row["reason"])): int(row["count"])
            for row in record.tables["misses"]
        }
        # Of the grid the first 16 calls are too early; of the graph, none but the all-to-all.
        assert reasons[("MPI_Neighbor_allgatherv", "few neighbors, all on one node")] == 6
        assert reasons[("MPI_Neighbor_alltoall", "few neighbors, all on one node")] == 6 + 4
        assert reasons[("MPI_Neighbor_alltoallv", "few neighbors, all on one node")] == 6
        assert reasons[("MPI_Neighbor_alltoallw", "few neighbors, all on one node")] == 6


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
@pytest.mark.parametrize("strategy", ["direct", "node_aware", "auto"])
def test_mpi4py_gets_the_same(name: str, preload: Path, strategy: str, tmp_path: Path) -> None:
    mpi = launcher_of(name)
    if mpi.python is None:
        pytest.skip(f"{name} has no mpi4py")
    command = [mpi.python, PROGRAMS / "neighbors.py"]
    plain = mpi.run(command, 4)
    preloaded = mpi.run(command, 4, {**told(strategy), "WHERRY_OUTPUT": str(tmp_path)}, preload=True)
    assert plain.returncode == preloaded.returncode == 0, plain.stderr + preloaded.stderr
    assert sorted(preloaded.stdout.splitlines()) == sorted(plain.stdout.splitlines())
    assert "rank 3: " in plain.stdout
    ran = {use[1] for record in records_in(tmp_path) for use in blocking_uses(record) if use[0].startswith("neighbor")}
    assert ran - {"native"} if strategy == "auto" else ran == {strategy}
