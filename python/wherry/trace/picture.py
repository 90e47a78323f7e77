"""A picture of traces: a row for each rank, one panel below the other on one scale of time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wherry.draw import figures
from wherry.files import write_whole
from wherry.trace.spans import COMPUTE, KINDS, MPI, SETUP, WAIT, Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = {COMPUTE: figures.COLOURS[2], WAIT: figures.COLOURS[1], MPI: figures.COLOURS[0], SETUP: figures.COLOURS[3]}
_NAMES = {COMPUTE: "computing", WAIT: "waiting for other ranks", MPI: "in MPI", SETUP: "starting and ending MPI"}


def draw(traces: Sequence[Trace], path: Path) -> None:
    write_whole(path, svg(traces))


def svg(traces: Sequence[Trace]) -> str:
    """Each trace from its own begin on."""
    length_ms = 1e3 * max(trace.end_s - trace.begin_s for trace in traces)
    rows = sum(len(trace.ranks) for trace in traces)
    present = {span.kind for trace in traces for spans in trace.ranks.values() for span in spans}
    used = [kind for kind in KINDS if kind != SETUP or kind in present]

    def paint(figure: Figure) -> None:
        heights = [len(trace.ranks) + 1 for trace in traces]
        panels = figure.subplots(len(traces), 1, squeeze=False, sharex=True, height_ratios=heights)[:, 0]
        for axes, trace in zip(panels, traces, strict=True):
            _paint(axes, trace, used)
        panels[-1].set(xlabel="ms", xlim=(0, length_ms))
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=len(used))

    return figures.svg(7.2, 0.9 + 0.5 * len(traces) + 0.16 * rows, paint)


def _paint(axes: Axes, trace: Trace, kinds: Sequence[str]) -> None:
    zero = trace.begin_s
    for kind in kinds:
        label = _NAMES[kind]
        for row, spans in enumerate(trace.ranks.values()):
            bars = [(1e3 * (span.begin_s - zero), 1e3 * span.seconds) for span in spans if span.kind == kind]
            axes.broken_barh(bars, (row - 0.42, 0.84), facecolors=_COLOURS[kind], label=label if row == 0 else None)
    ranks = list(trace.ranks)
    every = max(1, len(ranks) // 8)
    axes.set_yticks(range(0, len(ranks), every), [str(rank) for rank in ranks[::every]])
    axes.set_ylabel("rank")
    axes.set_title(trace.title, fontsize=9, loc="left")
    axes.invert_yaxis()
