"""The one-screen summary at the end of `wherry run`: from an Analysis to text that fits 80 columns."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from wherry import units
from wherry.analysis import Analysis

_MOST_FUNCTIONS, _MOST_SITES, _MOST_USES, _MOST_MISSES = 4, 3, 3, 2
_LEAST_SHARE = 0.05  # of the calls of a function, to be named on a line of its own


def print_summary(console: Console, analysis: Analysis, report: str | None = None) -> None:
    console.rule("[bold]Wherry[/bold]", align="left", characters="-")
    for line in headline(analysis):
        console.print(line, highlight=False)
    if analysis.functions:
        console.print(_functions(analysis))
        console.print(_sites(analysis, console.width))
    for line in [*choices(analysis), *(f"warning: {escape(text)}" for text in analysis.warnings)]:
        console.print(line, highlight=False)
    if report:
        console.print(f"report: {escape(report)}", highlight=False, soft_wrap=True)


def headline(analysis: Analysis) -> list[str]:
    hosts = units.plural(len(analysis.hosts), "host")
    first = (
        f"{escape(analysis.program.rsplit('/', 1)[-1]) or 'program'}: {units.plural(analysis.size, 'rank')} on {hosts},"
        f" {units.seconds(analysis.seconds)}, [bold]{units.percent(analysis.mpi_share)} in MPI[/bold]"
    )
    shares = [rank.share for rank in analysis.ranks]
    if len(shares) > 1:
        first += f" (ranks: {units.percent(min(shares))} to {units.percent(max(shares))})"
    lines = [first]
    if analysis.setup_seconds > 0.1 * analysis.seconds:
        lines.append(f"MPI_Init and MPI_Finalize took another {units.seconds(analysis.setup_seconds)} per rank")
    waits = [rank.wait_seconds for rank in analysis.ranks if rank.wait_seconds is not None]
    total = sum(rank.mpi_seconds for rank in analysis.ranks)
    if waits and total > 0:
        share = units.percent(min(sum(waits) / total, 1.0))
        lines.append(f"about {share} of the MPI time was waiting for ranks that entered a collective later")
    return lines


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for i, column in enumerate(columns):
        left = i == 0 or column == "called from"
        table.add_column(column, justify="left" if left else "right", no_wrap=True, overflow="ellipsis")
    return table


def _functions(analysis: Analysis) -> Table:
    table = _table("time by call", "% of MPI", "time/rank", "calls", "bytes", "mean size")
    total = sum(row.totals.seconds for row in analysis.functions) or 1.0
    for row in analysis.functions[:_MOST_FUNCTIONS]:
        t = row.totals
        table.add_row(
            escape(row.function),
            units.percent(t.seconds / total),
            units.seconds(t.seconds / max(len(analysis.ranks), 1)),
            units.count(t.calls),
            units.bytes_(t.bytes),
            units.bytes_(t.bytes / max(t.calls, 1)),
        )
    return table


def _sites(analysis: Analysis, width: int) -> Table:
    table = _table("time by place", "% of MPI", "calls", "called from")
    total = sum(row.totals.seconds for row in analysis.functions) or 1.0
    # Long names of places must not squeeze the numbers.
    rows = analysis.sites[:_MOST_SITES]
    room = max(width - 26 - max((len(row.function) for row in rows), default=0), 12)
    for row in rows:
        share, calls = units.percent(row.totals.seconds / total), units.count(row.totals.calls)
        table.add_row(escape(row.function), share, calls, escape(_cut(row.site, room)))
    return table


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


@dataclass
class Replacement:
    """What ran instead of the library's collective, over all communicators and sizes."""

    function: str
    strategy: str
    calls: int = 0
    gain_seconds: float | None = None  # mean over ranks


def replacements(analysis: Analysis) -> list[Replacement]:
    found: dict[tuple[str, str], Replacement] = {}
    for use in analysis.replaced:
        key = (use.function, use.strategy)
        row = found.setdefault(key, Replacement(*key))
        row.calls += use.calls
        if use.gain_seconds is not None:
            row.gain_seconds = (row.gain_seconds or 0.0) + use.gain_seconds * use.ranks / max(len(analysis.ranks), 1)
    return sorted(found.values(), key=lambda row: -row.calls)


def choices(analysis: Analysis) -> list[str]:
    """What Wherry replaced by what, what it won, and what fell through."""
    calls: dict[str, int] = defaultdict(int)
    for use in analysis.uses:
        calls[use.function] += use.calls
    found = replacements(analysis)
    mostly = [row for row in found if row.calls >= _LEAST_SHARE * calls[row.function]]
    lines = [_replaced(row, calls[row.function]) for row in mostly[:_MOST_USES]]
    won = {row.function for row in mostly}
    lines += [_kept(function, n, found) for function, n in calls.items() if function not in won]
    if mostly and analysis.gain_seconds is not None:
        lines.append(_gain(analysis.gain_seconds, analysis.seconds))
    for miss in analysis.misses[:_MOST_MISSES]:
        lines.append(f"left to the library: {units.count(miss.calls)} {miss.function} calls: {escape(miss.reason)}")
    return lines or ["Wherry replaced nothing: no call that it has strategies for, or replacing was switched off"]


def _replaced(row: Replacement, calls: int) -> str:
    share = units.percent(row.calls / max(calls, 1))
    gain = f" (about {_won(row.gain_seconds)})" if row.gain_seconds is not None else ""
    return f"replaced {share} of {row.function} calls by [green]{escape(row.strategy)}[/green]{gain}"


def _won(gain_seconds: float) -> str:
    return f"{units.seconds(abs(gain_seconds))} per rank {'won' if gain_seconds >= 0 else 'lost'}"


def _kept(function: str, calls: int, found: list[Replacement]) -> str:
    """The library's own collective was the fastest."""
    tried = [row for row in found if row.function == function]
    share = units.percent(1 - sum(row.calls for row in tried) / max(calls, 1))
    names = escape(", ".join(sorted(row.strategy for row in tried)))
    trials = f"; trials of {names} did not beat it" if tried else ""
    return f"{function}: the library's own collective ran in {share} of the calls{trials}"


def _gain(gain_seconds: float, seconds: float) -> str:
    """From the times that the ranks agreed on during the trials."""
    share = units.percent(gain_seconds / (seconds + max(gain_seconds, 0.0))) if seconds > 0 else "unknown"
    return f"estimated gain: [bold]{units.seconds(gain_seconds)} per rank[/bold] ({share} of the run without it)"
