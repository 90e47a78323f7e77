"""Results as a table for people; the file for programs is written by files.write_json."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from wherry import units
from wherry.bench.frame import Result


def table(results: Sequence[Result]) -> Table:
    shown = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for i, column in enumerate(("case", "metric", "value", "baseline", "ratio", "goal", "")):
        shown.add_column(column, justify="right" if i in (2, 3, 4) else "left", overflow="fold")
    for row in results:
        shown.add_row(
            escape(row.case),
            row.metric,
            amount(row.value, row.unit),
            "" if row.baseline is None else amount(row.baseline, row.unit),
            "" if row.ratio is None else f"{row.ratio:.2f}",
            row.goal,
            {None: "", True: "[green]reached[/]", False: "[yellow]missed[/]"}[row.reached],
        )
    return shown


def amount(value: float, unit: str) -> str:
    return units.seconds(value) if unit == "s" else f"{value:.3g} {unit}"
