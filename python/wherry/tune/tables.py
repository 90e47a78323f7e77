"""What was learned, as tables for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from wherry import units
from wherry.export.selection import times_by_size, winner
from wherry.tune.algorithms import AUTO, DEFAULT
from wherry.tune.model import Constant
from wherry.tune.results import Results
from wherry.tune.store import Row

#: Of a constant that keeps its default, by its provenance.
_WHY_DEFAULT = {"missing": "not measured", "absurd": "not plausible"}


def trained(rows: Sequence[Row]) -> Table:
    """Rows of the tuning file."""
    table = _table("operation", "ranks", "block", "strategy", "time", "native", "ratio")
    for row in rows:
        known = row.seconds is not None and row.native_seconds is not None
        ratio = f"{row.native_seconds / row.seconds:.2f}" if known and row.seconds and row.native_seconds else ""
        times = ["" if value is None else units.seconds(value) for value in (row.seconds, row.native_seconds)]
        size = units.bucket(row.bucket)
        table.add_row(row.operation, str(row.ranks), size, escape(row.strategy), *times, ratio)
    return table


def constants(rows: Sequence[Constant]) -> Table:
    """Fitted constants beside the defaults, which stand where nothing was fitted."""
    table = _table("constant", "fitted", "default")
    for row in rows:
        why_default = _WHY_DEFAULT.get(row.provenance)
        fitted = f"[dim]{why_default}[/]" if why_default else _amount(row.value, row.unit)
        table.add_row(row.name, fitted, _amount(row.default, row.unit))
    return table


def _amount(value: float, unit: str) -> str:
    """Times per byte as the bytes per second that people know."""
    if unit == "s":
        return units.seconds(value)
    if unit == "s/B":
        return f"{units.bytes_(1 / value)}/s"
    return units.bytes_(value) if unit == "B" else f"{value:.2f}"


def library(results: Results) -> Table:
    """The algorithm that an export would select at each size, beside the library's default."""
    table = _table("operation", "ranks", "block", "fastest", "time", "default", "ratio")
    for operation, ranks in dict.fromkeys((row.operation, row.ranks) for row in results.measurements):
        rows = [row for row in results.measurements if (row.operation, row.ranks) == (operation, ranks)]
        for size, times in times_by_size(operation, rows).items():
            chosen = winner(times)
            time, default = times.get(chosen, times[DEFAULT]), times[DEFAULT]
            name = DEFAULT.name if chosen == AUTO else chosen.name
            amounts = (units.seconds(time), units.seconds(default), f"{default / time:.2f}")
            table.add_row(operation, str(ranks), _size(operation, size, rows[0].bytes), escape(name), *amounts)
    return table


def _size(operation: str, size: int, first: int) -> str:
    return units.bytes_(size) if size or (first == 0 and operation != "barrier") else "all"


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for column in columns:
        table.add_column(
            column, justify="left" if column in ("operation", "strategy", "fastest", "constant") else "right"
        )
    return table
