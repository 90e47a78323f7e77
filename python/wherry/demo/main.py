"""The command of `make demo`: runs the cases, writes out/report.html and out/demo.json, prints a table."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from wherry import paths
from wherry.demo import page, results
from wherry.demo.cases import CASES, HOSTS, RATE, Case, Ready, Skipped, select
from wherry.demo.measure import Plan, Run, records, run_all
from wherry.demo.measure import Progress as Report
from wherry.errors import WherryError, unknown
from wherry.files import make_folder, write_records, write_whole
from wherry.netlab import Cluster, NetlabError, why_unavailable
from wherry.run.mpis import find_mpis

_STYLES = {"faster": "green", "equal": "", "slower": "yellow", "unclear": "dim"}
_QUICK = Plan(most=1)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--out", type=click.Path(path_type=Path), default=Path("out"), show_default=True, help="where to write")
@click.option("--only", metavar="PROGRAM", multiple=True, help="fft, lammps, imb or alltoall; may be repeated")
@click.option("--no-cluster", is_flag=True, help="leave the emulated cluster out")
@click.option("--quick", is_flag=True, help="one round: shows that it works, not how fast")
def main(out: Path, only: tuple[str, ...], no_cluster: bool, quick: bool) -> None:
    """Real programs with and without Wherry: answers compared, then times."""
    console = Console(highlight=False)
    try:
        code = run(console, out, chosen(only), no_cluster, _QUICK if quick else Plan())
    except WherryError as error:
        code = complain(error, error.exit_code)
    except OSError as error:
        code = complain(error, 1)
    raise SystemExit(code)


def complain(error: Exception, code: int) -> int:
    Console(stderr=True, highlight=False).print(f"demo: {escape(str(error))}", style="red", soft_wrap=True)
    return code


def chosen(only: Sequence[str]) -> list[Case]:
    """Raises UsageError for a name that no program has."""
    names = list(dict.fromkeys(case.program.name for case in CASES))
    for name in only:
        if name not in names:
            raise unknown("program", name, names)
    return [case for case in CASES if not only or case.program.name in only]


def run(console: Console, out: Path, cases: Sequence[Case], no_cluster: bool, plan: Plan) -> int:
    """0 if all answers are equal and something ran."""
    begin = time.monotonic()
    out = out.absolute()
    for folder in (out, out / "demo"):
        make_folder(folder, "--out")
    paths.built(paths.preload_library())
    reason = "left out on request (--no-cluster)" if no_cluster else why_unavailable()
    ready, skipped = select(cases, find_mpis(), reason)
    runs = _measure(console, ready, out / "demo", plan)
    write_records(out / "demo.json", records(runs, skipped))
    write_whole(out / "report.html", page.page(runs, skipped))
    show(console, runs, skipped)
    console.print(f"\n{_conclusion(runs)}; {time.monotonic() - begin:.0f} s", soft_wrap=True)
    console.print(f"report: {out / 'report.html'}", soft_wrap=True)
    return 0 if runs and not any(run.problems for run in runs) else 1


def _measure(console: Console, ready: Sequence[Ready], out: Path, plan: Plan) -> list[Run]:
    with contextlib.ExitStack() as stack:
        cluster = None
        if any(row.case.cluster for row in ready):
            try:
                cluster = stack.enter_context(Cluster(HOSTS, RATE))
            except NetlabError as error:
                raise WherryError(str(error)) from error
        return run_all(ready, out, plan, cluster, stack.enter_context(_progress(console)))


@contextlib.contextmanager
def _progress(console: Console) -> Iterator[Report]:
    """A bar at a terminal, else a line per launch of a case."""
    if not console.is_terminal:
        yield lambda what, done, total: console.print(f"[{done + 1}/{total}] {what}", markup=False) if what else None
        return
    columns = (BarColumn(bar_width=30), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("")
        yield lambda what, done, total: bar.update(task, description=escape(what), completed=done, total=total)


def show(console: Console, runs: Sequence[Run], skipped: Sequence[Skipped]) -> None:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    for name in ("program", "MPI", "ranks", "time of", "without", "with", "ratio"):
        table.add_column(name, justify="right" if name in ("without", "with") else "left", overflow="fold")
    for line in results.lines(runs):
        times = (results.time_text(line.without_s), results.time_text(line.with_s))
        style = _STYLES[line.verdict]
        table.add_row(line.case.title, line.case.mpi, line.case.place, line.what, *times, line.ratio_text, style=style)
    if table.row_count:
        console.print(table)
        note = "ratio: without / with, above 1 Wherry is faster; ?: unclear; of sizes: mean low-high"
        console.print(note, style="dim")
    for run in runs:
        for problem in run.problems:
            console.print(f"FAILED: {run.case}: {escape(problem)}", style="red", soft_wrap=True)
    for row in skipped:
        console.print(f"skipped: {row.case}: {escape(row.reason)}", style="yellow", soft_wrap=True)


def _conclusion(runs: Sequence[Run]) -> str:
    wrong = sum(1 for run in runs if run.problems)
    if wrong:
        return f"{wrong} of {len(runs)} cases failed"
    counts = dict.fromkeys(_STYLES, 0)
    for line in results.lines(runs):
        counts[line.verdict] += 1
    compared = sum(run.compared for run in runs)
    words = ", ".join(f"{n} {verdict}" for verdict, n in counts.items() if n)
    return f"all {compared} answers compared are equal; times with Wherry: {words or 'none'}"
