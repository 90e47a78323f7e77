"""The command of `make demo`: measures the rows, writes out/report.html and out/demo.json, prints the table."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from wherry import paths
from wherry.cli import ending_politely
from wherry.cli.common import progress_bar, results_console
from wherry.compare import Experiment
from wherry.demo import page, results
from wherry.demo.rows import ROWS, DemoRow, measure
from wherry.errors import WherryError, unknown
from wherry.files import make_folder, write_whole
from wherry.measure import record
from wherry.measure.record import Measurement
from wherry.netlab import why_unavailable
from wherry.run.mpis import find_mpis

_STYLES = {"faster": "green", "slower": "yellow", "no measurable difference": ""}
_LIMIT_S = 60.0  # of one run
_ROW_S = 8.0  # for all runs of a row, where three rounds take no longer
_FULL, _QUICK = Experiment(12, limit_s=_LIMIT_S, budget_s=_ROW_S), Experiment(2, limit_s=_LIMIT_S)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--out", type=click.Path(path_type=Path), default=Path("out"), show_default=True, help="where to write")
@click.option("--only", metavar="PROGRAM", multiple=True, help="lammps, fft, heat, kmeans or training; may be repeated")
@click.option("--no-cluster", is_flag=True, help="leave the emulated cluster out")
@click.option("--quick", is_flag=True, help="two rounds: shows that it works, not how fast")
def main(out: Path, only: tuple[str, ...], no_cluster: bool, quick: bool) -> None:
    """Real programs with and without Wherry: answers compared, then times."""
    try:
        with ending_politely():
            code = run(results_console(), out, chosen(only), no_cluster, _QUICK if quick else _FULL)
    except WherryError as error:
        code = complain(error, error.exit_code)
    except OSError as error:
        code = complain(error, 1)
    raise SystemExit(code)


def complain(error: Exception, code: int) -> int:
    Console(stderr=True, highlight=False).print(f"demo: {escape(str(error))}", style="red", soft_wrap=True)
    return code


def chosen(only: Sequence[str]) -> list[DemoRow]:
    """Raises UsageError for a name that no program has."""
    names = list(dict.fromkeys(row.key for row in ROWS))
    for name in only:
        if name not in names:
            raise unknown("program", name, names)
    return [row for row in ROWS if not only or row.key in only]


def run(console: Console, out: Path, rows: Sequence[DemoRow], no_cluster: bool, experiment: Experiment) -> int:
    """0 if something ran, nothing failed and all answers are equal."""
    begin = time.monotonic()
    out = out.absolute()
    make_folder(out, "--out")
    paths.preload()
    reason = "left out on request (--no-cluster)" if no_cluster else why_unavailable()
    console.print(f"{len(rows)} programs, each with and without Wherry in turns, about {len(rows) * _ROW_S:.0f} s ...")
    with progress_bar("demo") as progress:
        records = measure(rows, {mpi.name: mpi for mpi in find_mpis()}, reason, experiment, progress)
    record.write(out / "demo.json", records)
    write_whole(out / "report.html", page.page(records))
    show(console, records)
    console.print(f"{results.conclusion(records)}; {time.monotonic() - begin:.0f} s", highlight=False, soft_wrap=True)
    console.print(f"report: {out / 'report.html'}", highlight=False, soft_wrap=True)
    return 0 if results.measured(records) and not results.left_out(records, "failed") else 1


def show(console: Console, records: Sequence[Measurement]) -> None:
    rows = results.measured(records)
    if rows:
        console.print(_table(rows))
        note = "(95%): confidence interval of the ratio; above 1 the program is faster with Wherry"
        console.print(note, style="dim", highlight=False)
        console.print("what Wherry did:")
    for row in rows:
        text = f"  {row['title']}, {row['where']}: {'; '.join(results.did(row))}"
        console.print(escape(text), highlight=False, soft_wrap=True)
    for line in results.left_out(records, "failed"):
        console.print(f"FAILED: {escape(line)}", style="red", highlight=False, soft_wrap=True)
    for line in results.left_out(records, "skipped"):
        console.print(f"not run: {escape(line)}", style="yellow", highlight=False, soft_wrap=True)


def _table(rows: Sequence[Measurement]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    for name in results.HEADERS:
        table.add_column(name, justify="right" if name in ("without", "with") else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(escape, results.cells(row)), style=_STYLES[results.verdict(row)])
    return table
