"""Benchmarks: samples in, records out. No test here looks at a clock."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from scripted import Script, fake_mpi, line, texts_of

from wherry.bench import (
    alltoall,
    chooser,
    executor,
    patterns,
    picture,
    preload,
    registry,
    serialization,
    sparse,
    typed,
    verify,
    window,
)
from wherry.cli.bench import bench as command
from wherry.errors import UsageError, WherryError
from wherry.measure.harness import BenchTable, Setup, best_median, parse
from wherry.measure.record import Measurement
from wherry.run.mpis import Mpi
from wherry.schedule import plan

ROOT = Path(__file__).resolve().parents[3]

VARIANTS = ("native", "wherry")
FIELDS = {"bench", "case", "metric", "unit", "value", "baseline", "ratio", "mpi", "ranks", "samples", "machine"}


@pytest.fixture
def mpi_() -> Mpi:
    return fake_mpi()


def test_the_statistic_is_the_minimum_of_medians() -> None:
    assert best_median([[1, 2, 300], [5, 5, 5], [100, 1, 1.5]]) == 1.5
    with pytest.raises(WherryError):
        best_median([])
    with pytest.raises(WherryError):
        best_median([[]])


def test_only_json_lines_are_read() -> None:
    output = f"hello\n{line('8 B', 'native', 1, 2)}\nwarning: x\n"
    (row,) = parse(output, 3)
    assert (row.case, row.variant, row.launch, row.values) == ("8 B", "native", 3, (1.0, 2.0))


@pytest.mark.parametrize(
    "output", ["", "no json", '{"case": 1}', "{broken", '{"case":"a","variant":"b","unit":"s","samples":["x"]}']
)
def test_damaged_output_is_an_error(output: str) -> None:
    with pytest.raises(WherryError):
        parse(output, 0)


def test_names_and_questions() -> None:
    assert [bench.name for bench in registry.BENCHES] == [
        "preload",
        "executor",
        "alltoall",
        "scaling",
        "overlap",
        "plans",
        "sparse",
        "window",
        "chooser",
        "grid",
        "patterns",
        "typed",
        "serialization",
        "fluid",
        "verify",
        "programs",
    ]
    for bench in registry.BENCHES:
        assert bench.question.endswith("?")
    with pytest.raises(UsageError, match="did you mean 'alltoall'"):
        registry.find("altoall")


def test_the_reference_names_every_bench() -> None:
    text = (ROOT / "docs/reference/command-line.md").read_text().partition("## wherry bench")[2].partition("\n## ")[0]
    assert {bench.name for bench in registry.BENCHES} <= set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))


def test_preload_is_a_difference_of_interleaved_launches(
    mpi_: Mpi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answers = {
        "plain": [line("send", "plain", 10e-9, 11e-9), line("send", "plain", 500e-9)],
        "off": [line("send", "plain", 900e-9), line("send", "plain", 25e-9)],
        "on": [line("send", "plain", 110e-9), line("send", "plain", 120e-9)],
    }
    script = Script(answers, monkeypatch, tmp_path)
    off, on = preload.run(Setup(mpi=mpi_, launches=2))
    assert off.value == pytest.approx(14.5)
    assert on.value == pytest.approx(99.5)
    assert off.reached is True
    assert on.reached is True
    assert on.network == "shared memory"
    order = ["on" if "WHERRY_OUTPUT" in env else "off" if env else "plain" for _, _, env in script.asked]
    assert order == ["plain", "off", "on"] * 2
    assert [entry["launch"] for entry in off.samples] == [0, 1]


def test_patterns_tell_what_their_types_cost_once(mpi_: Mpi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    packed = {"hand": 2e-6, "wherry": 1e-6, "native": 4e-6, "memcpy": 5e-7}
    once = {"create": (3e-7, 3e-7), "commit": (1e-7, 1e-7), "first use": (4e-6, 5e-6), "free": (2e-7, 8e-7)}
    lines = [line(f"a face, {stage}", *each) for stage, of in once.items() for each in zip(VARIANTS, of, strict=True)]
    lines += [line(f"a face, {direction}", *each) for direction in patterns.DIRECTIONS for each in packed.items()]
    Script({"plain": ["\n".join(lines)]}, monkeypatch, tmp_path)
    found = {row.metric: row for row in patterns.run(Setup(mpi=mpi_, launches=1))}
    assert {row.case for row in found.values()} == {"a face"}
    assert len(found) == 4 + len(patterns.STAGES)
    first = found["time of the first pack, against the library"]
    assert (first.baseline, first.value, first.ratio) == (4e-6, 5e-6, pytest.approx(0.8))
    assert first.reached is None  # no goal: how often a type is used decides
    assert found["time to free the type, against the library"].ratio == pytest.approx(0.25)
    assert found["time to pack, against the hand loop"].reached is True


def test_alltoall_compares_native_and_wherry(mpi_: Mpi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = "\n".join([line("64 B", "native", 3e-6), line("64 B", "wherry", 2e-6)])
    script = Script({"off": [text] * 5}, monkeypatch, tmp_path)
    (result,) = alltoall.run(Setup(mpi=mpi_, ranks=8))
    assert result.ratio == pytest.approx(1.5)
    assert (result.baseline, result.value) == (3e-6, 2e-6)
    assert len(result.samples) == 5
    assert script.asked[0][0] == 8
    assert script.asked[0][1][1:5] == ["--sizes", "64,1024,16384", "--strategies", "native,wherry"]
    assert script.asked[0][2]["WHERRY_NO_TUNING"] == "1"
    assert set(result.to_json()) >= FIELDS
    json.dumps(result.to_json(), allow_nan=False)


def test_alltoall_with_many_strategies(mpi_: Mpi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = "\n".join(line("64 B", name, t) for name, t in (("native", 3e-6), ("wherry", 2e-6), ("mesh", 1e-6)))
    Script({"off": [text]}, monkeypatch, tmp_path)
    explaining(monkeypatch, {})
    results = alltoall.run(Setup(mpi=mpi_, launches=1, strategies=("wherry", "mesh")))
    assert [row.case for row in results] == ["64 B", "64 B, mesh"]


@pytest.mark.parametrize("bench", [alltoall, chooser, sparse])
def test_a_strategy_that_would_not_run_is_refused_before_any_launch(
    bench: Any, mpi_: Mpi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = Script({}, monkeypatch, tmp_path)
    asked = explaining(monkeypatch, {"node_mesh": "needs several nodes"})
    with pytest.raises(UsageError, match="'node_mesh' does not apply to 6 ranks on 2 nodes: needs several nodes"):
        bench.run(Setup(mpi=mpi_, ranks=6, strategies=("mesh", "node_mesh")))
    assert script.asked == []
    assert asked == [plan.Placement(6, nodes=1)]
    with pytest.raises(UsageError, match=r"'ring' .*: it is for other collectives"):
        bench.run(Setup(mpi=mpi_, strategies=(*bench.BESIDES, "mesh", "ring")))


def explaining(monkeypatch: pytest.MonkeyPatch, reasons: Mapping[str, str]) -> list[plan.Placement]:
    """Stands in for plan.explain; returns the placements that it will be asked about."""
    asked: list[plan.Placement] = []

    def explain(operation: str, placement: plan.Placement, block_bytes: int) -> dict[str, Any]:
        asked.append(placement)
        return {
            "nodes": 2,
            "candidates": [{"name": "mesh"}],
            "not_applicable": [{"name": name, "why": why} for name, why in reasons.items()],
        }

    monkeypatch.setattr(plan, "explain", explain)
    return asked


def test_ranks_are_placed_as_wherry_will_see_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WHERRY_RANKS_PER_NODE", raising=False)
    assert Setup().placement(4) == plan.Placement(4, nodes=1)
    assert Setup(netlab=True, hosts=8).placement(4) == plan.Placement(4, nodes=4)
    monkeypatch.setenv("WHERRY_RANKS_PER_NODE", "2")
    assert Setup().placement(5) == plan.Placement(5, node_of="0,0,1,1,2")


def test_an_option_that_a_benchmark_does_not_use_is_refused() -> None:
    for name, option in (
        ("verify", "--netlab"),
        ("verify", "-n"),
        ("executor", "--sizes"),
        ("preload", "--strategies"),
    ):
        with pytest.raises(UsageError, match=f"benchmark '{name}' does not use {option}"):
            registry.check_options(name, [option])
    registry.check_options("verify", ["--quick", "--json"])
    registry.check_options("alltoall", ["--netlab", "--hosts", "--sizes", "--strategies"])
    with pytest.raises(UsageError, match="give --netlab too"):
        registry.check_options("alltoall", ["--hosts"])


@pytest.mark.parametrize("bench", registry.BENCHES, ids=lambda bench: bench.name)
def test_what_benchmarks_use_are_options_of_the_command(bench: registry.Bench) -> None:
    known = {name for parameter in command.params for name in parameter.opts}
    assert set(bench.options) <= known


def test_executor_is_validated_by_its_goal(mpi_: Mpi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = "\n".join([line("8 B", "native", 1e-6), line("8 B", "wherry", 1.04e-6)])
    Script({"plain": [text]}, monkeypatch, tmp_path)
    (result,) = executor.run(Setup(mpi=mpi_, launches=1))
    assert result.reached is True


def test_sparse_compares_each_case_with_its_first_variant(
    mpi_: Mpi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    times = {
        "degree 1, 64 B": {"library": 4e-6, "auto": 2e-6, "nbx": 5e-6},
        "one neighbor, 64 B": {"sendrecv": 1e-6, "native": 3e-6, "wherry": 1.9e-6},
        "hot receiver, 64 B": {"native": 1e-6, "wherry": 1.2e-6},
    }
    text = "\n".join(line(case, variant, t) for case, row in times.items() for variant, t in row.items())
    script = Script({"off": [text]}, monkeypatch, tmp_path)
    results = sparse.run(Setup(mpi=mpi_, launches=1, ranks=6, quick=True))
    ratios = {row.case: row.ratio for row in results}
    assert ratios["degree 1, 64 B, auto"] == pytest.approx(2.0)
    assert ratios["degree 1, 64 B, nbx"] == pytest.approx(0.8)
    validated = {row.case: (row.goal, row.reached) for row in results if row.goal}
    assert validated == {
        "one neighbor, 64 B, wherry": ("<= 2 x MPI_Sendrecv", True),
        "hot receiver, 64 B, wherry": ("<= 1.05 x native", False),
    }
    assert script.asked[0][0] == 6
    assert script.asked[0][1][1:] == ["--sizes", "64,16384", "--algorithms", "auto,nbx,census", "--turns", "6"]


def test_typed_compares_packing_by_hand_and_wherry_with_native(
    mpi_: Mpi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    times = {"native": 8e-6, "packed": 2e-6, "wherry": 4e-6}
    text = "\n".join(line("bcast of padded structs, 247 B", variant, t) for variant, t in times.items())
    script = Script({"off": [text]}, monkeypatch, tmp_path)
    results = typed.run(Setup(mpi=mpi_, launches=1, quick=True, sizes=(256,)))
    assert {row.case: (row.value, row.baseline, row.ratio) for row in results} == {
        "bcast of padded structs, 247 B, packed": (2e-6, 8e-6, pytest.approx(4)),
        "bcast of padded structs, 247 B, wherry": (4e-6, 8e-6, pytest.approx(2)),
    }
    assert script.asked[0][1][1:] == ["--sizes", "256", "--turns", "6"]


def test_window_tells_hits_as_they_are_and_of_misses_what_they_add(
    mpi_: Mpi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    times = {
        "8 entries, 64 B": {"plain": 500e-9, "hit": 20e-9, "hit and flush": 50e-9},
        "miss, 64 B": {"plain": 500e-9, "miss": 590e-9},
        "burst of 64, 8 B": {"plain": 9e-6, "apart": 12e-6, "joined": 2e-6},
    }
    text = "\n".join(line(case, variant, t) for case, row in times.items() for variant, t in row.items())
    script = Script({"plain": [text]}, monkeypatch, tmp_path)
    results = window.run(Setup(mpi=mpi_, launches=1))
    assert {row.case: (round(row.value), row.reached) for row in results} == {
        "8 entries, 64 B, hit": (20, True),
        "8 entries, 64 B, hit and flush": (50, False),
        "miss, 64 B": (90, True),
        "burst of 64, 8 B, apart": (12000, None),
        "burst of 64, 8 B, joined": (2000, None),
    }
    assert script.asked[0][0] == 2


def test_chooser_tells_distance_and_cost(mpi_: Mpi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = "\n".join(
        [
            line("8 B", "training", 4e-6, 3e-6, 1e-6, 1e-6),
            line("8 B", "wherry", 1e-6),
            line("8 B", "native alone", 2e-6),
            line("8 B", "native", 1.5e-6),
            line("8 B", "mesh", 0.9e-6),
        ]
    )
    Script({"on": [text]}, monkeypatch, tmp_path)
    explaining(monkeypatch, {})
    monkeypatch.setattr(chooser, "_decision_calls", lambda records: {chooser.bucket_of(8): 2})
    distance, cost = chooser.run(Setup(mpi=mpi_, launches=1, sizes=(8,), strategies=("mesh",)))
    assert distance.baseline == 0.9e-6
    assert distance.reached is True
    assert cost.value == pytest.approx((2e-6 + 1e-6) / 2e-6)


def test_size_classes_are_those_of_the_profile() -> None:
    assert [chooser.bucket_of(n) for n in (0, 1, 2, 3, 4, 5, 1024, 1025)] == [0, 1, 2, 3, 3, 4, 11, 12]
    for n in range(2, 5000):
        assert chooser.bucket_of(n) == 1 + math.ceil(math.log2(n))


def test_verify_runs_the_verifier(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Sequence[str]] = []
    monkeypatch.setattr(plan, "ask", lambda words: asked.append(words) or "")
    (result,) = verify.run(Setup())
    assert asked == [["verify", "--max", "128"]]
    assert result.ratio is None


def test_serialization_compares_with_what_was_built(mpi_: Mpi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def lines(*others: str) -> str:
        times = {"wherry": 20e-9, "memcpy": 20e-9, "boost": 1600e-9}
        sizes = {"wherry": 571.01, "memcpy": 596, "boost": 735}
        rows = [line("9 particles, pack", name, times[name]) for name in ("wherry", *others)]
        rows += [line("9 particles, unpack", name, times[name]) for name in ("wherry", *others)]
        return "\n".join(
            rows + [line("9 particles, pack", f"{name}, bytes", sizes[name]) for name in ("wherry", *others)]
        )

    Script({"plain": [lines("memcpy", "boost"), lines("memcpy")]}, monkeypatch, tmp_path)
    with_boost = serialization.run(Setup(mpi=mpi_, launches=1))
    assert [(row.metric, row.reached) for row in with_boost] == [
        ("bytes per object, against boost", True),
        ("time to pack, against memcpy", True),
        ("time to unpack, against memcpy", True),
        ("time to pack, against boost", True),
        ("time to unpack, against boost", None),
    ]
    assert with_boost[3].ratio == pytest.approx(80)
    without = serialization.run(Setup(mpi=mpi_, launches=1))
    assert without[0].metric == "bytes per object, against memcpy"
    assert len(without) == 3


def test_records_carry_machine_and_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "ask", lambda words: "")
    (result,) = registry.run("verify", Setup(quick=True))
    assert result.machine
    assert result.commit


def test_samples_are_kept_by_launch() -> None:
    table = BenchTable([row for launch in range(2) for row in parse(line("a", "x", launch, 1), launch)])
    assert table.samples("a", "x") == [{"launch": 0, "x": [0, 1]}, {"launch": 1, "x": [1, 1]}]


def test_a_picture_shows_each_ratio_and_is_written_whole(tmp_path: Path) -> None:
    result = Measurement("alltoall", "64 B", "time", "s", 1.0, 1.5, 1.5, "openmpi", 8, [], network="shared memory")
    without = Measurement("chooser", "64 B", "cost", "calls", 1.0, None, None, "openmpi", 8, [])
    target = tmp_path / "ratios.svg"
    picture.draw([result, without], target)
    text = target.read_text()
    assert text.startswith("<?xml") and texts_of(text).count("8 ranks, 64 B") == 1
    assert picture.svg([result]) == text  # the same numbers, the same bytes
    with pytest.raises(WherryError, match="nothing to draw"):
        picture.draw([without], tmp_path / "none.svg")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ratios.svg"]
