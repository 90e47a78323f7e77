"""nbody on simulated Gigabit nodes: computing takes so many pairs a second, so every time is exact.

The best scheme comes near to what computing or the wire allows, and the automatic choice finds it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wherry import trace
from wherry.errors import UsageError
from wherry.simulate import application
from wherry.study.nbody import runs, simulated
from wherry.study.nbody.simulated import SimulatedCase

LIMIT_S = 300.0
RATE = simulated.PAIRS_PER_S


@pytest.fixture(autouse=True)
def simulator(build: Path) -> None:
    if why := application.why_missing("nbody"):
        pytest.skip(why)


def run(ranks: int, *words: str | Path) -> list[dict[str, object]]:
    fixed = ("--steps", "2", "--with", "mpi", *map(str, words))
    return application.run(
        application.ApplicationRequest("nbody", simulated.machine(ranks, 1), (fixed,), LIMIT_S)
    ).records


def steps_s(ranks: int, *words: str | Path) -> list[float]:
    row = run(ranks, *words)[0]
    samples = row["samples"]
    assert isinstance(samples, list)
    return [float(value) for value in samples[0]["native"]]


#: Simulated seconds of two timesteps on 4 ranks, of 256 bodies; of 2048 where fewer are not worth it.
TIMES = {
    "equal": [0.0008405391999999961, 0.0007963471999999959],
    "balanced": [0.0008460687999999961, 0.0008018767999999959],
    "replicated": [0.00029331200000000043, 0.00020492800000000005],
    "overlapped": [0.00202160359999999, 0.0019332189333333616],
    "allgather": [0.00023229672727272848, 0.0001439127272727281],
    "ring": [0.00024229385264629057, 0.0002059810996653728],
    # Of 4 ranks the smallest cover is the half ring.
    "quorum": [0.00024229385264629057, 0.0002059810996653728],
    "grid": [0.0003379712000000008, 0.0002495871999999991],
}


@pytest.mark.parametrize("scheme", sorted(TIMES))
def test_times_are_exact(scheme: str) -> None:
    bodies = "2048" if scheme == "overlapped" else "256"
    assert steps_s(4, "--bodies", bodies, "--scheme", scheme) == pytest.approx(TIMES[scheme], rel=1e-9)


def test_few_pairs_are_not_worth_overlapping() -> None:
    assert steps_s(4, "--bodies", "256", "--scheme", "overlapped") == pytest.approx(TIMES["replicated"], rel=1e-9)


@pytest.mark.parametrize("scheme", ["replicated", "grid", "quorum", "allgather"])
def test_to_pretend_takes_as_long_as_to_compute(scheme: str) -> None:
    words = ("--bodies", "300", "--scheme", scheme)
    assert steps_s(5, *words) == pytest.approx(steps_s(5, *words, "--pretend"), rel=1e-9)


def pairs_of(rank: int, ranks: int, bodies: int) -> int:
    """In equal shares of the rows of the triangle."""
    rows = range(bodies * rank // ranks, bodies * (rank + 1) // ranks)
    return sum(bodies - 1 - row for row in rows)


@pytest.mark.parametrize("scheme", ["equal", "balanced"])
def test_a_trace_shows_the_shares(scheme: str, tmp_path: Path) -> None:
    ranks, bodies = 8, 512
    file = tmp_path / "trace.json"
    run(ranks, "--bodies", str(bodies), "--scheme", scheme, "--trace", file)
    traced = trace.read(file)
    whole = bodies * (bodies - 1) // 2
    for rank, spans in traced.ranks.items():
        computing = [span.seconds for span in spans if span.kind == trace.COMPUTE]
        pairs = pairs_of(rank, ranks, bodies) if scheme == "equal" else whole / ranks
        # The file has three digits behind a microsecond.
        assert computing == pytest.approx([pairs / RATE] * 2, abs=2.1e-9)
    waited = [traced.seconds(rank)[trace.WAIT] for rank in traced.ranks]
    if scheme == "equal":
        # Later ranks have less to do and wait for the first.
        assert waited[-1] > waited[0] + (pairs_of(0, ranks, bodies) - pairs_of(ranks - 1, ranks, bodies)) / RATE


@pytest.mark.parametrize(("bodies", "share"), [(4096, 0.58), (16384, 0.9), (65536, 0.9)])
def test_the_automatic_choice_is_within_5_percent_of_the_best(bodies: int, share: float) -> None:
    """share: of max(compute, wire) that the best scheme reaches; with 256 bodies a rank latencies count too."""
    where = simulated.machine(16, 1)
    # Minutes with many bodies; it is never the best.
    names = [name for name in simulated.SCHEME_NAMES if name != "overlapped"]
    times = {name: simulated.timestep(SimulatedCase(where, bodies, name)) for name in names}
    best = min(times.values(), key=lambda row: row["value"])
    chosen = simulated.timestep(SimulatedCase(where, bodies, simulated.AUTO))["ran"]
    assert times[chosen]["value"] <= 1.05 * best["value"], (chosen, best["scheme"])
    assert best["bound_s"] >= share * best["value"], (best["scheme"], best["bound_s"] / best["value"])


def test_a_quorum_sends_half_as_much_as_the_ring_and_takes_less_than_0_7_of_its_time() -> None:
    where = simulated.machine(16, 1)
    ring, quorum = (simulated.timestep(SimulatedCase(where, 4096, name)) for name in ("ring", "quorum"))
    ring_bytes, quorum_bytes = (row["sent_bytes"] + row["sent_while_computing_bytes"] for row in (ring, quorum))
    assert (ring["pairs"], ring_bytes) == (quorum["pairs"], 2 * quorum_bytes)
    assert quorum["value"] < 0.7 * ring["value"]
    assert ring["bound_s"] > 0.78 * ring["value"]


def test_an_allreduce_can_be_overlapped() -> None:
    where = simulated.machine(16, 1)
    blocking, overlapped = (
        simulated.timestep(SimulatedCase(where, 4096, name)) for name in ("replicated", "overlapped")
    )
    assert overlapped["value"] < 0.85 * blocking["value"]


def test_records_say_what_an_acceleration_costs() -> None:
    row = run(4, "--bodies", "256", "--scheme", "ring")[0]
    block = 24 * 256 / 4
    assert [row[name] for name in runs.COSTS] == [256 * 256 / 2 / 4, block, 3 * block, 2 + 4 / 6]


def test_the_command_names_bodies_and_schemes() -> None:
    asked = application.request("nbody", "gigabit", 3, None, (64, 65536), LIMIT_S, ("ring", "grid"))
    assert [words[:4] for words in asked.runs] == [
        ("--bodies", bodies, "--scheme", scheme) for bodies in ("64", "65536") for scheme in ("ring", "grid")
    ]
    assert ["--pretend" in words for words in asked.runs] == [False, False, True, True]
    with pytest.raises(UsageError, match="--strategies: 'star' is none of auto"):
        application.run(application.request("nbody", "gigabit", 3, None, None, LIMIT_S, ("star",)))


def test_what_is_computed_is_checked() -> None:
    asked = application.request("nbody", "gigabit", 3, None, (100,), LIMIT_S, ("grid",))
    assert "checked: accelerations agree with the scalar kernel's" in application.run(asked).text


def test_json_is_json(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    run(2, "--bodies", "1024", "--scheme", "overlapped", "--trace", file)
    assert {event["ph"] for event in json.loads(file.read_text())["traceEvents"]} == {"M", "X"}
