"""Whole programs: native time over time under Wherry, each with its interval; a colour for each MPI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wherry.draw import figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from wherry.measure.record import Measurement

_TICKS = (0.5, 0.7, 1, 1.5, 2, 3, 5)


def svg(results: Sequence[Measurement] | Sequence[Mapping[str, Any]]) -> str:
    """results: with a ratio each; or the same as they stand in a file of records."""
    mpis = list(dict.fromkeys(str(result["mpi"]) for result in results))
    programs = list(dict.fromkeys(str(result["case"]) for result in results))

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        axes.axvline(1.0, color=figures.LINES, linestyle="--", linewidth=1)
        for number, mpi in enumerate(mpis):
            rows = [result for result in results if result["mpi"] == mpi]
            apart = 0.5 * (number - (len(mpis) - 1) / 2) / len(mpis)
            places = [programs.index(str(row["case"])) + apart for row in rows]
            ratios = [float(row["ratio"]) for row in rows]
            ends = [row["samples"][0] for row in rows]
            axes.errorbar(
                ratios, places, linestyle="", capsize=2, label=mpi, **figures.style(number),
                xerr=[
                    [max(ratio - end["low"], 0.0) for ratio, end in zip(ratios, ends, strict=True)],
                    [max(end["high"] - ratio, 0.0) for ratio, end in zip(ratios, ends, strict=True)],
                ],
            )  # fmt: skip
        figures.scale_logarithmically(axes, _TICKS, "{:g}".format)
        axes.set_yticks(range(len(programs)), programs)
        axes.set_ylim(len(programs) - 0.4, -0.6)
        axes.set_xlabel("native time / time under Wherry, 95% interval: faster to the right of 1")
        axes.legend()

    return figures.svg(7.2, 0.9 + 0.26 * len(programs), paint)
