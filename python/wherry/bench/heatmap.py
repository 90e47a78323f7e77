"""A picture of the grid: which algorithm was best at each place, and how far Wherry's choice is from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wherry import units
from wherry.bench.grid import DISTANCE
from wherry.draw import figures
from wherry.measure.record import Measurement

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WORST = 2.0  # times the best, from which on the colour does not change any more
_DARK, _PALE = "#1f2328", "#ffffff"


def svg(results: Sequence[Measurement]) -> str:
    """Of the results that say how far the choice is from the best."""
    distances = [result for result in results if result.metric == DISTANCE]
    places = {(_row(result), result.size or 0): result for result in distances}
    rows = list(dict.fromkeys(row for row, _ in places))
    sizes = sorted({size for _, size in places})

    def paint(figure: Figure) -> None:
        import numpy as np

        axes = figure.subplots()
        distance = [[_distance(places.get((row, size))) for size in sizes] for row in rows]
        # Not transparent: what is written on the cells is legible whatever the page.
        image = axes.imshow(distance, cmap="RdYlGn_r", vmin=1.0 / _WORST, vmax=_WORST, aspect="auto")
        colours = image.to_rgba(np.asarray(distance))
        for (row, size), result in places.items():
            x, y = sizes.index(size), rows.index(row)
            _write(axes, x, y, result, colours[y, x])
        axes.set_xticks(range(len(sizes)), [units.bytes_(size) for size in sizes])
        axes.set_yticks(range(len(rows)), rows, fontsize=8)
        axes.set_title(
            f"the best algorithm, and Wherry's time after training / the best ({results[0].mpi}; {results[0].network})",
            fontsize=8,
            loc="left",
        )
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        figure.colorbar(image, ax=axes, shrink=0.6).ax.tick_params(labelsize=7)

    return figures.svg(2.2 + 1.35 * len(sizes), 1.2 + 0.34 * len(rows), paint)


def _write(axes: Axes, x: int, y: int, result: Measurement, cell: Sequence[float]) -> None:
    text = f"{result.against.replace('library: ', 'lib. ')}\n{_distance(result):.2f}"
    red, green, blue, _ = cell
    ink = _DARK if 0.3 * red + 0.6 * green + 0.1 * blue > 0.45 else _PALE
    axes.text(x, y, text, ha="center", va="center", fontsize=6, color=ink)


def _row(result: Measurement) -> str:
    return f"{result.operation}, {result.ranks} ranks"


def _distance(result: Measurement | None) -> float:
    return 1 / result.ratio if result and result.ratio else float("nan")
