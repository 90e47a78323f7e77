"""The one-screen summary at the end of `wherry run`: from an Analysis to text that fits a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wherry import units
from wherry.analysis import Analysis, faults, freed_memory, gains, paths, polling, replaced, starting, window_gains
from wherry.ansi import style
from wherry.screen import Screen, bold, cut

_MOST_FUNCTIONS, _MOST_SITES, _MOST_MACHINES = 4, 3, 2
_RULE_COLUMNS = 80


@dataclass(frozen=True)
class Context:
    """What the records do not say about a run."""

    report: str | None = None  # path of the page
    switched_off: str = ""  # why nothing could be replaced, if so
    reproducible: bool = False  # WHERRY_REPRODUCIBLE
    failure: Sequence[str] = ()  # what is said first of a run that failed
    waits: str = ""  # WHERRY_WAIT, if it was set


def print_summary(screen: Screen, analysis: Analysis, context: Context = Context()) -> None:
    title = "Wherry "
    rule = "-" * (min(screen.columns, _RULE_COLUMNS) - len(title))
    screen.whole_line(bold(title) + style(rule, "bright_green"))
    for line in context.failure:
        screen.whole_line(style(line, "red", "bold"))
    for line in [*headline(analysis), *polling.sentences(analysis, context.waits)]:
        screen.line(line)
    if analysis.functions:
        _functions(screen, analysis)
        _sites(screen, analysis)
    chosen = replaced.sentences(analysis, context.switched_off, context.reproducible)
    for line in [
        *chosen,
        *(gains.sentences(analysis) if not context.failure else ()),
        *window_gains.sentences(analysis),
        *freed_memory.sentences(analysis),
        *(f"warning: {text}" for text in analysis.warnings),
    ]:
        screen.line(line)
    if context.report:
        screen.whole_line(f"report: {context.report}")


def headline(analysis: Analysis) -> list[str]:
    hosts = units.plural(len(analysis.hosts), "host")
    first = (
        f"{analysis.program.rsplit('/', 1)[-1] or 'program'}: {units.plural(analysis.size, 'rank')} on {hosts},"
        f" {units.seconds(analysis.seconds)}, {bold(f'{units.percent(analysis.mpi_share)} in MPI')}"
    )
    shares = [rank.share for rank in analysis.ranks]
    if len(shares) > 1:
        first += f" (ranks: {units.percent(min(shares))} to {units.percent(max(shares))})"
    lines = [first, *starting.sentences(analysis)]
    waits = [rank.wait_seconds for rank in analysis.ranks if rank.wait_seconds is not None]
    total = sum(rank.mpi_seconds for rank in analysis.ranks)
    if waits and total > 0:
        share = units.percent(min(sum(waits) / total, 1.0))
        lines.append(f"about {share} of the MPI time was waiting for ranks that entered a collective later")
    if faults.is_notable(analysis):
        lines.append(faults.processor(analysis))
    crowded = [row for row in analysis.machines if row.crowded]
    lines += [row.crowd() for row in crowded[:_MOST_MACHINES]]
    lines += [row.problem() for row in analysis.bindings[:_MOST_MACHINES]]
    return lines


def _functions(screen: Screen, analysis: Analysis) -> None:
    total = sum(row.totals.seconds for row in analysis.functions) or 1.0
    rows = [
        (
            row.function,
            units.percent(row.totals.seconds / total),
            units.seconds(row.totals.seconds / max(len(analysis.ranks), 1)),
            units.count(row.totals.calls),
            units.bytes_(row.totals.bytes),
            units.bytes_(row.totals.bytes / max(row.totals.calls, 1)),
        )
        for row in analysis.functions[:_MOST_FUNCTIONS]
    ]
    screen.table(("time by call", "% of MPI", "time/rank", "calls", "bytes", "mean size"), rows, {"time by call"})


def _sites(screen: Screen, analysis: Analysis) -> None:
    total = sum(row.totals.seconds for row in analysis.functions) or 1.0
    named = paths.places(analysis)[:_MOST_SITES]
    # Long names of places must not squeeze the numbers.
    room = max(screen.columns - 26 - max((len(row.function) for row in named), default=0), 12)
    rows = [
        (
            row.function,
            units.percent(row.totals.seconds / total),
            units.count(row.totals.calls),
            cut(row.place, room),
        )
        for row in named
    ]
    screen.table(("time by place", "% of MPI", "calls", "called from"), rows, {"time by place", "called from"})
