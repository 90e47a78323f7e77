"""What was simulated, as text for people."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from wherry import units
from wherry.simulate.collective import WHERRY, Outcome, Outcomes


def show(console: Console, setting: Outcomes) -> None:
    machine = setting.machine
    where = f"{units.plural(machine.ranks, 'rank')} on {units.plural(machine.nodes, 'node')}"
    console.print(f"{setting.collective.mpi}, {where}: {machine.platform.summary}", highlight=False, soft_wrap=True)
    for size in setting.sizes():
        console.print(f"\n{heading(setting, size)}", style="bold", highlight=False)
        console.print(table(setting, size))
        for line in notes(setting, size):
            console.print(escape(line), highlight=False, soft_wrap=True)
    console.print(
        f"\nSimulated times ({escape(setting.library)}), the same in every run. native: SMPI with Open MPI's"
        " decision rules; it does not pay for its copies, the strategies do. ratio: the faster native time"
        " / this time; above 1, the strategy wins. model: what the cost model expects with the platform's own figures.",
        highlight=False,
        soft_wrap=True,
    )


def heading(setting: Outcomes, size: int) -> str:
    return f"{'blocks' if setting.collective.in_blocks else 'messages'} of {units.bytes_(size)}"


def table(setting: Outcomes, size: int) -> Table:
    """Fastest first."""
    shown = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for i, column in enumerate(("variant", "simulated", "ratio", "model", "messages", "bytes", "copied")):
        shown.add_column(column, justify="left" if i == 0 else "right", no_wrap=True)
    native = setting.native_s(size)
    ran = [outcome for outcome in setting.of(size) if outcome.seconds is not None]
    for outcome in sorted(ran, key=lambda outcome: outcome.seconds or 0.0):
        shown.add_row(escape(outcome.variant), *_cells(outcome, native))
    return shown


def _cells(outcome: Outcome, native_s: float | None) -> Iterator[str]:
    seconds, counts = outcome.seconds or 0.0, outcome.counts
    yield units.seconds(seconds)
    yield f"{native_s / seconds:.2f}" if native_s is not None and seconds > 0 else ""
    yield "" if outcome.predicted_s is None else units.seconds(outcome.predicted_s)
    yield units.count(counts["messages"]) if counts else ""
    yield units.bytes_(counts["bytes"]) if counts else ""
    yield units.bytes_(counts["copied_bytes"]) if counts else ""


def notes(setting: Outcomes, size: int) -> Iterator[str]:
    """The model's choice evaluated, and what is missing from the table."""
    evaluated = setting.evaluation(size)
    if evaluated is not None:
        same = (
            "also the fastest strategy here"
            if evaluated.loss == 1
            else f"{evaluated.loss:.2f} x the time of {evaluated.best}"
        )
        ranking = "" if evaluated.correlation is None else f"; rank correlation {evaluated.correlation:.2f}"
        yield f"the model's first choice: {evaluated.first}, {same}{ranking}"
    for outcome in setting.of(size):
        if outcome.chosen and outcome.variant == WHERRY:
            yield f"{outcome.variant} learned to run: {outcome.chosen}"
        if outcome.note:
            yield f"{outcome.variant}: {outcome.note}"
