"""The study of nbody: its parts run, and their tables and pictures follow from the records alone."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke

from wherry import paths, study
from wherry.measure.harness import Setup
from wherry.measure.record import Measurement
from wherry.study import nbody
from wherry.study.nbody import kernels, runs, schemes, simulated, threads, traces
from wherry.study.parts import StudyPart

QUICK = Setup(quick=True, launches=1)


def answered(part: StudyPart, setup: Setup = QUICK) -> list[Measurement]:
    if why := part.why_not(setup):
        pytest.skip(why)
    records = study.measured(nbody.STUDY, part, setup)
    assert part.draw(records) == part.draw(records)
    assert part.tabulate(records).markdown().startswith("| ")
    return records


def step(scheme: str, seconds: float, side: str = "native", **more: Any) -> list[Measurement]:
    """Records of a case."""
    like = {"side": side, "bodies": 512, "scheme": scheme, "ranks": 2, "oversubscribed": False, "threads": 1} | more
    parts = {"timestep": seconds, "computing": 0.75 * seconds, "exchanging": 0.25 * seconds}
    return [
        Measurement("", "a case", metric, "s", value, None, None, "", 2, []) | like for metric, value in parts.items()
    ]


def test_the_fastest_scheme_is_bold() -> None:
    records = [
        *(row for side in ("native", "wherry") for row in step("ring", 0.004, side)),
        *(row for side in ("native", "wherry") for row in step("grid", 0.002, side, oversubscribed=True)),
    ]
    rows = schemes.tabulate(records).rows
    assert rows == [
        ("512", "2", "ring", "250", "250", "25.0 %"),
        ("512", "2 *", "**grid**", "500", "500", "25.0 %"),
    ]


def test_the_wire_is_what_the_model_counts() -> None:
    costs = {"sent_bytes": 125e3, "sent_while_computing_bytes": 125e3}
    records = [row | costs for side in ("native", "wherry") for row in step("ring", 0.004, side)]
    table = schemes.tabulate_gigabit(records)
    assert table.head[-1] == "of max(compute, wire)"
    assert table.rows[0][-1] == "75 %"
    slow_wire = [row | {"sent_bytes": 350e3} for row in records]
    assert schemes.tabulate_gigabit(slow_wire).rows[0][-1] == "95 %"


def test_efficiency_is_of_the_best_speedup() -> None:
    alone = {"bodies": 512, "threads": 1, "deal": "fair", "value": 0.004, "oversubscribed": False}
    two = [alone | {"threads": 2, "deal": deal, "value": value} for deal, value in (("fair", 0.002), ("rows", 0.0025))]
    table = threads.tabulate([alone, *two])
    assert table.rows == [("2", "256", "100 %", "80 %")]


def test_the_model_hides_what_is_sent_while_computing() -> None:
    costs = {"pairs": 3e6, "sent_bytes": 125e3, "sent_while_computing_bytes": 125e3, "messages": 2.0}
    assert simulated.expected_s(costs, 1.5e9) == pytest.approx(2e-3 + 1e-3 + 2 * 48e-6)
    assert simulated.expected_s(costs, 6e9) == pytest.approx(1e-3 + 1e-3 + 2 * 48e-6)
    assert simulated.bound_s(costs, 6e9, 1) == pytest.approx(2e-3)
    assert simulated.bound_s(costs, 6e9, 4) == pytest.approx(0.5e-3)


def test_the_automatic_choice_is_validated_by_the_scheme_that_it_took() -> None:
    like = {"nodes": 16, "bodies": 4096, "bound_s": 0.9e-3, "expected_s": 1.1e-3}
    records = [
        like | {"scheme": "ring", "ran": "ring", "value": 1e-3},
        like | {"scheme": "grid", "ran": "grid", "value": 1.25e-3},
        like | {"scheme": "auto", "ran": "grid", "value": 1.3e-3},
    ]
    assert simulated.tabulate_schemes(records).rows == [
        ("16", "4096", "ring", "1000", "90 %", "1.10 x", "grid", "25.0 %")
    ]


def test_kernels(build: Path) -> None:
    records = answered(kernels.PART)
    kinds = {(row["kernel"], row["metric"]) for row in records}
    assert {("simd", "triangle"), ("autovectorised", "full matrix")} <= kinds
    assert all(len(row["samples"][0][row["kernel"]]) == 3 for row in records)
    bounded = {row["kernel"] for row in records if row["share_of_port_bound"] is not None}
    assert {"simd", "reduced"} <= bounded
    assert not bounded & {"autovectorised", "scalar", "single"}
    assert all(row["share_of_port_bound"] > 0 for row in records if row["kernel"] in bounded)


def test_runs_keep_both_sides_of_the_last_third(build: Path) -> None:
    if why := runs.why_not(QUICK):
        pytest.skip(why)
    cases = [runs.SchemeCase(64, scheme, 2) for scheme in ("replicated", "overlapped")]
    records = runs.measure(QUICK, cases, 12)
    assert len(records) == len(cases) * len(runs.METRICS) * len(runs.SIDES)
    for row in records:
        (sample,) = row["samples"]
        assert len(sample[row["side"]]) == 2
        assert row["value"] > 0
        assert row["ranks"] == 2
    assert schemes.draw(records).startswith("<?xml")
    assert len(schemes.tabulate(records).rows) == 2


def test_traces(build: Path) -> None:
    records = answered(traces.PART)
    assert [(row["scheme"], row["rank"]) for row in records] == [
        (scheme, rank) for scheme in traces.SCHEMES for rank in range(4)
    ]
    equal, balanced = traces.traces(records)
    assert equal.seconds(3)["wait"] > balanced.seconds(3)["wait"]


def test_hybrid(build: Path) -> None:
    records = answered(simulated.HYBRID)
    assert {(row["per_node"], row["threads"]) for row in records} == {(1, 4), (2, 2), (4, 1)}
    assert all(row["value"] > row["bound_s"] for row in records)
    table = simulated.tabulate_hybrid(records)
    assert table.head == ("bodies", "scheme", "1 x 4", "2 x 2", "4 x 1", "best")
    for row in table.rows:
        rates = [float(rate) for rate in row[2:5]]
        assert row[5] == table.head[2 + rates.index(max(rates))]


def test_what_is_not_built_is_told(build: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(paths, "kernels_program", lambda: tmp_path / "none")
    monkeypatch.setattr(paths, "application", lambda mpi, name: tmp_path / "none")
    assert "apt-get install libhwy-dev" in kernels.why_not(QUICK)
    assert "apt-get install libhwy-dev" in schemes.why_no_gigabit(QUICK)


def test_the_command_fills_in_the_page(build: Path, invoke: Invoke, tmp_path: Path) -> None:
    if why := simulated.why_not(QUICK):
        pytest.skip(why)
    page = tmp_path / "studies" / "nbody.md"
    page.parent.mkdir()
    page.write_text("before\n<!-- traces -->\n<!-- end of traces -->\nafter\n")
    done = invoke("study", "nbody", "traces", "--quick", "-o", tmp_path)
    assert done.code == 0, done.err
    text = page.read_text()
    assert text.startswith("before\n<!-- traces -->\n")
    assert text.endswith("<!-- end of traces -->\nafter\n")
    assert "| equal shares | " in text
    assert {path.name for path in tmp_path.rglob("*.*")} == {"nbody.md", "smpi.json", "nbody-traces.svg"}


def test_hosts_are_emulated_whatever_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Setup] = []
    monkeypatch.setattr(runs, "measure", lambda setup, cases, steps: asked.append(setup) or [])
    schemes.on_gigabit(dataclasses.replace(QUICK, hosts=3))
    assert [(setup.netlab, setup.hosts) for setup in asked] == [(True, 3)]
