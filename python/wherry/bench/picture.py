"""A picture of results: how many times faster than its baseline each case ran."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from wherry.bench import heatmap
from wherry.bench.frame import Result
from wherry.errors import WherryError
from wherry.files import write_whole

_WHERRY, _BASELINE, _TEXT = "#2a78b8", "#8a8f98", "#6b7078"  # legible on light and dark pages


def draw(results: Sequence[Result], path: Path) -> None:
    """Writes an SVG of all results that have a ratio; the numbers are in the file of --json."""
    drawn = [result for result in results if result.ratio is not None]
    if not drawn:
        raise WherryError("there is nothing to draw: this benchmark compares nothing with a baseline")
    write_whole(path, _PICTURES.get(drawn[0].bench, svg)(drawn))


def svg(results: Sequence[Result]) -> str:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    labels = [f"{result.ranks} ranks, {result.case}" for result in results]
    ratios = [result.ratio or 0.0 for result in results]
    figure, axes = pyplot.subplots(figsize=(7.2, 0.5 + 0.42 * len(results)), layout="constrained")
    bars = axes.barh(labels, ratios, color=_WHERRY, height=0.62)
    axes.bar_label(bars, [f"{ratio:.2f}" for ratio in ratios], padding=4, color=_TEXT)
    axes.axvline(1.0, color=_BASELINE, linestyle="--", linewidth=1)
    axes.set_xlabel(f"times faster than the library's own ({results[0].mpi}; {results[0].network})", color=_TEXT)
    axes.set_xlim(0, max(ratios) * 1.12)
    axes.invert_yaxis()
    axes.tick_params(colors=_TEXT)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(_BASELINE)
    out = io.StringIO()
    figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    pyplot.close(figure)
    return out.getvalue()


#: Benchmarks whose results are not a list.
_PICTURES = {"grid": heatmap.svg}
