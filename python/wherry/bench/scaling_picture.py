"""Time over the number of ranks, Wherry's and native."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wherry import units
from wherry.bench.scaling import TIME
from wherry.draw import figures
from wherry.measure.record import Measurement

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def svg(results: Sequence[Measurement]) -> str:
    times = [result for result in results if result.metric == TIME]
    sizes = list(dict.fromkeys(result.size or 0 for result in times))

    def paint(figure: Figure) -> None:
        for axes, size in zip(figure.subplots(1, len(sizes), squeeze=False).flat, sizes, strict=True):
            rows = [result for result in times if result.size == size]
            ranks = [result.ranks for result in rows]
            native, wherry = [1e6 * (row.baseline or 0.0) for row in rows], [1e6 * row.value for row in rows]
            axes.plot(ranks, native, color=figures.COLOURS[1], marker=".", label=rows[0].mpi)
            axes.plot(ranks, wherry, color=figures.COLOURS[0], marker=".", label="Wherry")
            axes.set_yscale("log")
            axes.set_title(f"{units.bytes_(size)}; {rows[0].network}", fontsize=8, loc="left")
            axes.set_xlabel("ranks")
            axes.set_ylabel("us per call")
            axes.legend()

    return figures.svg(4.2 * len(sizes), 3.2, paint)
