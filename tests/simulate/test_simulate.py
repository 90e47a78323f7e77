"""Simulated machines: exact times, asserted as such. Without SimGrid the tests that simulate are skipped."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from wherry import paths, plan, simulate
from wherry.errors import UsageError, WherryError
from wherry.simulate import alltoall, platforms, smpi
from wherry.simulate.alltoall import Request
from wherry.simulate.judge import judge, spearman

ROOT = Path(__file__).resolve().parents[2]
COUNTS = ("messages", "messages_between", "bytes", "bytes_between", "copied_bytes")


@pytest.fixture
def simgrid() -> None:
    if why := smpi.why_missing():
        pytest.skip(why)


@pytest.fixture
def gigabit() -> platforms.Platform:
    return platforms.read(ROOT / "platforms/gigabit.toml")


def simulated(
    platform: str, ranks: int, size: int, strategies: list[str], per_node: int | None = None
) -> dict[str, float]:
    request = simulate.request("alltoall", platform, ranks, per_node)
    request.sizes, request.strategies = [size], strategies
    return {outcome.variant: outcome.seconds or math.nan for outcome in simulate.run(request).outcomes}


def strategies_for(ranks: int, nodes: int) -> list[str]:
    model = plan.explain("alltoall", plan.Placement(ranks, nodes=nodes), 64)
    return [str(row["name"]) for row in model["candidates"]]


# ---- What is simulated


@pytest.mark.parametrize("platform", ["gigabit", "lemieux"])
@pytest.mark.parametrize("ranks", [4, 8, 16])
def test_two_runs_take_the_same_simulated_time(simgrid: None, platform: str, ranks: int) -> None:
    names = ["native", "native:mpich", "direct", "mesh", "bruck2"]
    first = simulated(platform, ranks, 1024, names)
    assert all(seconds > 0 for seconds in first.values())
    assert simulated(platform, ranks, 1024, names) == first


@pytest.mark.parametrize(("ranks", "per_node"), [(4, 1), (7, 3), (8, 2), (16, 1), (16, 4)])
def test_messages_bytes_and_copies_are_those_of_the_model(simgrid: None, ranks: int, per_node: int) -> None:
    request = simulate.request("alltoall", "gigabit", ranks, per_node)
    request.sizes, request.strategies = [24], strategies_for(ranks, request.machine.nodes)
    model = plan.explain("alltoall", plan.Placement(ranks, nodes=request.machine.nodes), 24)
    expected = {row["name"]: {count: row[count] for count in COUNTS} for row in model["candidates"]}
    outcomes = simulate.run(request).outcomes
    assert {o.variant: {count: o.counts[count] for count in COUNTS} for o in outcomes} == expected


def test_a_round_takes_what_the_platform_says(simgrid: None, gigabit: platforms.Platform) -> None:
    """Pairwise is P - 1 rounds: overhead at both ends, two links, and the bytes on the wire."""
    for ranks, size in ((4, 1000), (8, 10_000)):
        # Some bandwidth goes to acknowledgements of the traffic the other way.
        round_s = 2 * gigabit.overhead_s + 2 * 20e-6 + size / 125e6
        taken = simulated("gigabit", ranks, size, ["pairwise"])["pairwise"]
        assert (ranks - 1) * round_s <= taken <= (ranks - 1) * (round_s + 0.08 * size / 125e6)


def test_copies_take_time(simgrid: None) -> None:
    """All ranks of hypercube copy alike, so their copies lie one after the other on the way to the end."""
    machine = simulate.request("alltoall", "gigabit", 16).machine
    args = ["--strategy", "hypercube", "--size", "4096", "--nodes", "16", "--copy-rate"]
    slow, fast = (smpi.run(machine, "alltoall", [*args, rate], {}, 60) for rate in ("1e8", "1e18"))
    assert slow["copied_bytes"] == fast["copied_bytes"] > 0
    assert slow["seconds"] - fast["seconds"] == pytest.approx(slow["copied_bytes"] / 1e8, rel=0.01)


def test_few_messages_win_with_small_blocks_and_few_bytes_with_large_ones(simgrid: None) -> None:
    names = ["direct", "pairwise", "mesh", "bruck2"]
    small, large = simulated("gigabit", 64, 8, names), simulated("gigabit", 64, 65536, names)
    assert small["mesh"] < small["bruck2"] < small["direct"] < small["pairwise"]
    assert large["direct"] < large["bruck2"]
    assert large["pairwise"] < large["bruck2"]
    assert large["direct"] < large["mesh"]


def test_nodes_matter(simgrid: None) -> None:
    times = simulated("gigabit", 32, 8, ["direct", "node_aware"], per_node=8)
    assert times["node_aware"] < times["direct"]
    assert (
        simulated("gigabit", 16, 16384, ["direct"], 4)["direct"] > simulated("gigabit", 16, 16384, ["direct"])["direct"]
    )


@pytest.mark.parametrize(("ranks", "size"), [(1, 64), (2, 64), (3, 0), (5, 1)])
def test_odd_numbers_of_ranks_and_empty_blocks(simgrid: None, ranks: int, size: int) -> None:
    request = simulate.request("alltoall", "gigabit", ranks)
    request.sizes = [size]
    setting = simulate.run(request)
    assert len(setting.outcomes) >= 2
    assert [outcome.note for outcome in setting.outcomes if outcome.seconds is None] == []


def test_a_case_that_takes_too_long_is_stopped_and_said(simgrid: None) -> None:
    request = simulate.request("alltoall", "gigabit", 256)
    request.sizes, request.strategies, request.limit_s = [64], ["direct"], 0.05
    (outcome,) = simulate.run(request).outcomes
    assert outcome.seconds is None
    assert "stopped after" in outcome.note


def test_a_program_that_fails_is_an_error_with_its_last_words(simgrid: None) -> None:
    machine = simulate.request("alltoall", "gigabit", 4).machine
    with pytest.raises(WherryError, match="'leader' does not exist or does not apply"):
        smpi.run(machine, "alltoall", ["--strategy", "leader", "--size", "8", "--nodes", "4"], {}, 60)


# ---- Long and large cases


@pytest.fixture
def unrun(monkeypatch: pytest.MonkeyPatch, gigabit: platforms.Platform) -> Request:
    """A request of 1024 ranks whose cases are not simulated."""
    answer = {"library": "SMPI", "seconds": 1.0, **dict.fromkeys(COUNTS, 0)}
    monkeypatch.setattr(smpi, "run", lambda *_: dict(answer))
    monkeypatch.setattr(alltoall, "_free_bytes", lambda: 16 << 30)
    return Request(smpi.Machine(gigabit, 1024, 1), [64])


def test_linear_strategies_are_left_out_at_1024_ranks_unless_named(build: Path, unrun: Request) -> None:
    notes = {outcome.variant: outcome.note for outcome in simulate.run(unrun).outcomes}
    assert {name for name, note in notes.items() if "messages take long" in note} == {
        "direct",
        "direct16",
        "direct4",
        "pairwise",
        "pairwise_xor",
    }
    assert notes["mesh"] == notes["native"] == ""
    unrun.strategies = ["pairwise"]
    assert simulate.run(unrun).outcomes[0].seconds == 1.0


def test_what_does_not_fit_into_memory_is_left_out(build: Path, unrun: Request) -> None:
    unrun.sizes = [65536]
    notes = [outcome.note for outcome in simulate.run(unrun).outcomes]
    assert all("of memory; 16 GiB are free" in note for note in notes)


# ---- Platforms


@pytest.mark.parametrize("name", ["gigabit", "lemieux"])
@pytest.mark.parametrize("nodes", [1, 2, 5, 16, 17, 256, 1024])
def test_platforms_have_a_host_for_every_rank(name: str, nodes: int) -> None:
    platform = platforms.read(ROOT / f"platforms/{name}.toml")
    cluster = ElementTree.fromstring(platform.xml(nodes)).find("cluster")
    assert cluster is not None
    last = int(cluster.attrib["radical"].split("-")[1])
    used = platforms.host_list(nodes + 1, nodes).split()
    assert len(used) == nodes + 1
    assert {int(host.removeprefix("node")) for host in used} == set(range(nodes)) <= set(range(last + 1))


def test_a_fat_tree_is_as_deep_as_its_hosts_need() -> None:
    tree = platforms.read(ROOT / "platforms/lemieux.toml").xml(256)
    assert 'topo_parameters="4;4,4,4,4;1,4,4,4;1,1,1,1"' in tree


def test_ranks_are_placed_as_the_plan_places_them(build: Path) -> None:
    model = plan.explain("alltoall", plan.Placement(11, nodes=4), 8)
    hosts = platforms.host_list(11, 4).split()
    assert [hosts.count(f"node{node}") for node in range(4)] == model["node_sizes"]


def test_a_damaged_platform_is_named(tmp_path: Path) -> None:
    file = tmp_path / "broken.toml"
    for text in ("summary = ", 'summary = "x"', "links = 3"):
        file.write_text(text)
        with pytest.raises(UsageError, match=r"broken\.toml is no platform"):
            platforms.read(file)
    file.write_text((ROOT / "platforms/gigabit.toml").read_text().replace('"star"', '"stair"'))
    with pytest.raises(UsageError, match="did you mean 'star'"):
        platforms.read(file)


# ---- Judging the model


def test_spearman() -> None:
    assert spearman([1, 2, 3], [10, 20, 300]) == 1
    assert spearman([1, 2, 3], [3, 2, 1]) == -1
    assert spearman([1, 1, 2, 3], [1, 1, 2, 3]) == 1
    assert spearman([1, 2], [1, 2]) is None
    assert spearman([1, 1, 1], [1, 2, 3]) is None


def test_the_models_first_choice_is_judged_by_simulated_times() -> None:
    judged = judge({"a": 4.0, "b": 2.0, "c": 3.0, "native": 1.0}, {"a": 1.0, "b": 2.0, "c": 3.0, "unrun": 0.1})
    assert judged is not None
    assert (judged.first, judged.best, judged.loss) == ("a", "b", 2.0)
    assert judged.correlation == pytest.approx(-0.5)
    assert judge({"native": 1.0}, {"mesh": 1.0}) is None


# ---- The command


def wherry(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "wherry", "simulate", *words], capture_output=True, text=True, env={**os.environ, **env}
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["altoall", "--platform", "gigabit", "-n", "4"], "did you mean 'alltoall'"),
        (["alltoall", "--platform", "gigabyte", "-n", "4"], "did you mean 'gigabit'"),
        (["alltoall", "--platform", "gigabit", "-n", "0"], "0 is not in the range"),
        (["alltoall", "--platform", "gigabit"], "'-n'"),
        (["alltoall", "-n", "4"], "'--platform'"),
        (["alltoall", "--platform", "gigabit", "-n", "4", "--sizes", "64,x"], "64,1024"),
    ],
)
def test_wrong_usage_says_what_to_write(build: Path, words: list[str], said: str) -> None:
    done = wherry(*words)
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.parametrize(
    ("strategy", "said"),
    [
        ("brucks", "did you mean 'bruck2'"),
        ("native:brick", "did you mean 'native:bruck'"),
        ("leader", "does not apply"),
    ],
)
def test_unknown_and_unfit_strategies(simgrid: None, strategy: str, said: str) -> None:
    done = wherry("alltoall", "--platform", "gigabit", "-n", "4", "--strategies", strategy)
    assert done.returncode == 2
    assert said in done.stderr


def test_without_simgrid_the_message_says_how_to_get_it(build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smpi, "_smpimain", lambda: None)
    with pytest.raises(WherryError, match="apt-get install libsimgrid-dev") as caught:
        simulate.request("alltoall", "gigabit", 4)
    assert caught.value.exit_code == 1


def test_without_its_program_the_message_says_to_build(
    build: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(smpi, "_smpimain", lambda: "/bin/true")
    monkeypatch.setattr(paths, "simulation_program", lambda name: tmp_path / name)
    with pytest.raises(WherryError, match="make build"):
        simulate.request("alltoall", "gigabit", 4)


def test_the_table_and_the_records_agree(simgrid: None, tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    done = wherry("alltoall", "--platform", "lemieux", "-n", "16", "--sizes", "64", "--json", str(file))
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, Any]] = json.loads(file.read_text())
    fields = {"bench", "case", "metric", "unit", "value", "baseline", "ratio", "mpi", "ranks", "samples"}
    assert all(fields <= row.keys() for row in rows)
    times = {row["variant"]: row for row in rows if row["metric"] == "simulated time"}
    assert set(times) == {"native", "native:mpich", *strategies_for(16, 4)}
    native = min(times["native"]["value"], times["native:mpich"]["value"])
    assert all(row["ratio"] == native / row["value"] for row in times.values())
    assert all(row["predicted_s"] > 0 for name, row in times.items() if not name.startswith("native"))
    (loss,) = [row["value"] for row in rows if row["metric"] == "loss of the model's choice"]
    assert loss >= 1
    (correlation,) = [row["value"] for row in rows if row["metric"].startswith("rank correlation")]
    assert -1 <= correlation <= 1
    assert "the model's first choice" in done.stdout
    assert all(name in done.stdout for name in times)
