"""The study of nbody: its parts run, and their tables and pictures follow from the records alone."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from wherry import study
from wherry.bench.frame import Setup
from wherry.study import nbody, nbody_kernels, nbody_runs, nbody_schemes, nbody_simulated, nbody_threads, nbody_traces
from wherry.study.frame import Part, Record

QUICK = Setup(quick=True, launches=1)


def answered(part: Part, setup: Setup = QUICK) -> list[Record]:
    if why := part.why_not(setup):
        pytest.skip(why)
    records = study.measured(nbody.STUDY, part, setup)
    assert part.draw(records) == part.draw(records)
    assert part.tabulate(records).markdown().startswith("| ")
    return records


def step(scheme: str, seconds: float, side: str = "native", **more: Any) -> list[Record]:
    """Records of a case."""
    like = {"side": side, "bodies": 512, "scheme": scheme, "ranks": 2, "oversubscribed": False, "threads": 1} | more
    parts = {"timestep": seconds, "computing": 0.75 * seconds, "exchanging": 0.25 * seconds}
    return [like | {"metric": metric, "value": value} for metric, value in parts.items()]


def test_the_fastest_scheme_is_bold() -> None:
    records = [
        *(row for side in ("native", "wherry") for row in step("ring", 0.004, side)),
        *(row for side in ("native", "wherry") for row in step("grid", 0.002, side, oversubscribed=True)),
    ]
    rows = nbody_schemes.tabulate(records).rows
    assert rows == [
        ("512", "2", "ring", "250", "250", "25.0 %"),
        ("512", "2 *", "**grid**", "500", "500", "25.0 %"),
    ]


def test_the_wire_is_what_the_model_counts() -> None:
    costs = {"sent_bytes": 125e3, "sent_while_computing_bytes": 125e3}
    records = [row | costs for side in ("native", "wherry") for row in step("ring", 0.004, side)]
    table = nbody_schemes.tabulate_gigabit(records)
    assert table.head[-1] == "of max(compute, wire)"
    assert table.rows[0][-1] == "75 %"
    slow_wire = [row | {"sent_bytes": 350e3} for row in records]
    assert nbody_schemes.tabulate_gigabit(slow_wire).rows[0][-1] == "95 %"


def test_efficiency_is_of_the_best_speedup() -> None:
    alone = {"bodies": 512, "threads": 1, "deal": "fair", "value": 0.004, "oversubscribed": False}
    two = [alone | {"threads": 2, "deal": deal, "value": value} for deal, value in (("fair", 0.002), ("rows", 0.0025))]
    table = nbody_threads.tabulate([alone, *two])
    assert table.rows == [("2", "256", "100 %", "80 %")]


def test_the_model_hides_what_is_sent_while_computing() -> None:
    costs = {"pairs": 3e6, "sent_bytes": 125e3, "sent_while_computing_bytes": 125e3, "messages": 2.0}
    assert nbody_simulated.expected_s(costs, 1.5e9) == pytest.approx(2e-3 + 1e-3 + 2 * 48e-6)
    assert nbody_simulated.expected_s(costs, 6e9) == pytest.approx(1e-3 + 1e-3 + 2 * 48e-6)
    assert nbody_simulated.bound_s(costs, 6e9, 1) == pytest.approx(2e-3)
    assert nbody_simulated.bound_s(costs, 6e9, 4) == pytest.approx(0.5e-3)


def test_the_automatic_choice_is_judged_by_the_scheme_that_it_took() -> None:
    like = {"nodes": 16, "bodies": 4096, "bound_s": 0.9e-3, "expected_s": 1.1e-3}
    records = [
        like | {"scheme": "ring", "ran": "ring", "value": 1e-3},
        like | {"scheme": "grid", "ran": "grid", "value": 1.25e-3},
        like | {"scheme": "auto", "ran": "grid", "value": 1.3e-3},
    ]
    assert nbody_simulated.tabulate_schemes(records).rows == [
        ("16", "4096", "ring", "1000", "90 %", "1.10 x", "grid", "25.0 %")
    ]


def test_kernels(build: Path) -> None:
    records = answered(nbody_kernels.PART)
    kinds = {(row["kernel"], row["metric"]) for row in records}
    assert {("simd", "triangle"), ("autovectorised", "full matrix")} <= kinds
    assert all(len(row["samples"][0][row["kernel"]]) == 3 for row in records)
    shares = {row["kernel"]: row["share_of_port_bound"] for row in records}
    assert shares["simd"] > 0
    assert shares["scalar" if "scalar" in shares else "autovectorised"] is None


def test_runs_keep_both_sides_of_the_last_third(build: Path) -> None:
    if why := nbody_runs.why_not(QUICK):
        pytest.skip(why)
    cases = [nbody_runs.Case(64, scheme, 2) for scheme in ("replicated", "overlapped")]
    records = nbody_runs.measure(QUICK, cases, 12)
    assert len(records) == len(cases) * len(nbody_runs.METRICS) * len(nbody_runs.SIDES)
    for row in records:
        (sample,) = row["samples"]
        assert len(sample[row["side"]]) == 2
        assert row["value"] > 0
        assert row["ranks"] == 2
    assert nbody_schemes.draw(records).startswith("<?xml")
    assert len(nbody_schemes.tabulate(records).rows) == 2


def test_traces(build: Path) -> None:
    records = answered(nbody_traces.PART)
    assert [(row["scheme"], row["rank"]) for row in records] == [
        (scheme, rank) for scheme in nbody_traces.SCHEMES for rank in range(4)
    ]
    equal, balanced = nbody_traces.traces(records)
    assert max(equal.seconds(3)["wait"], 1e-9) > balanced.seconds(3)["wait"]


def test_hybrid(build: Path) -> None:
    records = answered(nbody_simulated.HYBRID)
    assert {(row["per_node"], row["threads"]) for row in records} == {(1, 4), (2, 2), (4, 1)}


def test_what_is_not_built_is_told(build: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(nbody_kernels, "program", lambda: tmp_path / "none")
    monkeypatch.setattr(nbody_runs, "program", lambda mpi: tmp_path / "none")
    assert "apt-get install libhwy-dev" in nbody_kernels.why_not(QUICK)
    assert "apt-get install libhwy-dev" in nbody_schemes.why_no_gigabit(QUICK)


def test_the_command_fills_in_the_page(build: Path, tmp_path: Path) -> None:
    if why := nbody_simulated.why_not(QUICK):
        pytest.skip(why)
    page = tmp_path / "studies" / "nbody.md"
    page.parent.mkdir()
    page.write_text("before\n<!-- traces -->\n<!-- end of traces -->\nafter\n")
    words = ["study", "nbody", "traces", "--quick", "-o", str(tmp_path)]
    done = subprocess.run([sys.executable, "-m", "wherry", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert text.startswith("before\n<!-- traces -->\n")
    assert text.endswith("<!-- end of traces -->\nafter\n")
    assert "| equal shares | " in text
    assert {path.name for path in tmp_path.rglob("*.*")} == {"nbody.md", "nbody-traces.json", "nbody-traces.svg"}


def test_the_page_has_a_place_for_each_part() -> None:
    page = Path(__file__).parents[2] / "docs" / "studies" / "nbody.md"
    text = page.read_text(encoding="utf-8")
    for part in nbody.STUDY.parts:
        assert text.count(f"<!-- {part.name} -->\n") == 1
        assert text.count(f"<!-- end of {part.name} -->\n") == 1


def test_hosts_are_emulated_whatever_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Setup] = []
    monkeypatch.setattr(nbody_runs, "measure", lambda setup, cases, steps: asked.append(setup) or [])
    nbody_schemes.on_gigabit(dataclasses.replace(QUICK, hosts=3))
    assert [(setup.netlab, setup.hosts) for setup in asked] == [(True, 3)]
