"""A picture of simulated times over the number of ranks: one panel per size, one line per variant."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from wherry import units
from wherry.errors import WherryError
from wherry.files import write_whole
from wherry.simulate.collective import NATIVE, Setting

_TEXT, _NATIVE = "#6b7078", "#8a8f98"  # legible on light and dark pages
#: Distinguishable with colour-blind eyes (Okabe and Ito); beyond them the markers tell lines apart.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_MARKERS = "osD^vP"


def draw(settings: Sequence[Setting], path: Path) -> None:
    """Writes an SVG; the numbers are in the file of --json."""
    if not any(outcome.seconds is not None for setting in settings for outcome in setting.outcomes):
        raise WherryError("there is nothing to draw: no case was simulated to its end; a higher --limit allows more")
    write_whole(path, svg(settings))


def curve(settings: Sequence[Setting], size: int, variant: str) -> tuple[list[int], list[float]]:
    """Ranks and seconds where this variant has a time."""
    points = [
        (setting.machine.ranks, outcome.seconds)
        for setting in settings
        for outcome in setting.of(size)
        if outcome.variant == variant and outcome.seconds is not None
    ]
    return [ranks for ranks, _ in points], [seconds for _, seconds in points]


def svg(settings: Sequence[Setting]) -> str:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    sizes = list(dict.fromkeys(size for setting in settings for size in setting.sizes()))
    variants = list(dict.fromkeys(outcome.variant for setting in settings for outcome in setting.outcomes))
    ours = [variant for variant in variants if not variant.startswith(NATIVE)]
    counts = [setting.machine.ranks for setting in settings]
    # Text stays text, and the same numbers give the same bytes.
    matplotlib.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "wherry"}
    figure, panels = pyplot.subplots(1, len(sizes), figsize=(1.8 + 3.0 * len(sizes), 3.6), layout="constrained")
    for size, axes in zip(sizes, [panels] if len(sizes) == 1 else panels, strict=True):
        for variant in variants:
            ranks, seconds = curve(settings, size, variant)
            axes.plot(ranks, seconds, label=variant, linewidth=1.4, markersize=5, **_look(variant, ours))
        axes.set(xscale="log", yscale="log", title=_title(settings[0], size))
        axes.set_xticks(counts, [str(count) for count in counts])
        axes.minorticks_off()
        axes.set_xlabel("ranks", color=_TEXT)
        axes.tick_params(colors=_TEXT)
        axes.title.set_color(_TEXT)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        for side in ("left", "bottom"):
            axes.spines[side].set_color(_NATIVE)
    first = figure.axes[0]
    first.set_ylabel("simulated seconds", color=_TEXT)
    handles, labels = first.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False, labelcolor=_TEXT)
    out = io.StringIO()
    figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    pyplot.close(figure)
    return out.getvalue()


def _title(setting: Setting, size: int) -> str:
    return f"{setting.subject.mpi}, {units.bytes_(size)}, {setting.machine.platform.name}"


def _look(variant: str, ours: Sequence[str]) -> dict[str, str]:
    if variant.startswith(NATIVE):
        return {"color": _NATIVE, "linestyle": "--" if variant == NATIVE else ":", "marker": "x"}
    at = ours.index(variant)
    return {"color": _COLOURS[at % len(_COLOURS)], "marker": _MARKERS[at // len(_COLOURS) % len(_MARKERS)]}
