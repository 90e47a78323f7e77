"""Results as tables for people; the file for programs is written by files.write_records."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from wherry import units
from wherry.measure.record import Measurement


def show(console: Console, results: Sequence[Measurement]) -> None:
    """A table for each metric. What all rows share stands below, since it would make them too wide for a terminal."""
    several = len({row.ranks for row in results}) > 1
    for metric in dict.fromkeys(row.metric for row in results):
        rows = [row for row in results if row.metric == metric]
        console.print(f"{metric}:", highlight=False)
        console.print(table(rows, with_ranks=several))
        console.print(f"statistic: {rows[0].statistic}", highlight=False, soft_wrap=True)
    first = results[0]
    ranks = "" if several else f"{units.plural(first.ranks, 'rank')}, "
    where = f"{first.mpi}, {ranks}{first.network}; " if first.network else ""
    console.print(f"{where}{first.machine}", highlight=False, soft_wrap=True)


def table(results: Sequence[Measurement], with_ranks: bool = False) -> Table:
    shown = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    for column in ("case", *(["ranks"] if with_ranks else []), "value", "baseline", "ratio", "goal", "met"):
        numeric = column in ("ranks", "value", "baseline", "ratio")
        shown.add_column(column, justify="right" if numeric else "left", no_wrap=column != "goal")
    for row in results:
        shown.add_row(
            escape(row.case),
            *([str(row.ranks)] if with_ranks else []),
            amount(row.value, row.unit) if row.unit else "",
            "" if row.baseline is None else amount(row.baseline, row.unit),
            "" if row.ratio is None else f"{row.ratio:.2f}",
            row.goal,
            {None: "", True: "[green]yes[/]", False: "[yellow]no[/]"}[row.reached],
        )
    return shown


def amount(value: float, unit: str) -> str:
    return units.seconds(value) if unit == "s" else f"{value:.3g} {unit}"
