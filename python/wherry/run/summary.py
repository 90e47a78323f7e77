"""The one-screen summary at the end of `wherry run`: from an Analysis to text that fits a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.markup import escape
from rich.rule import Rule
from rich.table import Table

from wherry import units
from wherry.analysis import Analysis, faults, freed_memory, gains, paths, replaced, window_gains

_MOST_FUNCTIONS, _MOST_SITES, _MOST_MACHINES = 4, 3, 2
_RULE_COLUMNS = 80


@dataclass(frozen=True)
class Context:
    """What the records do not say about a run."""

    report: str | None = None  # path of the page
    switched_off: str = ""  # why nothing could be replaced, if so
    reproducible: bool = False  # WHERRY_REPRODUCIBLE
    failure: Sequence[str] = ()  # what is said first of a run that failed


def print_summary(console: Console, analysis: Analysis, context: Context = Context()) -> None:
    rule = Rule("[bold]Wherry[/bold]", align="left", characters="-")
    console.print(rule, width=min(console.width, _RULE_COLUMNS))
    for line in context.failure:
        console.print(f"[bold red]{escape(line)}[/]", highlight=False, soft_wrap=True)
    for line in headline(analysis):
        console.print(line, highlight=False)
    if analysis.functions:
        console.print(_functions(analysis))
        console.print(_sites(analysis, console.width))
    chosen = replaced.sentences(analysis, context.switched_off, context.reproducible)
    for line in [
        *chosen,
        *(gains.sentences(analysis) if not context.failure else ()),
        *window_gains.sentences(analysis),
        *freed_memory.sentences(analysis),
        *(f"warning: {escape(text)}" for text in analysis.warnings),
    ]:
        console.print(line, highlight=False)
    if context.report:
        console.print(f"report: {escape(context.report)}", highlight=False, soft_wrap=True)


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
    if faults.is_notable(analysis):
        lines.append(faults.processor(analysis))
    crowded = [row for row in analysis.machines if row.crowded]
    lines += [escape(row.crowd()) for row in crowded[:_MOST_MACHINES]]
    lines += [escape(row.problem()) for row in analysis.bindings[:_MOST_MACHINES]]
    return lines + _waiting(analysis)


def _waiting(analysis: Analysis) -> list[str]:
    if not analysis.polled_calls:
        return []
    calls = units.count(analysis.polled_calls)
    return [f"waiting: {calls} blocking calls polled and yielded the core (WHERRY_WAIT=spin turns it off)"]


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
    rows = paths.places(analysis)[:_MOST_SITES]
    room = max(width - 26 - max((len(row.function) for row in rows), default=0), 12)
    for row in rows:
        share, calls = units.percent(row.totals.seconds / total), units.count(row.totals.calls)
        table.add_row(escape(row.function), share, calls, escape(_cut(row.place, room)))
    return table


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
