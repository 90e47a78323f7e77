"""The command `wherry trace`."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from wherry import trace, units
from wherry.cli.common import check_plot, check_writable, examples, file_option, results_console
from wherry.errors import UsageError
from wherry.trace import KINDS, Trace, chrome, picture

_MOST_ROWS = 32


@click.command(
    name="trace",
    epilog=examples(
        "wherry run --report out -- mpiexec -n 4 ./app",
        "wherry trace out --json trace.json   # open it at ui.perfetto.dev",
        "wherry trace out --from 1.5 --to 1.6 --plot step.svg",
        "mpiexec -n 4 nbody --scheme equal --trace equal.json",
        "wherry trace equal.json balanced.json --plot both.svg",
    ),
)
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SOURCE...")
@click.option("--from", "begin_s", type=click.FloatRange(min=0), metavar="S", help="Begin at S seconds.")
@click.option("--to", "end_s", type=click.FloatRange(min=0), metavar="S", help="End at S seconds.")
@file_option("--json", "file", help="Write a trace for ui.perfetto.dev.")
@file_option("--plot", metavar="FILE.svg", help="Draw a picture.")
def trace_(
    sources: tuple[Path, ...], begin_s: float | None, end_s: float | None, file: Path | None, plot: Path | None
) -> None:
    """Show when each rank computed, waited or communicated.

    SOURCE is a folder of `wherry run --report`, or a trace that a program or this command wrote.
    """
    check_writable(file)
    check_plot(plot)
    if file is not None and len(sources) > 1:
        raise UsageError("--json writes one trace; give one source, or draw several with --plot")
    if file is not None and file == plot:
        raise UsageError(f"--json and --plot would both write {file}; name two files")
    if begin_s is not None and end_s is not None and begin_s >= end_s:
        raise UsageError(f"nothing is from {begin_s:g} to {end_s:g} s; let --from be less than --to")
    traces = [_cut(trace.read(source), source, begin_s, end_s) for source in sources]
    for one in traces:
        show(results_console(), one)
    if file is not None:
        chrome.write(file, traces[0])
        click.echo(f"wrote {file}")
    if plot is not None:
        picture.draw(traces, plot)
        click.echo(f"wrote {plot}")


def _cut(found: Trace, source: Path, begin_s: float | None, end_s: float | None) -> Trace:
    if begin_s is None and end_s is None:
        return found
    begin, end = begin_s or 0.0, found.end_s if end_s is None else end_s
    part = found.cut(begin, end)
    if not any(part.ranks.values()):
        raise UsageError(
            f"nothing from {begin:g} to {end:g} s in {source}; it lasts from {found.begin_s:.3g} to {found.end_s:.3g} s"
        )
    return part


def show(console: Console, found: Trace) -> None:
    length = found.end_s - found.begin_s
    console.print(f"{escape(found.title)}: {units.seconds(length)}", highlight=False, soft_wrap=True)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for column in ("rank", *KINDS):
        table.add_column(column, justify="right", no_wrap=True)
    for rank in list(found.ranks)[:_MOST_ROWS]:
        seconds = found.seconds(rank)
        table.add_row(str(rank), *(units.percent(seconds[kind] / length if length > 0 else 0.0) for kind in KINDS))
    console.print(table)
    if len(found.ranks) > _MOST_ROWS:
        console.print(f"and {len(found.ranks) - _MOST_ROWS} more ranks", highlight=False)
    if found.note:
        console.print(escape(found.note), highlight=False, soft_wrap=True)
