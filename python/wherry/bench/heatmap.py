"""A picture of the grid: which way was best at each place, and how far Wherry's choice is from it."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

from wherry import units
from wherry.bench.frame import Result

_TEXT, _LINES = "#1f2328", "#8a8f98"
_WORST = 2.0  # times the best, from which on the colour does not change any more


def svg(results: Sequence[Result]) -> str:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    places = {(_row(result), _size(result)): result for result in results}
    rows = list(dict.fromkeys(row for row, _ in places))
    sizes = sorted({size for _, size in places})
    distance = [[_distance(places.get((row, size))) for size in sizes] for row in rows]
    figure, axes = pyplot.subplots(figsize=(2.2 + 1.35 * len(sizes), 1.2 + 0.34 * len(rows)), layout="constrained")
    image = axes.imshow(distance, cmap="RdYlGn_r", vmin=1.0 / _WORST, vmax=_WORST, aspect="auto", alpha=0.75)
    for y, row in enumerate(rows):
        for x, size in enumerate(sizes):
            if result := places.get((row, size)):
                text = f"{_best(result)}\n{_distance(result):.2f}"
                axes.text(x, y, text, ha="center", va="center", fontsize=6, color=_TEXT)
    axes.set_xticks(range(len(sizes)), [units.bytes_(size) for size in sizes], color=_LINES)
    axes.set_yticks(range(len(rows)), rows, color=_LINES, fontsize=8)
    axes.set_title(
        f"the best way, and Wherry's time after training / the best ({results[0].mpi}; {results[0].network})",
        fontsize=8,
        color=_LINES,
        loc="left",
    )
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    bar = figure.colorbar(image, ax=axes, shrink=0.6)
    bar.ax.tick_params(colors=_LINES, labelsize=7)
    out = io.StringIO()
    figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    pyplot.close(figure)
    return out.getvalue()


def _row(result: Result) -> str:
    return f"{result.case.split()[0]}, {result.ranks} ranks"


def _size(result: Result) -> int:
    found = re.match(r"\S+ (\d+) B", result.case)
    return int(found[1]) if found else 0


def _best(result: Result) -> str:
    return result.case.partition("best: ")[2].replace("library: ", "lib. ")


def _distance(result: Result | None) -> float:
    return 1 / result.ratio if result and result.ratio else float("nan")
