"""Compute overhead inside completion time, for every variant of a nonblocking collective."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wherry import units
from wherry.bench.overlap import COMPLETION, OVERHEAD, SHARE
from wherry.draw import figures
from wherry.measure.record import Measurement

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ACROSS = 3


def svg(results: Sequence[Measurement]) -> str:
    cases = list(dict.fromkeys((result.operation, result.size or 0) for result in results))
    across = min(_ACROSS, len(cases))
    down = -(-len(cases) // across)
    rows = max(len(_bars(results, *case)) for case in cases)

    def paint(figure: Figure) -> None:
        panels = figure.subplots(down, across, squeeze=False).flat
        for axes, case in zip(panels, cases, strict=False):
            _paint(axes, _bars(results, *case), f"{case[0]}, {units.bytes_(case[1])}")
        for axes in list(panels)[len(cases) :]:
            axes.set_axis_off()
        figure.supxlabel(
            f"us; pale: completion, dark: processor time inside MPI, %: processor time left to compute"
            f" ({results[0].mpi}, {results[0].ranks} ranks; {results[0].network})",
            fontsize=8,
        )

    return figures.svg(3.4 * across, down * (0.7 + 0.2 * rows), paint)


def _bars(results: Sequence[Measurement], operation: str, size: int) -> dict[str, dict[str, float]]:
    """Of every variant the values by metric, native first."""
    bars: dict[str, dict[str, float]] = {"native": {}}
    for result in results:
        if (result.operation, result.size) == (operation, size):
            name = result.case.partition(", ")[2] or "wherry"
            bars.setdefault(name, {})[result.metric] = result.value
            bars["native"][result.metric] = result.baseline or 0.0
    return bars


def _paint(axes: Axes, bars: dict[str, dict[str, float]], title: str) -> None:
    names = list(bars)
    completion, overhead = ([1e6 * bars[name][metric] for name in names] for metric in (COMPLETION, OVERHEAD))
    outer = axes.barh(names, completion, color=figures.COLOURS[0], alpha=0.35, height=0.7)
    axes.barh(names, overhead, color=figures.COLOURS[0], height=0.7)
    axes.bar_label(outer, [f"{bars[name][SHARE]:.0f} %" for name in names], padding=3, fontsize=7)
    axes.set_xlim(0, max(*completion, *overhead) * 1.2)
    axes.set_title(title, fontsize=8, loc="left")
    axes.tick_params(labelsize=7)
    axes.invert_yaxis()
