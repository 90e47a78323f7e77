"""A picture of results: how many times faster than its baseline each case ran."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wherry.bench import heatmap, overlap_picture, programs_picture, scaling_picture
from wherry.draw import figures
from wherry.errors import WherryError
from wherry.files import write_whole
from wherry.measure.record import Measurement

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(results: Sequence[Measurement], path: Path) -> None:
    """Writes an SVG of all results that have a ratio; the numbers are in the file of --json."""
    drawn = [result for result in results if result.ratio is not None]
    if not drawn:
        raise WherryError("there is nothing to draw: this benchmark compares nothing with a baseline")
    write_whole(path, _PICTURES.get(drawn[0].bench, svg)(drawn))


def svg(results: Sequence[Measurement]) -> str:
    labels = [f"{result.ranks} ranks, {result.case}" for result in results]
    ratios = [result.ratio or 0.0 for result in results]

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        bars = axes.barh(labels, ratios, color=figures.COLOURS[0], height=0.62)
        axes.bar_label(bars, [f"{ratio:.2f}" for ratio in ratios], padding=4)
        axes.axvline(1.0, color=figures.LINES, linestyle="--", linewidth=1)
        axes.set_xlabel(f"times faster than native ({results[0].mpi}; {results[0].network})")
        axes.set_xlim(0, max(ratios) * 1.12)
        axes.invert_yaxis()
        axes.spines["left"].set_visible(False)

    return figures.svg(7.2, 0.5 + 0.42 * len(results), paint)


#: Benchmarks whose results are not a list.
_PICTURES = {
    "grid": heatmap.svg, "overlap": overlap_picture.svg, "programs": programs_picture.svg,
    "scaling": scaling_picture.svg,
}  # fmt: skip
