"""Other collectives than all-to-alls under the preload: with every strategy there is, they give what they gave."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from itertools import chain, zip_longest
from pathlib import Path

import pytest
from conftest import ROOT
from preloading import Runs, asking_for, blocking_uses, launcher_of

REGISTRY = ROOT / "src/schedule/registry/segment_strategies.cpp"
FUNCTIONS = {"reduce_scatter": "reduce_scatter_block"}
PER_NODE = "2"  # ranks; the last node has one

#: (collective, strategy)
Use = tuple[str, str]

#: What does not apply to five ranks, and where it does.
ELSEWHERE: dict[Use, tuple[str, int]] = {
    ("allgather", "direct16"): ("openmpi", 18),
    ("allgather", "neighbor_exchange"): ("openmpi", 6),
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


def run(runs: Runs, n: int, asked: Mapping[str, str], out: Path) -> set[Use]:
    """What all ranks used, but for native. The results must be those without Wherry."""
    results, records = runs.with_wherry(n, {**asking_for(asked), "WHERRY_RANKS_PER_NODE": PER_NODE}, out)
    assert results == runs.without(n)
    uses = [{use for use in blocking_uses(record) if use[1] != "native"} for record in records]
    assert all(others == uses[0] for others in uses)
    return uses[0]


@pytest.fixture(scope="module", params=["openmpi", "mpich"])
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    name: str = request.param
    return Runs(launcher_of(name), "segments.c", tmp_path_factory.mktemp(f"segments-{name}"))


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
def test_every_strategy_gives_the_same(runs: Runs, preload: Path, asked: dict[str, str], tmp_path: Path) -> None:
    assert set(asked.items()) - set(ELSEWHERE) <= run(runs, 5, asked, tmp_path)


@pytest.mark.parametrize(("use", "where"), ELSEWHERE.items(), ids=lambda value: "-".join(map(str, value)))
def test_strategies_for_other_numbers_of_ranks(preload: Path, use: Use, where: tuple[str, int], tmp_path: Path) -> None:
    name, n = where
    out = tmp_path / "records"
    out.mkdir()
    assert use in run(Runs(launcher_of(name), "segments.c", tmp_path), n, dict([use]), out)


def test_learning_gives_the_same(runs: Runs, preload: Path, tmp_path: Path) -> None:
    assert run(runs, 5, {}, tmp_path) & set(chain.from_iterable(row.items() for row in settings()))
