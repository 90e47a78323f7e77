"""How results of benchmarks are printed."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.console import Console

from wherry.bench import output
from wherry.measure.record import Measurement


def shown(results: Sequence[Measurement], width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    output.show(console, results)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


def test_results_fit_eighty_columns_one_line_each() -> None:
    def result(bench: str, case: str, metric: str, goal: str, unit: str = "s") -> Measurement:
        place = {"network": "shared memory", "machine": "2 x CPU", "statistic": f"of {metric}"}
        return Measurement(
            bench, case, metric, unit, 1.2e-4, 2.3e-4, 1.9, "openmpi", 8, [], goal=goal, reached=True, **place
        )

    for rows in (
        [result("alltoall", "16384 B, back to back, node_pairwise", "time per call", "ratio >= 1.05")],
        [
            result("chooser", "65536 B, best: node_pairwise", "time per call after training", "<= 1.15 x the best"),
            result("chooser", "65536 B, training", "training cost in native calls", "<= 3", "calls"),
        ],
        [result("executor", "65536 B", "time per call", "<= 1.05 x the loop")],
        [result("preload", "MPI_Send to MPI_PROC_NULL, profiling off", "cost per intercepted call", "<= 150 ns")],
    ):
        lines = shown(rows, 80)
        assert max(map(len, lines)) <= 80
        for row in rows:
            (line,) = [line for line in lines if line.startswith(row.case)]
            assert row.goal in line and line.rstrip().endswith("yes")
            assert f"{row.metric}:" in lines and f"statistic: of {row.metric}" in lines
        assert "openmpi, 8 ranks, shared memory; 2 x CPU" in lines


def test_ranks_are_a_column_where_they_differ() -> None:
    def result(ranks: int) -> Measurement:
        return Measurement("grid", "bcast 8 B", "time", "s", 1e-6, 2e-6, 2.0, "mpich", ranks, [], network="net")

    lines = shown([result(2), result(16)], 80)
    assert [line.split()[:4] for line in lines[1:4]] == [
        ["case", "ranks", "value", "baseline"],
        ["bcast", "8", "B", "2"],
        ["bcast", "8", "B", "16"],
    ]
    assert lines[-1].startswith("mpich, net; ")
    lines = shown([result(2), result(2)], 80)
    assert "ranks" not in lines[1]
    assert lines[-1].startswith("mpich, 2 ranks, net; ")
