"""The study of the cache on what is built: every part runs, and its counts are right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import launching
import pytest
from command_line import Invoke
from conftest import Launcher
from launching import on_one

from wherry import paths
from wherry.errors import WherryError
from wherry.measure.harness import Setup
from wherry.study.cache import eviction, replay, scaling, sizes
from wherry.study.cache.programs import ADAPTIVE, BLOCKS, FIXED


@pytest.fixture(autouse=True)
def built() -> None:
    if not paths.replay_program().exists():
        pytest.skip("bench_cache_replay is not built yet; run: make build")


def test_traces_are_replayed_alike_everywhere() -> None:
    """The counts of tests/cache/test_policy.cpp."""
    rows = replay.ask(["--zipf", "0.8", "--shares", "5,10,25"])
    assert [row["hits"] for row in rows] == [40804, 44937, 49585]
    for row in rows:
        assert row["references"] == 60000
        assert row["bytes"] == int(row["share"] / 100 * row["working_set"])
        assert row["lru"] <= row["hits"] <= row["constant"] <= row["foresight"]


def test_adaptive_sizes_leave_their_start_and_fixed_ones_stay() -> None:
    words = ["--normal", "1", "--keys", "2000", "--length", "20000"]
    fixed, adaptive = replay.ask([*words, "--storages", "64", "--entries", "64"])
    assert fixed["storage_bytes_at_end"] == fixed["storage_bytes"] == 65536
    assert fixed["adjustments"] == 0
    assert fixed["evictions"] > 0
    assert adaptive["storage_bytes_at_end"] > 16 * 65536
    assert adaptive["adjustments"] > 0
    assert adaptive["hits"] > 2 * fixed["hits"]
    assert adaptive["bytes_at_end"] <= 65536 << 10


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--zipf", "0.8"], "what is asked? give --shares LIST or --storages LIST"),
        (["--shares", "5"], "which trace?"),
        (["--zipf", "x", "--shares", "5"], "--zipf: 'x' is not a number"),
        (["--zpif", "1"], "unknown option '--zpif'"),
        (["--zipf"], "--zipf stands without its value"),
        (["--trace", "/no/such/trace", "--shares", "5"], "cannot read the trace '/no/such/trace'"),
        (["--normal", "1", "--keys", "0", "--shares", "5"], "--keys and --length are at least 1"),
    ],
)
def test_wrong_usage_of_the_replay_is_told(words: list[str], said: str) -> None:
    with pytest.raises(WherryError, match=said.replace("?", r"\?")):
        replay.ask(words)


def test_damaged_traces_are_told_with_their_line(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    for text in ("0 0 8 1\n0 8\n", "0 0 8 1\n0 8 0 1\n", "0 0 8 1\n0 8 9999999 1\n"):
        trace.write_text(text)
        with pytest.raises(WherryError, match="line 2 is no get; write: target displacement bytes score"):
            replay.ask(["--trace", str(trace), "--shares", "5"])
    trace.write_text("")
    with pytest.raises(WherryError, match="holds no gets"):
        replay.ask(["--trace", str(trace), "--shares", "5"])


@on_one
def test_recorded_gets_are_those_of_the_program(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    """A line for each adjacency list that rank 0 reads of rank 1: one for each edge between them.

    A list is two gets, of its bounds and of itself. Vertices with one neighbor read nothing: rank 1 reads three less.
    """
    trace, records = tmp_path / "trace", tmp_path / "records.json"
    words = ["--scale", "8", "--turns", "1", "--trace", trace, "--json", records]
    launching.output(launching.run(mpi, build, "lcc", 2, words))
    lines = [line.split() for line in trace.read_text().splitlines()]
    assert {target for target, *_ in lines} == {"1"}
    assert {float(score) * 4 for _, _, bytes_, score in lines} == {float(bytes_) for _, _, bytes_, _ in lines}
    (gets,) = {row["gets"] for row in json.loads(records.read_text())}
    assert gets == 2 * (len(lines) + len(lines) - 3)
    assert (len(lines), len({tuple(line) for line in lines})) == (1050, 109)


@on_one
def test_a_quick_look_at_every_measured_part(mpi: Launcher, build: Path) -> None:
    setup = Setup(mpi=mpi.mpi, quick=True, ranks=2)
    rows = sizes.measure(setup)
    assert {row["variant"] for row in rows} == {BLOCKS, FIXED, ADAPTIVE}
    for workload in {row["workload"] for row in rows}:
        hits = {
            variant: [row["hit_percent"] for row in rows if (row["workload"], row["variant"]) == (workload, variant)]
            for variant in (FIXED, ADAPTIVE)
        }
        assert min(hits[ADAPTIVE]) >= (1 - sizes.MOST_LOSS) * max(hits[FIXED])
    assert all(row["reached"] is None for row in rows)
    rows = eviction.measure(setup)
    assert len(rows) == 4 * len(eviction.VALIDATED)
    assert all(row["lru"] <= row["value"] for row in rows if row["trace"].startswith("Zipf"))
    rows = scaling.measure_strong(setup)
    assert [(row["workload"], row["ranks"]) for row in rows[::3]] == [("lcc", 2), ("barnes_hut", 2)]


def test_the_simulated_part_is_exact() -> None:
    if why := scaling.why_not_simulated(Setup()):
        pytest.skip(why)
    first, again = (scaling.measure_simulated(Setup(quick=True)) for _ in range(2))
    times = [(row["case"], row["baseline"], row["value"]) for row in first]
    assert times == [(row["case"], row["baseline"], row["value"]) for row in again]
    assert all(row["value"] < row["baseline"] for row in first)


@on_one
def test_the_command_writes_a_part(mpi: Launcher, build: Path, invoke: Invoke, tmp_path: Path) -> None:
    done = invoke("study", "cache", "eviction", "--quick", "--mpi", mpi.name, "-o", tmp_path)
    assert done.code == 0, done.err
    rows: list[dict[str, Any]] = json.loads(next(tmp_path.glob("results/cache-eviction/*/none.json")).read_text())
    assert {row["bench"] for row in rows} == {"study cache"}
    assert (tmp_path / "images/cache-eviction.svg").read_text().count("</svg>") == 1
    assert "Zipf 0.8" in done.out
