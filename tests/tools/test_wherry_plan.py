"""wherry-plan as a program: JSON on stdout, errors on stderr with exit code 2."""

from __future__ import annotations

import json
import subprocess
import tomllib
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def run(build: Path) -> Run:
    found = sorted(build.rglob("wherry-plan"))
    if not found:
        pytest.skip("wherry-plan is not built yet; run: make build")

    def run_it(*words: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(found[0]), *map(str, words)], capture_output=True, text=True, timeout=300)

    return run_it


def answer(run: Run, *words: object) -> Any:
    done = run(*words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_strategies_are_listed(run: Run) -> None:
    rows = answer(run, "strategies")
    hops = {row["name"]: row["hops"] for row in rows if "alltoall" in row["operations"]}
    assert hops["direct"] == "single"
    assert hops["mesh"] == "several"
    assert all(row["summary"] and row["needs"] for row in rows)
    pipelined = {row["name"]: row["pipelined"] for row in rows if row["operations"] == ["bcast"]}
    assert pipelined["chain"]
    assert not pipelined["binomial"]


def test_every_collective_has_strategies(run: Run) -> None:
    table = tomllib.loads((Path(__file__).resolve().parents[2] / "tools/mpi_functions.toml").read_text())
    collectives = {name.lower() for call in table["call"] if call.get("replaceable") for name in call["names"]}
    assert len(collectives) >= 11
    rows = answer(run, "strategies")
    assert {operation for row in rows for operation in row["operations"]} == collectives
    pairs = [(operation, row["name"]) for row in rows for operation in row["operations"]]
    assert len(pairs) == len(set(pairs))


def test_explain_sorts_candidates_and_gives_reasons(run: Run) -> None:
    told = answer(run, "explain", "--op", "alltoallv", "-n", 24, "--nodes", 5, "-m", 512)
    assert (told["op"], told["ranks"], told["nodes"], told["block_bytes"]) == ("alltoallv", 24, 5, 512)
    assert told["node_sizes"] == [5, 5, 5, 5, 4]
    seconds = [candidate["seconds"] for candidate in told["candidates"]]
    assert seconds == sorted(seconds)
    direct = next(candidate for candidate in told["candidates"] if candidate["name"] == "direct")
    assert (direct["messages"], direct["bytes"], direct["phases"]) == (23, 23 * 512, 1)
    assert names_in(told) == names_of(run, "alltoallv")


def names_in(told: Any) -> set[str]:
    return {row["name"] for row in [*told["candidates"], *told["not_applicable"]]}


def names_of(run: Run, operation: str) -> set[str]:
    return {row["name"] for row in answer(run, "strategies") if operation in row["operations"]}


IN_BLOCKS = ("allgather", "allgatherv", "gather", "scatter", "reduce_scatter_block", "reduce_scatter")
OPERATIONS = (*IN_BLOCKS, "bcast", "reduce", "allreduce", "barrier")


@pytest.mark.parametrize("operation", ["alltoall", *OPERATIONS])
def test_explain_tells_of_every_strategy_and_what_is_tried(run: Run, operation: str) -> None:
    # A power of two, and root 0: what the runtime decides by.
    question = ["explain", "--op", operation, "-n", 24, "--nodes", 5, "-m", 4096]
    told = answer(run, *question)
    assert told["op"] == operation
    assert names_in(told) == names_of(run, operation)
    native, *tried = told["tried"]
    assert native == "native"
    assert told["candidates"][0]["name"] in tried
    # As the list is made: also with latencies four times as long. There a pipeline may be of another depth.
    slower = answer(run, *question, "--constants", "latency_between=80e-6,latency_within=2e-6")
    costs, slow_costs = ({row["name"]: row["seconds"] for row in one["candidates"]} for one in (told, slower))
    pipelines = {row["name"] for row in told["candidates"] if "depth" in row}
    expected = [costs[name] * slow_costs[name] for name in tried if name not in pipelines]
    assert all(earlier <= later * (1 + 1e-9) for earlier, later in pairwise(expected))


def test_sizes_are_of_a_block_or_of_the_whole_buffer(run: Run) -> None:
    for operation in OPERATIONS:
        told = answer(run, "explain", "--op", operation, "-n", 8, "-m", 1000)
        assert told["block_bytes" if operation in IN_BLOCKS else "buffer_bytes"] == 1000
        assert ("root" in told) == (operation in ("bcast", "gather", "scatter", "reduce"))
    allgather = answer(run, "explain", "--op", "allgather", "-n", 8, "-m", 1000)
    ring = next(row for row in allgather["candidates"] if row["name"] == "ring")
    assert (ring["messages"], ring["bytes"], ring["phases"]) == (7, 7000, 7)
    bcast = answer(run, "explain", "--op", "bcast", "-n", 8, "-m", 1000)
    linear = next(row for row in bcast["candidates"] if row["name"] == "linear")
    assert (linear["messages"], linear["bytes"], linear["phases"]) == (7, 7000, 1)


NEIGHBORHOODS = tuple(f"neighbor_{name}" for name in ("alltoall", "alltoallv", "alltoallw", "allgather", "allgatherv"))


@pytest.mark.parametrize("operation", NEIGHBORHOODS)
def test_explain_tells_of_a_stencil(run: Run, operation: str) -> None:
    told = answer(run, "explain", "--op", operation, "--grid", "4x4x4", "--nodes", 4, "-m", 8)
    assert (told["ranks"], told["neighbors"], told["block_bytes"]) == (64, 26, 8)
    assert names_in(told) == names_of(run, operation)
    messages = {row["name"]: row["messages"] for row in told["candidates"]}
    assert (messages["direct"], messages["dimensions"]) == (26, 6)
    costs = {row["name"]: row["seconds"] for row in told["candidates"]}
    native, *tried = told["tried"]
    assert native == "native"
    assert [costs[name] for name in tried] == sorted(costs[name] for name in tried)
    far = answer(run, "explain", "--op", operation, "--grid", "8x8", "--reach", 2, "-m", 8)
    assert far["neighbors"] == 24


def test_few_neighbors_on_one_node_are_native(run: Run) -> None:
    told = answer(run, "explain", "--op", "neighbor_alltoall", "--grid", "4x4", "--nodes", 1, "-m", 8)
    assert told["tried"] == ["native"]
    assert {row["name"] for row in told["not_applicable"]} == {"rounds4", "leader", "node_aware"}


def test_a_stencil_is_drawn_and_its_schedules_shown(run: Run) -> None:
    done = run("draw", "neighbor_alltoall", "dimensions", "--grid", "3x3", "--format", "text")
    assert done.stdout.startswith("neighbor_alltoall dimensions on 9 ranks\n")
    assert done.stdout.count("2 messages per rank, 3 blocks each") == 2
    shown = answer(run, "schedule", "neighbor_alltoallv", "direct", "--grid", "3x3", "--rank", 4)
    (phase,) = shown["phases"]
    assert sorted(message["peer"] for message in phase["sends"]) == [0, 1, 2, 3, 5, 6, 7, 8]


def test_neighborhoods_are_proved(run: Run) -> None:
    told = answer(run, "verify", "--op", "neighbor_alltoallv", "--max", 9)
    assert told["failures"] == []
    assert told["strategies"] == 6
    assert told["schedules"] > 1000


def test_a_barrier_needs_no_size(run: Run) -> None:
    told = answer(run, "explain", "--op", "barrier", "-n", 8)
    assert told["buffer_bytes"] == 0
    assert told["candidates"][0]["bytes"] == 0


def test_the_depth_of_pipelines(run: Run) -> None:
    def depth(size: int) -> int:
        told = answer(run, "explain", "--op", "bcast", "-n", 8, "-m", size)
        return int(next(row["depth"] for row in told["candidates"] if row["name"] == "chain"))

    assert depth(8) == 1
    assert depth(1 << 24) > 8


def test_the_order_of_reductions(run: Run) -> None:
    told = answer(run, "explain", "--op", "reduce_scatter", "-n", 4, "-m", 8)
    kept = {row["name"]: row["keeps_order"] for row in told["candidates"]}
    assert kept == {
        "direct": True,
        "recursive_halving": False,
        "recursive_halving_ordered": True,
        "bruck": False,
        "pairwise": False,
        "ring": False,
    }
    assert told["tried_in_order"] == ["native", "direct", "recursive_halving_ordered"]
    dealt_out = answer(run, "explain", "--op", "reduce", "-n", 4, "--node-of", "0,1,0,1", "-m", 8)
    assert not next(row["keeps_order"] for row in dealt_out["candidates"] if row["name"] == "node_aware")
    assert "tried_in_order" not in answer(run, "explain", "--op", "bcast", "-n", 4, "-m", 8)


def test_costs_are_those_of_the_root_and_the_choice_is_not(run: Run) -> None:
    first, last = (
        answer(run, "explain", "--op", "scatter", "-n", 5, "--node-of", "0,0,0,0,1", "--root", root, "-m", 64)
        for root in (0, 4)
    )
    assert first["tried"] == last["tried"]

    def off_node(told: Any) -> int:
        return int(next(row["messages_between"] for row in told["candidates"] if row["name"] == "linear"))

    assert (off_node(first), off_node(last)) == (1, 4)


def test_sizes_of_a_class_share_the_choice(run: Run) -> None:
    """The runtime tries the same for all sizes of a class, of which the largest counts."""

    def told(size: int) -> Any:
        return answer(run, "explain", "--op", "allreduce", "-n", 24, "--nodes", 5, "-m", size)

    small, inside, largest = told(4096), told(4097), told(8192)
    assert inside["tried"] == largest["tried"] != small["tried"]
    assert small["candidates"][0]["seconds"] < inside["candidates"][0]["seconds"] < largest["candidates"][0]["seconds"]


def test_what_needs_too_much_staging_is_left_out(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("explain", "--op", "allreduce", "-n", 8, "-m", 1 << 20)
    assert len(answer(run, *words)["tried"]) > 1
    monkeypatch.setenv("WHERRY_STAGING_MAX", "64K")
    told = answer(run, *words)
    assert told["tried"] == ["native"]
    assert told["candidates"] == []
    why = {row["name"]: row["why"] for row in told["not_applicable"]}
    assert why["direct"] == "may need 8 MiB of staging, and WHERRY_STAGING_MAX allows 64 KiB"


def test_irregular_all_to_alls_stage_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("explain", "--op", "alltoallv", "-n", 24, "--nodes", 5, "-m", 4096)
    everything = {row["name"] for row in answer(run, *words)["candidates"]}
    monkeypatch.setenv("WHERRY_STAGING_MAX", "64K")
    told = answer(run, *words)
    why = {row["name"]: row["why"] for row in told["not_applicable"]}
    assert "mesh" in everything and why["mesh"].startswith("may need")
    left = {row["name"] for row in told["candidates"]}
    assert left == everything - why.keys()
    assert "direct" in left


def test_explain_says_why_a_strategy_does_not_apply(run: Run) -> None:
    told = answer(run, "explain", "-n", 4, "--nodes", 1, "-m", 8)
    why = {row["name"]: row["why"] for row in told["not_applicable"]}
    assert why["leader"].startswith("needs several nodes")
    assert "mesh" not in why


def test_the_same_placement_in_two_ways(run: Run) -> None:
    listed = answer(run, "explain", "-n", 4, "--node-of", "7,7,3,3", "-m", 8)
    spread = answer(run, "explain", "-n=4", "--nodes=2", "-m=8")
    assert listed == spread


def test_draw_svg_and_text(run: Run) -> None:
    picture = run("draw", "mesh", "-n", 16, "--nodes", 4)
    assert picture.returncode == 0
    assert ElementTree.fromstring(picture.stdout).tag == "{http://www.w3.org/2000/svg}svg"
    text = run("draw", "mesh", "-n", 16, "--format", "text")
    assert "phase 2: 3 messages per rank, 4 blocks each" in text.stdout


def test_draw_segments(run: Run) -> None:
    picture = run("draw", "allreduce", "rabenseifner", "-n", 8)
    assert picture.returncode == 0
    root = ElementTree.fromstring(picture.stdout)
    assert "allreduce rabenseifner on 8 ranks" in "".join(root.itertext())
    text = run("draw", "bcast", "chain", "-n", 4, "--root", 2, "--depth", 3, "--format", "text").stdout
    assert text.startswith("bcast chain on 4 ranks, root 2, depth 3\n")
    assert "step 3: 1 message per rank, 1 segment each\n  0 ->  1 [0]\n  2 ->  3 [2]\n  3 ->  0 [1]\n" in text
    assert run("draw", "alltoallv", "mesh", "-n", 4).stdout == run("draw", "mesh", "-n", 4).stdout


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_segment_strategy_can_be_drawn(run: Run, operation: str) -> None:
    for name in sorted(names_of(run, operation)):
        picture = run("draw", operation, name, "-n", 20 if name == "direct16" else 8, "--nodes", 4)
        assert picture.returncode == 0, (name, picture.stderr)
        ElementTree.fromstring(picture.stdout)


def test_segment_schedule_of_a_rank(run: Run) -> None:
    schedule = answer(run, "schedule", "reduce", "binomial", "-n", 4, "--root", 0, "--rank", 0)
    assert (schedule["segments"], [phase["step"] for phase in schedule["phases"]]) == (1, [0, 1])
    receives = [phase["receives"][0] for phase in schedule["phases"]]
    assert [(message["peer"], message["action"]) for message in receives] == [
        (1, "combine_after"),
        (2, "combine_after"),
    ]
    assert receives[0]["ranges"] == [{"first": 0, "count": 1}]


def test_schedule_of_a_rank(run: Run) -> None:
    schedule = answer(run, "schedule", "bruck2", "-n", 16, "--rank", 3)
    assert (schedule["size"], schedule["rank"], len(schedule["phases"])) == (16, 3, 4)
    assert [phase["sends"][0]["peer"] for phase in schedule["phases"]] == [4, 5, 7, 11]


def test_every_strategy_is_valid_on_up_to_128_ranks(run: Run) -> None:
    proof = answer(run, "verify")
    assert proof["failures"] == []
    assert proof["strategies"] == len(answer(run, "strategies"))
    assert proof["schedules"] > 1_000_000


def test_verify_one_strategy(run: Run) -> None:
    proof = answer(run, "verify", "--max", 5, "--strategy", "direct")
    assert (proof["strategies"], proof["schedules"]) == (1, 1 + 2 + 3 + 4 + 5)


def test_verify_an_operation(run: Run) -> None:
    one = answer(run, "verify", "--max", 5, "--op", "gather", "--strategy", "linear")
    assert (one["strategies"], one["schedules"]) == (1, 1 + 2 * (2 + 3 + 4 + 5))  # with two roots
    depths = answer(run, "verify", "--max", 4, "--op", "bcast", "--strategy", "chain")
    assert (depths["strategies"], depths["schedules"]) == (1, 2 * 2 * (3 + 4))  # and two depths, from 3 ranks on
    assert answer(run, "verify", "--max", 2, "--op", "gather")["strategies"] == len(names_of(run, "gather"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no command given"),
        (["drow"], "did you mean 'draw'?"),
        (["draw", "mseh", "-n", "16"], "did you mean 'mesh'?"),
        (["draw", "MESH", "-n", "16"], "did you mean 'mesh'?"),
        (["draw", "mesh", "mesh", "-n", "16"], "unknown operation 'mesh'"),
        (["draw", "bcast", "chain", "mesh", "-n", "16"], "unexpected 'mesh'"),
        (["draw", "-n", "16"], "no strategy named"),
        (["draw", "mesh", "-n", "16", "--format", "png"], "unknown format 'png' (have: svg, text)"),
        (["draw", "mesh", "-n", "200"], "draw at most 128 ranks"),
        (["draw", "leader", "-n", "16"], "it needs several nodes"),
        (["explain", "-n", "24", "--nods", "5", "-m", "8"], "did you mean '--nodes'?"),
        (["explain", "-n", "24", "--nodes", "25", "-m", "8"], "'25' is no whole number from 1 to 24"),
        (["explain", "-n", "3", "--node-of", "0,1", "-m", "8"], "places 2 ranks of 3"),
        (["explain", "-n", "2", "--node-of", "0,,1", "-m", "8"], "no whole number"),
        (["explain", "-n", "2", "--node-of", "0,1", "--nodes", "2", "-m", "8"], "exclude each other"),
        (["explain", "-n", "2"], "-m is missing"),
        (["explain", "-m", "2"], "-n is missing"),
        (["explain", "-n", "0", "-m", "2"], "no whole number from 1"),
        (["explain", "-n", "99999999999999999999", "-m", "2"], "no whole number"),
        (["explain", "-n", "2", "-n", "3", "-m", "2"], "given twice"),
        (["explain", "-n", "2", "-m"], "has no value"),
        (["explain", "--op", "alltoal", "-n", "2", "-m", "8"], "did you mean 'alltoall'?"),
        (["draw", "alreduce", "-n", "4"], "did you mean 'allreduce'?"),
        (["draw", "allreduce", "-n", "4"], "which strategy of allreduce? name one after it (have: direct, mesh,"),
        (["draw", "allreduce", "rign", "-n", "4"], "unknown allreduce strategy 'rign'"),
        (["draw", "allreduce", "rign", "-n", "4"], "did you mean 'ring'?"),
        (["draw", "allredce", "ring", "-n", "4"], "did you mean 'allreduce'?"),
        (["draw", "ring", "-n", "4"], "but one of allgather, allgatherv, allreduce, "),
        (["draw", "allreduce", "ring", "-n", "4", "--root", "1"], "allreduce has no root; leave it out"),
        (["draw", "bcast", "linear", "-n", "4", "--root", "4"], "--root '4' is no whole number from 0 to 3"),
        (["draw", "bcast", "linear", "-n", "4", "--depth", "2"], "linear is not pipelined; leave it out"),
        (["draw", "bcast", "chain", "-n", "4", "--depth", "257"], "no whole number from 1 to 256"),
        (["draw", "bcast", "chain", "-n", "2"], "it needs at least 3 ranks"),
        (["explain", "--op", "reduce_scater", "-n", "2", "-m", "8"], "did you mean 'reduce_scatter'?"),
        (["explain", "--op", "allreduce", "-n", "2"], "-m is missing"),
        (["explain", "--op", "allgather", "-n", "2", "-m", "8", "--root", "0"], "allgather has no root"),
        (["verify", "--op", "alreduce"], "did you mean 'allreduce'?"),
        (["schedule", "mesh", "-n", "4", "--rank", "4"], "no whole number from 0 to 3"),
        (["explain", "--op", "neighbor_alltoall", "-n", "4", "-m", "8"], "name a grid, such as --grid 4x4x4"),
        (["explain", "-n", "4", "--grid", "2x2", "-m", "8"], "alltoall has no neighbors; leave it out"),
        (["explain", "--op", "neighbor_alltoall", "--grid", "2x", "-m", "8"], "--grid: extent '' is no whole number"),
        (["explain", "--op", "neighbor_alltoall", "--grid", "2x2", "-n", "5", "-m", "8"], "holds 4 ranks, not 5"),
        (["explain", "--op", "neighbor_alltoall", "--grid", "2x2x2x2", "-m", "8"], "4 dimensions; name at most 3"),
        (["explain", "--op", "neighbor_alltoall", "--grid", "999x999", "-m", "8"], "more than 16384 ranks"),
        (["draw", "neighbor_alltoall", "leader", "--grid", "4x4", "--nodes", "1"], "several edges from one node"),
        (["draw", "neighbor_alltoall", "mesh", "--grid", "4x4"], "is no strategy of neighbor_alltoall (have: direct,"),
    ],
)
def test_wrong_usage(run: Run, words: list[str], message: str) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("wherry-plan: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_output_that_cannot_be_written(run: Run, build: Path) -> None:
    program = sorted(build.rglob("wherry-plan"))[0]
    with open("/dev/full", "w") as full:
        done = subprocess.run([str(program), "strategies"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert "cannot write" in done.stderr
