"""Simulated machines: exact times, asserted as such. Without SimGrid the tests that simulate are skipped."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from command_line import Invoke
from simulating import outcomes, strategies_for

from wherry import paths, simulate
from wherry.errors import UsageError, WherryError
from wherry.schedule import plan
from wherry.simulate import catalog, collective, picture, platforms, smpi
from wherry.simulate.collective import COUNTS, Outcome, Outcomes, Request
from wherry.simulate.ranking import evaluate, spearman

pytest_plugins = ["simulator"]

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def gigabit() -> platforms.Platform:
    return platforms.read(ROOT / "platforms/gigabit.toml")


def simulated(
    platform: str, ranks: int, size: int, strategies: list[str], per_node: int | None = None
) -> dict[str, float]:
    """Times of all-to-alls."""
    found = outcomes("alltoall", platform, ranks, size, strategies, per_node)
    return {outcome.variant: outcome.seconds or math.nan for outcome in found}


# ---- What is simulated


@pytest.mark.parametrize("platform", ["gigabit", "lemieux"])
@pytest.mark.parametrize("ranks", [4, 8, 16])
def test_two_runs_take_the_same_simulated_time(simgrid: None, platform: str, ranks: int) -> None:
    names = ["native", "native:mpich", "direct", "mesh", "bruck2"]
    first = simulated(platform, ranks, 1024, names)
    assert all(seconds > 0 for seconds in first.values())
    assert simulated(platform, ranks, 1024, names) == first


@pytest.mark.parametrize("name", simulate.NAMES)
@pytest.mark.parametrize(("ranks", "per_node"), [(4, 1), (7, 3), (8, 2), (16, 1), (16, 4)])
def test_messages_bytes_and_copies_are_those_of_the_model(simgrid: None, name: str, ranks: int, per_node: int) -> None:
    """And the data is right: the program checks it. Segments of whole bytes: the model knows no others."""
    request = simulate.request(name, "gigabit", ranks, per_node)
    size = 0 if name == "barrier" else 24 if request.collective.in_blocks else 16 * 7 * 256
    model = collective.model(request.collective, request.machine, size)
    request.sizes, request.strategies = [size], [str(row["name"]) for row in model["candidates"]]
    expected = {row["name"]: {count: row[count] for count in COUNTS} for row in model["candidates"]}
    assert {o.variant: o.counts for o in simulate.run(request).outcomes} == expected


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
    slow, fast = (smpi.run(machine, smpi.PROGRAM, [*args, rate], {}, 60) for rate in ("1e8", "1e18"))
    assert slow["copied_bytes"] == fast["copied_bytes"] > 0
    assert slow["seconds"] - fast["seconds"] == pytest.approx(slow["copied_bytes"] / 1e8, rel=0.01)


def test_few_messages_win_with_small_blocks_and_few_bytes_with_large_ones(simgrid: None) -> None:
    names = ["direct", "pairwise", "mesh", "bruck2"]
    small, large = simulated("gigabit", 64, 8, names), simulated("gigabit", 32, 65536, names)
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


@pytest.mark.parametrize("name", simulate.NAMES)
@pytest.mark.parametrize(("ranks", "size"), [(1, 64), (2, 64), (3, 0), (5, 1)])
def test_odd_numbers_of_ranks_and_empty_blocks(simgrid: None, name: str, ranks: int, size: int) -> None:
    request = simulate.request(name, "gigabit", ranks)
    request.sizes = [size]
    setting = simulate.run(request)
    ours = [outcome for outcome in setting.outcomes if not outcome.variant.startswith("native")]
    assert ours
    assert [outcome.note for outcome in ours if outcome.seconds is None] == []


def test_an_algorithm_of_the_simulator_that_fails_is_said(simgrid: None) -> None:
    """SMPI 3.32 divides by the number of bytes."""
    native, linear = outcomes("bcast", "gigabit", 3, 0, ["native", "linear"])
    assert native.seconds is None
    assert "ended with code" in native.note
    assert linear.seconds is not None


def test_a_case_that_takes_too_long_is_stopped_and_said(simgrid: None) -> None:
    request = simulate.request("alltoall", "gigabit", 256)
    request.sizes, request.strategies, request.limit_s = [64], ["direct"], 0.05
    (outcome,) = simulate.run(request).outcomes
    assert outcome.seconds is None
    assert "stopped after" in outcome.note


def test_a_program_that_fails_is_an_error_with_its_last_words(simgrid: None) -> None:
    machine = simulate.request("alltoall", "gigabit", 4).machine
    with pytest.raises(WherryError, match="'leader' does not exist or does not apply"):
        smpi.run(machine, smpi.PROGRAM, ["--strategy", "leader", "--size", "8", "--nodes", "4"], {}, 60)


@pytest.mark.parametrize("name", simulate.NAMES)
def test_all_algorithms_of_the_simulator_run(simgrid: None, name: str) -> None:
    """And give the right data. The names are those of SimGrid 3.32."""
    simulated = catalog.find(name)
    assert simulated is not None
    names = [f"native:{algorithm}" for algorithm in simulated.natives]
    found = outcomes(name, "lemieux", 16, simulated.sizes[0], names)
    assert [outcome.variant for outcome in found if outcome.seconds is None] == []


# ---- Long and large cases


def test_no_ratio_beside_a_native_call_without_a_time(gigabit: platforms.Platform) -> None:
    setting = Outcomes(catalog.COLLECTIVES[0], smpi.Machine(gigabit, 4, 1))
    setting.outcomes = [Outcome(64, "native", 3.0), Outcome(64, "native:mpich", 2.0), Outcome(64, "mesh", 1.0)]
    assert setting.native_s(64) == 2.0
    setting.outcomes[1] = Outcome(64, "native:mpich", note="stopped after 1 s")
    assert setting.native_s(64) is None


@pytest.fixture
def unrun(monkeypatch: pytest.MonkeyPatch, gigabit: platforms.Platform) -> Request:
    """A request of 1024 ranks whose cases are not simulated."""
    answer = {"library": "SMPI", "seconds": 1.0, "depth": 1, "chosen": "", **dict.fromkeys(COUNTS, 0)}
    monkeypatch.setattr(smpi, "run", lambda *_: dict(answer))
    monkeypatch.setattr(collective, "_free_bytes", lambda: 16 << 30)
    return Request(catalog.COLLECTIVES[0], smpi.Machine(gigabit, 1024, 1), [64])


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


def test_the_cost_model_knows_a_platform_by_its_figures(build: Path, gigabit: platforms.Platform) -> None:
    """One link up and one down between any two hosts of a switch; eight in a fat tree of four levels."""
    lemieux = platforms.read(ROOT / "platforms/lemieux.toml")
    for platform, nodes, alpha_s, latency_s in ((gigabit, 1024, 8e-6, 40e-6), (lemieux, 256, 3e-6, 4e-6)):
        words = ("--constants", platform.constants(nodes))
        known = plan.explain("alltoall", plan.Placement(4), 8, constants=words)["priced_by"]["constants"]
        assert known["alpha_between"] == pytest.approx(alpha_s)
        assert known["latency_between"] == pytest.approx(latency_s)
        assert (known["congestion"], known["rendezvous"]) == (0, 1)
    assert known["beta_between"] == pytest.approx(1 / 300e6)


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
    file.write_text((ROOT / "platforms/gigabit.toml").read_text().replace("125MBps", "125MB"))
    with pytest.raises(UsageError, match="'125MB' has none of the units MBps, GBps, us, ns"):
        platforms.read(file)
    file.write_text((ROOT / "platforms/gigabit.toml").read_text().replace('"star"', '"stair"'))
    with pytest.raises(UsageError, match="did you mean 'star'"):
        platforms.read(file)


# ---- Evaluating the model


def test_spearman() -> None:
    assert spearman([1, 2, 3], [10, 20, 300]) == 1
    assert spearman([1, 2, 3], [3, 2, 1]) == -1
    assert spearman([1, 1, 2, 3], [1, 1, 2, 3]) == 1
    assert spearman([1, 2], [1, 2]) is None
    assert spearman([1, 1, 1], [1, 2, 3]) is None


def test_the_models_first_choice_is_evaluated_by_simulated_times() -> None:
    evaluated = evaluate({"a": 4.0, "b": 2.0, "c": 3.0, "native": 1.0}, {"a": 1.0, "b": 2.0, "c": 3.0, "unrun": 0.1})
    assert evaluated is not None
    assert (evaluated.first, evaluated.best, evaluated.loss) == ("a", "b", 2.0)
    assert evaluated.correlation == pytest.approx(-0.5)
    assert evaluate({"native": 1.0}, {"mesh": 1.0}) is None


# ---- The command


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["altoall", "--platform", "gigabit", "-n", "4"], "did you mean 'alltoall'"),
        (["alltoall", "--platform", "gigabyte", "-n", "4"], "did you mean 'gigabit'"),
        (["alltoall", "--platform", "gigabit", "-n", "0"], "0 is not in the range"),
        (["alltoall", "--platform", "gigabit", "-n", "4,20000"], "20000 is not in the range"),
        (["alltoall", "--platform", "gigabit", "-n", "4,,8"], "numbers with commas"),
        (["alltoall", "--platform", "gigabit", "-n", "4,8,4"], "4 stands there 2 times"),
        (["alltoall", "--platform", "gigabit"], "'-n'"),
        (["bcast", "--platform", "gigabit", "-n", "4", "--plot", "/nowhere/x.svg"], "cannot write /nowhere/x.svg"),
        (["alltoall", "-n", "4"], "'--platform'"),
        (["alltoall", "--platform", "gigabit", "-n", "4", "--sizes", "64,x"], "64,1024"),
    ],
)
def test_wrong_usage_says_what_to_write(build: Path, simulation: Invoke, words: list[str], said: str) -> None:
    done = simulation(*words)
    assert done.code == 2
    assert said in done.err


@pytest.mark.parametrize(
    ("strategy", "said"),
    [
        ("brucks", "did you mean 'bruck2'"),
        ("native:brick", "did you mean 'native:bruck'"),
        ("leader", "does not apply"),
        ("wherry:mash", "did you mean 'wherry:mesh'"),
    ],
)
def test_unknown_and_unfit_strategies(simgrid: None, simulation: Invoke, strategy: str, said: str) -> None:
    done = simulation("alltoall", "--platform", "gigabit", "-n", "4", "--strategies", strategy)
    assert done.code == 2
    assert said in done.err


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
    with pytest.raises(WherryError, match="make all"):
        simulate.request("alltoall", "gigabit", 4)


def test_the_table_and_the_records_agree(simgrid: None, simulation: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    done = simulation("alltoall", "--platform", "lemieux", "-n", "16", "--sizes", "64", "--json", file)
    assert done.code == 0, done.err
    rows: list[dict[str, Any]] = json.loads(file.read_text())
    fields = {"bench", "case", "metric", "unit", "value", "baseline", "ratio", "mpi", "ranks", "samples"}
    assert all(fields <= row.keys() for row in rows)
    times = {row["variant"]: row for row in rows if row["metric"] == "simulated time"}
    assert set(times) == {
        "native",
        "native:mpich",
        *strategies_for("alltoall", simulate.request("alltoall", "lemieux", 16).machine),
    }
    native = min(times["native"]["value"], times["native:mpich"]["value"])
    assert all(row["ratio"] == native / row["value"] for row in times.values())
    assert all(row["predicted_s"] > 0 for name, row in times.items() if not name.startswith("native"))
    (loss,) = [row["value"] for row in rows if row["metric"] == "loss of the model's choice"]
    assert loss >= 1
    (correlation,) = [row["value"] for row in rows if row["metric"].startswith("rank correlation")]
    assert -1 <= correlation <= 1
    assert "the model's first choice" in done.out
    assert all(name in done.out for name in times)


def test_all_numbers_of_ranks_are_checked_before_the_first_simulation(
    simgrid: None, simulation: Invoke, tmp_path: Path
) -> None:
    file = tmp_path / "out.json"
    words = ["alltoall", "--platform", "gigabit", "--sizes", "64", "--strategies", "native,leader"]
    done = simulation(*words, "--per-node", "2", "-n", "8,2", "--json", file)
    assert done.code == 2
    assert "'leader' does not apply to 2 ranks on 1 node" in done.err
    assert done.out == ""
    assert not file.exists()


def test_several_numbers_of_ranks_make_curves(simgrid: None, simulation: Invoke, tmp_path: Path) -> None:
    file, plot = tmp_path / "out.json", tmp_path / "out.svg"
    words = [
        "allreduce",
        "--platform",
        "lemieux",
        "-n",
        "4,8",
        "--sizes",
        "64,1024",
        "--strategies",
        "native,ring,wherry",
    ]
    done = simulation(*words, "--json", file, "--plot", plot)
    assert done.code == 0, done.err
    assert "MPI_Allreduce, 4 ranks on 1 node" in done.out
    assert "MPI_Allreduce, 8 ranks on 2 nodes" in done.out
    assert "wherry learned to run: " in done.out
    times = [row for row in json.loads(file.read_text()) if row["metric"] == "simulated time"]
    assert [(row["ranks"], row["size"]) for row in times if row["variant"] == "ring"] == [
        (4, 64),
        (4, 1024),
        (8, 64),
        (8, 1024),
    ]
    tree = ElementTree.parse(plot)
    said = "".join(tree.getroot().itertext())
    assert all(word in said for word in ("ring", "native", "wherry", "1 KiB", "lemieux", "ranks"))


def test_curves_leave_out_what_has_no_time(gigabit: platforms.Platform) -> None:
    settings = []
    for ranks, seconds in ((4, 1.0), (8, None), (16, 3.0)):
        setting = Outcomes(catalog.COLLECTIVES[0], smpi.Machine(gigabit, ranks, 1))
        setting.outcomes = [Outcome(64, "mesh", seconds), Outcome(64, "native", 2.0)]
        settings.append(setting)
    assert picture.curve(settings, 64, "mesh") == ([4, 16], [1.0, 3.0])


def test_a_picture_of_nothing_is_refused(gigabit: platforms.Platform, tmp_path: Path) -> None:
    setting = Outcomes(catalog.COLLECTIVES[0], smpi.Machine(gigabit, 4, 1))
    setting.outcomes = [Outcome(64, "mesh", note="stopped after 1 s")]
    with pytest.raises(WherryError, match="nothing to draw"):
        picture.draw([setting], tmp_path / "out.svg")
    assert not (tmp_path / "out.svg").exists()
