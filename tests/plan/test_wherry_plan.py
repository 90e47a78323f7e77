"""wherry-plan as a program: JSON on stdout, errors on stderr with exit code 2."""

from __future__ import annotations

import json
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
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
        return subprocess.run([str(found[0]), *map(str, words)], capture_output=True, text=True, timeout=120)

    return run_it


def answer(run: Run, *words: object) -> Any:
    done = run(*words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_strategies_are_listed(run: Run) -> None:
    rows = answer(run, "strategies")
    hops = {row["name"]: row["hops"] for row in rows}
    assert hops["direct"] == "single"
    assert hops["mesh"] == "several"
    assert all(row["summary"] for row in rows)


def test_explain_sorts_candidates_and_gives_reasons(run: Run) -> None:
    told = answer(run, "explain", "--op", "alltoallv", "-n", 24, "--nodes", 5, "-m", 512)
    assert (told["op"], told["ranks"], told["nodes"], told["block_bytes"]) == ("alltoallv", 24, 5, 512)
    assert told["node_sizes"] == [5, 5, 5, 5, 4]
    seconds = [candidate["seconds"] for candidate in told["candidates"]]
    assert seconds == sorted(seconds)
    direct = next(candidate for candidate in told["candidates"] if candidate["name"] == "direct")
    assert (direct["messages"], direct["bytes"], direct["phases"]) == (23, 23 * 512, 1)
    names = {candidate["name"] for candidate in told["candidates"]} | {row["name"] for row in told["not_applicable"]}
    assert names == {row["name"] for row in answer(run, "strategies")}


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


def test_schedule_of_a_rank(run: Run) -> None:
    schedule = answer(run, "schedule", "bruck2", "-n", 16, "--rank", 3)
    assert (schedule["size"], schedule["rank"], len(schedule["phases"])) == (16, 3, 4)
    assert [phase["sends"][0]["peer"] for phase in schedule["phases"]] == [4, 5, 7, 11]


def test_every_strategy_is_valid_on_up_to_128_ranks(run: Run) -> None:
    proof = answer(run, "verify")
    assert proof["failures"] == []
    assert proof["strategies"] == len(answer(run, "strategies"))
    assert proof["schedules"] > 100_000


def test_verify_one_strategy(run: Run) -> None:
    proof = answer(run, "verify", "--max", 5, "--strategy", "direct")
    assert (proof["strategies"], proof["schedules"]) == (1, 1 + 2 + 3 + 4 + 5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no command given"),
        (["drow"], "did you mean 'draw'?"),
        (["draw", "mseh", "-n", "16"], "did you mean 'mesh'?"),
        (["draw", "mesh", "mesh", "-n", "16"], "unexpected 'mesh'"),
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
        (["schedule", "mesh", "-n", "4", "--rank", "4"], "no whole number from 0 to 3"),
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
