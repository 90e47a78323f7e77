"""Table, numbers and picture of the experiment: time, bandwidth and slowdown over size, as the source draws them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from wherry import units
from wherry.draw import figures
from wherry.measure.record import Measurement, Measurements, only, values
from wherry.study.datatypes.schemes import ALL, DERIVED, NATIVE, REFERENCE, WHERRY, bandwidth, by_size, slowdown
from wherry.study.parts import StudyTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Of the table; a quick check has others.
SHOWN = (1000, 100_000, 4_000_000, 100_000_000)
_ROWS = [(scheme, NATIVE) for scheme in ALL] + [(scheme, WHERRY) for scheme in DERIVED]


def tabulate(records: Measurements) -> StudyTable:
    """Slowdowns, of the reference the times; a row for each scheme, a column for each library.

    In parentheses: native / Wherry in the launch in which both took turns.
    """
    mpis = values(records, "mpi")
    sizes = [size for size in SHOWN if only(records, size=size)] or values(records, "size")
    head = f"time / contiguous at {', '.join(decimal(size) for size in sizes)}"
    rows = [
        (_label(scheme, side), *(_cell(only(records, mpi=mpi), scheme, side, sizes) for mpi in mpis))
        for scheme, side in _ROWS
    ]
    return StudyTable((head, *mpis), [row for row in rows if any(row[1:])])


def _label(scheme: str, side: str) -> str:
    return ALL[scheme] + (", under Wherry" if side == WHERRY else "")


def _cell(records: Measurements, scheme: str, side: str, sizes: Sequence[int]) -> str:
    rows = by_size(records, scheme, side)
    return " / ".join(_figure(rows[size]) for size in sizes if size in rows)


def _figure(row: Measurement) -> str:
    if row["scheme"] == REFERENCE:
        return units.seconds(row["value"])
    over = row["native_over_wherry"] if row["side"] == WHERRY else None
    return f"{slowdown(row):.2f}" + (f" ({over:.2f})" if over is not None else "")


def decimal(size: int) -> str:
    """Sizes of the source are decimal."""
    for unit, scale in (("MB", 1_000_000), ("kB", 1000)):
        if size >= scale:
            return f"{size / scale:g} {unit}"
    return f"{size} B"


def sheet(records: Measurements) -> str:
    """What the picture shows."""
    head = ("mpi", "network", "eager", "size", "scheme", "side")
    figures_of = {"seconds": lambda row: row["value"], "bytes_per_s": bandwidth, "slowdown": slowdown}
    return csv_text(records, head, figures_of)


def csv_text(
    records: Measurements, places: Sequence[str], figures_of: Mapping[str, Callable[[Measurement], float]]
) -> str:
    """For spreadsheets: a line for each record, with these members and figures."""
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow([*places, *figures_of])
    for row in records:
        lines.writerow([*(row[name] for name in places), *(f"{figure(row):.6g}" for figure in figures_of.values())])
    return out.getvalue()


_PANELS: Sequence[tuple[str, Callable[[Measurement], float]]] = (
    ("seconds", lambda row: row["value"]),
    ("bytes a second", bandwidth),
    ("time / contiguous", slowdown),
)


def draw(records: Measurements) -> str:
    """Dashed: under Wherry."""
    mpis = values(records, "mpi")

    def paint(figure: Figure) -> None:
        panels = figure.subplots(len(_PANELS), len(mpis), squeeze=False, sharex=True, sharey="row")
        for row, (name, value) in zip(panels, _PANELS, strict=True):
            for mpi, axes in zip(mpis, row, strict=True):
                _paint(axes, only(records, mpi=mpi), value)
            row[0].set_ylabel(name)
        for mpi, top, bottom in zip(mpis, panels[0], panels[-1], strict=True):
            top.set_title(f"{mpi}; {records[0]['network']}", fontsize=8, loc="left")
            bottom.set_xlabel("bytes")
        handles = panels[0][0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside right center", fontsize=7)

    return figures.svg(2.6 + 2.7 * len(mpis), 7.2, paint)


def _paint(axes: Axes, records: Measurements, value: Callable[[Measurement], float]) -> None:
    for number, scheme in enumerate(ALL):
        for side, line in ((NATIVE, "-"), (WHERRY, "--")):
            rows = by_size(records, scheme, side)
            if rows:
                style = figures.style(number) | {"markersize": 2.5, "linewidth": 1, "linestyle": line}
                axes.plot(list(rows), [value(row) for row in rows.values()], label=_label(scheme, side), **style)
    axes.set(xscale="log", yscale="log")
