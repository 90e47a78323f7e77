"""A picture of simulated times over the number of ranks: one panel per size, one line per variant."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wherry import units
from wherry.draw import figures
from wherry.errors import WherryError
from wherry.files import write_whole
from wherry.simulate.collective import NATIVE, Outcomes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Beyond the colours, the markers tell lines apart. Natives have one colour, and markers of their own.
_MARKERS, _NATIVE_MARKERS = "osD^vP", "x+1234*|_"


def draw(settings: Sequence[Outcomes], path: Path) -> None:
    """Writes an SVG; the numbers are in the file of --json."""
    if not any(outcome.seconds is not None for setting in settings for outcome in setting.outcomes):
        raise WherryError("there is nothing to draw: no case was simulated to its end; a higher --limit allows more")
    write_whole(path, svg(settings))


def curve(settings: Sequence[Outcomes], size: int, variant: str) -> tuple[list[int], list[float]]:
    """Ranks and seconds where this variant has a time."""
    points = [
        (setting.machine.ranks, outcome.seconds)
        for setting in settings
        for outcome in setting.of(size)
        if outcome.variant == variant and outcome.seconds is not None
    ]
    return [ranks for ranks, _ in points], [seconds for _, seconds in points]


def svg(settings: Sequence[Outcomes]) -> str:
    sizes = list(dict.fromkeys(size for setting in settings for size in setting.sizes()))
    style = styles(list(dict.fromkeys(outcome.variant for setting in settings for outcome in setting.outcomes)))
    counts = [setting.machine.ranks for setting in settings]

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(sizes), squeeze=False)[0]
        for size, axes in zip(sizes, panels, strict=True):
            for variant in style:
                ranks, seconds = curve(settings, size, variant)
                axes.plot(ranks, seconds, label=variant, linewidth=1.4, markersize=5, **style[variant])
            axes.set(xscale="log", yscale="log", xlabel="ranks", title=_title(settings[0], size))
            axes.set_xticks(counts, [str(count) for count in counts])
            axes.minorticks_off()
        panels[0].set_ylabel("simulated seconds")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center")

    return figures.svg(1.8 + 3.0 * len(sizes), 3.6, paint)


def styles(variants: Sequence[str]) -> dict[str, dict[str, str]]:
    """How each line is drawn, no two alike."""
    natives = [variant for variant in variants if variant.partition(":")[0] == NATIVE]
    ours = [variant for variant in variants if variant not in natives]
    return {
        variant: _native(natives.index(variant)) if variant in natives else _ours(ours.index(variant))
        for variant in variants
    }


def _native(at: int) -> dict[str, str]:
    style = "--" if at < len(_NATIVE_MARKERS) else ":"
    return {"color": figures.LINES, "linestyle": style, "marker": _NATIVE_MARKERS[at % len(_NATIVE_MARKERS)]}


def _ours(at: int) -> dict[str, str]:
    colours = figures.COLOURS
    return {"color": colours[at % len(colours)], "marker": _MARKERS[at // len(colours) % len(_MARKERS)]}


def _title(setting: Outcomes, size: int) -> str:
    return f"{setting.collective.mpi}, {units.bytes_(size)}, {setting.machine.platform.name}"
