"""Neighbourhood collectives under the preload: by every strategy, C and mpi4py programs get what they got."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import ROOT, Launcher
from preloading import PROGRAMS, compile_program, records_in

from wherry.mpis import find_mpi, why_missing
from wherry.record import Record, text

REGISTRY = ROOT / "src/plan/neighbours/strategies.cpp"
OPERATIONS = ("neighbor_alltoall", "neighbor_alltoallv", "neighbor_allgather", "neighbor_allgatherv")
PER_NODE = "2"  # ranks

#: On so many ranks a graph in which everybody sends to everybody has room for every strategy.
EVERY_STRATEGY = 10


def registered() -> list[str]:
    return re.findall(r'^    \{"(\w+)",', REGISTRY.read_text(), re.MULTILINE)


def asking_for(strategy: str) -> dict[str, str]:
    return {**{f"WHERRY_{name.upper()}": strategy for name in OPERATIONS}, "WHERRY_RANKS_PER_NODE": PER_NODE}


def uses_of(record: Record) -> set[tuple[str, str]]:
    """What ran, by function."""
    rows = record.tables["uses"]
    return {(record.function(row["function"]).removeprefix("MPI_").lower(), text(row["strategy"])) for row in rows}


def launcher_of(name: str) -> Launcher:
    mpi = find_mpi(name)
    if mpi is None:
        pytest.skip(why_missing(name))
    return Launcher(mpi)


class Runs:
    """The C program on one MPI, and what it gives there without Wherry."""

    def __init__(self, launcher: Launcher, folder: Path) -> None:
        self.launcher = launcher
        self.folder = folder
        self.program = compile_program(launcher, "neighbours.c", folder / "neighbours")

    def results(self, n: int, env: Mapping[str, str], preload: bool) -> list[bytes]:
        name = "-".join([str(n), *env.values()]) if preload else f"{n}-without"
        folder = self.folder / name.replace("/", "_")[-100:]
        if not folder.exists():
            folder.mkdir()
            done = self.launcher.run([self.program, folder], n, env, preload=preload, timeout=180)
            assert done.returncode == 0, done.stdout + done.stderr
        return [(folder / f"rank-{rank}").read_bytes() for rank in range(n)]

    def without(self, n: int) -> list[bytes]:
        return self.results(n, {}, preload=False)


@pytest.fixture(scope="module", params=["openmpi", "mpich"])
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    name: str = request.param
    return Runs(launcher_of(name), tmp_path_factory.mktemp(f"neighbours-{name}"))


def test_the_registry_is_read() -> None:
    assert registered()[0] == "direct"
    assert len(registered()) == 6


@pytest.mark.parametrize("strategy", registered())
def test_every_strategy_gives_the_same(runs: Runs, preload: Path, strategy: str, tmp_path: Path) -> None:
    env = {**asking_for(strategy), "WHERRY_OUTPUT": str(tmp_path)}
    assert runs.results(EVERY_STRATEGY, env, preload=True) == runs.without(EVERY_STRATEGY)
    uses = [uses_of(record) for record in records_in(tmp_path)]
    assert len(uses) == EVERY_STRATEGY
    assert all({(operation, strategy) for operation in OPERATIONS} <= each for each in uses)


@pytest.mark.parametrize("strategy", ["direct", "node_aware"])
def test_every_library_keeps_its_order_of_repeated_neighbours(
    mpi: Launcher, preload: Path, strategy: str, tmp_path: Path
) -> None:
    """They differ in it, and neighbours are repeated in the graph and on the grid."""
    runs = Runs(mpi, tmp_path)
    out = tmp_path / "records"
    out.mkdir()
    env = {**asking_for(strategy), "WHERRY_OUTPUT": str(out)}
    assert runs.results(4, env, preload=True) == runs.without(4)
    assert all(("neighbor_alltoall", strategy) in uses_of(record) for record in records_in(out))


def test_learning_gives_the_same(runs: Runs, preload: Path, tmp_path: Path) -> None:
    env = {"WHERRY_RANKS_PER_NODE": PER_NODE, "WHERRY_OUTPUT": str(tmp_path)}
    assert runs.results(5, env, preload=True) == runs.without(5)
    uses = [uses_of(record) for record in records_in(tmp_path)]
    assert len(uses) == 5
    assert all(each == uses[0] for each in uses)
    assert {use for use in uses[0] if use[0] == "neighbor_alltoall" and use[1] != "native"}


def test_few_neighbours_on_one_node_are_the_librarys(runs: Runs, preload: Path, tmp_path: Path) -> None:
    assert runs.results(4, {"WHERRY_OUTPUT": str(tmp_path)}, preload=True) == runs.without(4)
    for record in records_in(tmp_path):
        assert not {use for use in uses_of(record) if use[0].startswith("neighbor")}
        reasons = {
            (record.function(row["function"]), text(row["reason"])): int(row["count"])
            for row in record.tables["misses"]
        }
        # Of the grid the first 16 calls are too early; of the graph, none but the all-to-all.
        assert reasons[("MPI_Neighbor_allgatherv", "few neighbours, all on one node")] == 6
        assert reasons[("MPI_Neighbor_alltoall", "few neighbours, all on one node")] == 6 + 4
        assert reasons[("MPI_Neighbor_alltoallv", "few neighbours, all on one node")] == 6


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
@pytest.mark.parametrize("strategy", ["direct", "node_aware", "auto"])
def test_mpi4py_gets_the_same(name: str, preload: Path, strategy: str, tmp_path: Path) -> None:
    mpi = launcher_of(name)
    if mpi.python is None:
        pytest.skip(f"{name} has no mpi4py")
    command = [mpi.python, PROGRAMS / "neighbours.py"]
    plain = mpi.run(command, 4)
    preloaded = mpi.run(command, 4, {**asking_for(strategy), "WHERRY_OUTPUT": str(tmp_path)}, preload=True)
    assert plain.returncode == preloaded.returncode == 0, plain.stderr + preloaded.stderr
    assert sorted(preloaded.stdout.splitlines()) == sorted(plain.stdout.splitlines())
    assert "rank 3: " in plain.stdout
    ran = {use[1] for record in records_in(tmp_path) for use in uses_of(record) if use[0].startswith("neighbor")}
    assert ran - {"native"} if strategy == "auto" else ran == {strategy}
