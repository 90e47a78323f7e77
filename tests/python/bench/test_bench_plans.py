"""Plans: each form of an all-to-all beside native, with and without a thread."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripted import Script, fake_mpi, line

from wherry.bench import plans
from wherry.bench.plans import ELAPSED, PROCESSOR
from wherry.measure.harness import Setup


def _launch(native: float, plan: float, processor: float) -> str:
    lines = [line("alltoall 64 B", "native", native), line("alltoall 64 B, processor", "native", native)]
    lines += [line("alltoall 64 B", "plan", plan), line("alltoall 64 B, processor", "plan", processor)]
    return "\n".join(lines)


def test_ratios_are_to_the_library_in_the_same_launch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The slow launch has the slow call of both: it changes the ratio of neither."""
    calls, thread = _launch(2e-6, 1e-6, 4e-6), _launch(2e-6, 4e-6, 8e-6)
    slow = _launch(20e-6, 10e-6, 40e-6)
    script = Script({"plain": [calls, thread, slow, thread]}, monkeypatch, tmp_path)
    results = plans.run(Setup(mpi=fake_mpi(), ranks=2, launches=2, sizes=(64,)))
    found = {(row.case, row.metric): row for row in results}
    of_calls, of_thread = (f"alltoall 64 B, plan (direct, {who})" for who in ("calls", "thread"))
    assert list(found) == [(case, metric) for case in (of_calls, of_thread) for metric in (ELAPSED, PROCESSOR)]
    expected = ((of_calls, ELAPSED, 1e-6, 2), (of_calls, PROCESSOR, 4e-6, 0.5), (of_thread, PROCESSOR, 8e-6, 0.25))
    for case, metric, value, ratio in expected:
        assert found[case, metric].value == value
        assert found[case, metric].ratio == pytest.approx(ratio)
    asked = [(env["WHERRY_ALLTOALL"], env["WHERRY_PROGRESS"], "--thread" in args) for _, args, env in script.asked]
    assert asked == [("direct", "calls", False), ("direct", "thread", True)] * 2
