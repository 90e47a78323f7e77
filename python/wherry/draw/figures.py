"""What all pictures by matplotlib share: SVG, legible on light and on dark pages, transparent.

Text stays text, and the same numbers give the same bytes. (The pictures of the report are in plots.py, without it.)
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # matplotlib takes long to load, and most commands draw nothing
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TEXT, LINES = "#767b83", "#8a8f98"
#: Those of Okabe and Ito, which colour-blind eyes distinguish; instead of their two palest, which white pages swallow,
#: an ochre and a violet.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b07d00", "#8a6fd1")

_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "wherry",
    "savefig.transparent": True,
    "text.color": TEXT,
    "axes.titlecolor": TEXT,
    "axes.labelcolor": TEXT,
    "axes.edgecolor": LINES,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": LINES,
    "ytick.color": LINES,
    "xtick.labelcolor": TEXT,
    "ytick.labelcolor": TEXT,
    "legend.frameon": False,
}


def svg(width: float, height: float, paint: Callable[[Figure], None]) -> str:
    """What `paint` puts on an empty figure of so many inches."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        paint(figure)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    return with_steady_names(out.getvalue())


def with_steady_names(svg: str) -> str:
    """The picture with its clip paths called by what is written of them.

    Matplotlib calls them by all digits of their rectangles. The last ones are not written, and differ between
    processors.
    """
    clips = re.findall(r'<clipPath id="([^"]+)">(.*?)</clipPath>', svg, flags=re.DOTALL)
    names = {name: f"p{hashlib.sha256(written.encode()).hexdigest()[:10]}" for name, written in clips}
    return re.sub(r'(?<=id=")[^"]+(?=")|(?<=url\(#)[^)]+(?=\))', lambda found: names.get(found[0], found[0]), svg)


def scale_logarithmically(axes: Axes, ticks: Sequence[float], label: Callable[[Any], str] = str) -> None:
    """The x axis, with these ticks and no others."""
    axes.set_xscale("log")
    axes.set_xticks(ticks, [label(tick) for tick in ticks])
    axes.minorticks_off()


def style(number: int) -> dict[str, Any]:
    """Of the line of this number: where the colours come again, they have other markers."""
    return {"color": COLOURS[number % len(COLOURS)], "marker": "os"[number // len(COLOURS)], "markersize": 4}
