"""Other collectives than all-to-alls under the preload: with every strategy there is, they give what they gave."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from itertools import chain, zip_longest
from pathlib import Path

import pytest
from conftest import ROOT, Launcher
from preloading import compile_program, records_in

from wherry.mpis import find_mpi, why_missing
from wherry.record import Record, text

REGISTRY = ROOT / "src/plan/segments/strategies.cpp"
FUNCTIONS = {"reduce_scatter": "reduce_scatter_block"}
PER_NODE = "2"  # ranks; the last node has one

#: (collective, strategy)
Use = tuple[str, str]

#: What does not apply to five ranks, and where it does.
ELSEWHERE: dict[Use, tuple[str, int]] = {
    ("allgather", "direct16"): ("openmpi", 18),
    ("allgather", "neighbour_exchange"): ("openmpi", 6),
    ("allgather", "recursive_doubling"): ("openmpi", 4),
}


def registered() -> dict[str, list[str]]:
    """The strategies of each collective."""
    rows = re.findall(r"^    (?:moving|reducing)\((\w+), \"(\w+)\"", REGISTRY.read_text(), re.MULTILINE)
    found: dict[str, list[str]] = defaultdict(list)
    for operation, strategy in rows:
        found[FUNCTIONS.get(operation, operation)].append(strategy)
    return found


def settings() -> list[dict[str, str]]:
    """So many that each strategy is asked for once: for every collective one of its strategies."""
    collectives = registered()
    turns = zip_longest(*(names for names in collectives.values()))
    rows = [dict(zip(collectives, turn, strict=True)) for turn in turns]
    return [{name: strategy for name, strategy in row.items() if strategy is not None} for row in rows]


def uses_of(record: Record) -> set[Use]:
    """What ran, but for the library's own."""
    rows = record.tables["uses"]
    uses = {(record.function(row["function"]).removeprefix("MPI_").lower(), text(row["strategy"])) for row in rows}
    return {use for use in uses if use[1] != "native"}


def launcher_of(name: str) -> Launcher:
    mpi = find_mpi(name)
    if mpi is None:
        pytest.skip(why_missing(name))
    return Launcher(mpi)


class Runs:
    """The program on one MPI, and what it gives there without Wherry."""

    def __init__(self, launcher: Launcher, folder: Path) -> None:
        self.launcher = launcher
        self.folder = folder
        self.program = compile_program(launcher, "segments.c", folder / "segments")

    def without(self, n: int) -> list[bytes]:
        folder = self.folder / f"without-{n}"
        if not folder.exists():
            self._run(folder, n, {}, preload=False)
        return self._results(folder, n)

    def with_wherry(self, n: int, asked: Mapping[str, str]) -> tuple[list[bytes], set[Use]]:
        """The results, and what each rank used."""
        folder = self.folder / f"with-{n}-{'-'.join(asked.values())}"
        folder.mkdir()
        env = {f"WHERRY_{name.upper()}": strategy for name, strategy in asked.items()}
        self._run(folder / "out", n, {**env, "WHERRY_RANKS_PER_NODE": PER_NODE, "WHERRY_OUTPUT": str(folder)}, True)
        uses = [uses_of(record) for record in records_in(folder)]
        assert len(uses) == n
        assert all(others == uses[0] for others in uses)
        return self._results(folder / "out", n), uses[0]

    def _run(self, folder: Path, n: int, env: Mapping[str, str], preload: bool) -> None:
        folder.mkdir()
        done = self.launcher.run([self.program, folder], n, env, preload=preload, timeout=180)
        assert done.returncode == 0, done.stdout + done.stderr

    @staticmethod
    def _results(folder: Path, n: int) -> list[bytes]:
        found = [(folder / f"rank-{rank}").read_bytes() for rank in range(n)]
        assert all(found)
        return found


@pytest.fixture(scope="module", params=["openmpi", "mpich"])
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    name: str = request.param
    return Runs(launcher_of(name), tmp_path_factory.mktemp(f"segments-{name}"))


def test_the_registry_is_read() -> None:
    """Rows that were written in another way would go untested."""
    rows = registered()
    assert len(rows) == 8
    text = REGISTRY.read_text()
    assert sum(map(len, rows.values())) == text.count("    moving(") + text.count("    reducing(")
    assert set(chain.from_iterable(row.items() for row in settings())) == {
        (name, strategy) for name, strategies in rows.items() for strategy in strategies
    }


@pytest.mark.parametrize("asked", settings(), ids=lambda asked: "-".join(asked.values()))
def test_every_strategy_gives_the_same(runs: Runs, preload: Path, asked: dict[str, str]) -> None:
    results, uses = runs.with_wherry(5, asked)
    assert results == runs.without(5)
    assert set(asked.items()) - set(ELSEWHERE) <= uses


@pytest.mark.parametrize(("use", "where"), ELSEWHERE.items(), ids=lambda value: "-".join(map(str, value)))
def test_strategies_for_other_numbers_of_ranks(preload: Path, use: Use, where: tuple[str, int], tmp_path: Path) -> None:
    name, n = where
    runs = Runs(launcher_of(name), tmp_path)
    results, uses = runs.with_wherry(n, dict([use]))
    assert results == runs.without(n)
    assert use in uses


def test_learning_gives_the_same(runs: Runs, preload: Path) -> None:
    results, uses = runs.with_wherry(5, {})
    assert results == runs.without(5)
    assert uses & set(chain.from_iterable(row.items() for row in settings()))
