"""The pictures of the report: numbers in, inline SVG out. Colours are classes, so that the page's style decides.

Every mark has a <title>, which browsers show as a tooltip and readers speak.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wherry.draw.markup import Markup, tag

WIDTH = 780.0
_ROW, _BAR = 26.0, 16.0
_AXIS = 64.0  # left of upright bars
_LABEL_PX = 8.0  # of a letter; "MPI_Comm_dup" in DejaVu Sans takes 7.7
MOST_CELLS = 64  # of a matrix, per side

Format = Callable[[float], str]


@dataclass(frozen=True)
class BarPart:
    """A piece of a bar."""

    value: float
    style: int  # index of a colour
    tip: str
    pale: bool = False


@dataclass(frozen=True)
class Bar:
    label: str
    parts: Sequence[BarPart]
    note: str = ""  # written at the end of the bar


def svg(title: str, width: float, height: float, *children: Markup) -> Markup:
    """A picture; a wide one is wrapped, so that a narrow screen scrolls it and its text stays legible."""
    box = f"0 0 {width:.0f} {height:.0f}"
    made = tag("svg", tag("title", title), *children, viewBox=box, role="img", width=width, height=height)
    return tag("div", made, class_="scroll wide") if width >= WIDTH else made


def horizontal_bars(title: str, bars: Sequence[Bar]) -> Markup:
    """One row per bar; the longest fills the width between labels and notes."""
    left = min(240.0, 14 + _LABEL_PX * max(len(bar.label) for bar in bars))
    right = 12 + _LABEL_PX * max(len(bar.note) for bar in bars)
    most = max(sum(part.value for part in bar.parts) for bar in bars) or 1.0
    scale = (WIDTH - left - right) / most
    marks: list[Markup] = []
    for i, bar in enumerate(bars):
        y = i * _ROW + (_ROW - _BAR) / 2
        marks.append(_label(left - 8, y + _BAR - 4, _cut(bar.label, left), "end", bar.label))
        x = left
        for part in bar.parts:
            marks.append(_rect(x, y, part.value * scale, _BAR, part))
            x += part.value * scale
        marks.append(_label(x + 6, y + _BAR - 4, bar.note, "start", css="note"))
    return svg(title, WIDTH, len(bars) * _ROW + 4, *marks)


def columns(title: str, bars: Sequence[Bar], format_: Format, height: float = 220.0, width: float = WIDTH) -> Markup:
    """Upright stacked bars with a value axis."""
    step = (width - _AXIS - 8) / len(bars)
    every = math.ceil(len(bars) * 16 / (width - _AXIS))  # labels need room
    flat = all(_LABEL_PX * len(bar.label) < step * every for bar in bars)
    left, bottom, top = _AXIS, 26.0 if flat else 58.0, 10.0
    most = max((sum(part.value for part in bar.parts) for bar in bars), default=0.0) or 1.0
    ticks = nice_ticks(most)
    scale = (height - bottom - top) / ticks[-1]
    floor = height - bottom
    marks = [_grid(left, width - 8, floor - t * scale, format_(t)) for t in ticks]
    for i, bar in enumerate(bars):
        x, y = left + i * step, floor
        for part in bar.parts:
            y -= part.value * scale
            marks.append(_rect(x + step * 0.1, y, step * 0.8, part.value * scale, part))
        if i % every == 0:
            middle = x + step / 2
            upright = _label(middle, floor + 16, bar.label, "middle", css="axis")
            marks.append(upright if flat else _slanted(middle, floor + 12, bar.label))
    return svg(title, width, height, *marks)


def matrix(title: str, cells: Sequence[Sequence[float]], labels: Sequence[str], format_: Format) -> Markup:
    """Who sends (row) to whom (column), in shades of a logarithmic scale."""
    n = len(cells)
    side = min(26.0, 300.0 / n)
    ticks = [label.partition("-")[0] for label in labels]  # the first rank of a block; tooltips tell all
    left, top = 28 + _LABEL_PX * len(ticks[-1]), 40.0
    values = [v for row in cells for v in row if v > 0] or [1.0]
    # At least two powers of ten from pale to dark, so that nearly equal cells look equal.
    high = math.log(max(values))
    low = min(math.log(min(values)), high - math.log(100))
    marks: list[Markup] = [
        _label(left + n * side / 2, 12, "to rank", "middle", css="axis"),
        _from_rank(top + n * side / 2),
    ]
    every = max(1, math.ceil((8 + _LABEL_PX * len(ticks[-1])) / side))
    for i, row in enumerate(cells):
        if i % every == 0:
            middle = (i + 0.5) * side
            marks.append(_label(left - 5, top + middle + 4, ticks[i], "end", css="axis"))
            marks.append(_label(left + middle, top - 6, ticks[i], "middle", css="axis"))
        for j, value in enumerate(row):
            depth = 0.0 if value <= 0 else 0.15 + 0.85 * (math.log(value) - low) / (high - low)
            tip = tag("title", f"{labels[i]} to {labels[j]}: {format_(value)}")
            place = {"x": left + j * side, "y": top + i * side, "width": side - 0.5, "height": side - 0.5}
            css = "cell" if value > 0 else "cell none"
            marks.append(tag("rect", tip, class_=css, fill_opacity=round(depth, 3) if value > 0 else None, **place))
    return svg(title, left + n * side + 8, top + n * side + 6, *marks)


@dataclass(frozen=True)
class ChartSpan:
    """A strategy that held from `begin` to `end`."""

    row: int
    begin: float
    end: float
    style: int
    tip: str
    trial: bool = False


def timeline(title: str, rows: Sequence[str], spans: Sequence[ChartSpan], end: float, format_: Format) -> Markup:
    left, bottom = min(240.0, 14 + _LABEL_PX * max(len(row) for row in rows)), 26.0
    scale = (WIDTH - left - 30) / (end or 1.0)
    height = len(rows) * _ROW + bottom
    marks = [_upright(left + t * scale, height - bottom, format_(t)) for t in nice_ticks(end or 1.0) if t <= end]
    for i, row in enumerate(rows):
        marks.append(_label(left - 8, i * _ROW + _BAR, _cut(row, left), "end", row))
    for span in spans:
        place = {"x": left + span.begin * scale, "width": max((span.end - span.begin) * scale, 1.5)}
        css = _colour(span.style, span.trial)
        y, tall = span.row * _ROW + (_ROW - _BAR) / 2, _BAR
        marks.append(tag("rect", tag("title", span.tip), class_=css, y=y, height=tall, **place))
    return svg(title, WIDTH, height, *marks)


@dataclass(frozen=True)
class Line:
    """Points by ascending x."""

    label: str
    points: Sequence[tuple[float, float]]
    style: int


def lines(title: str, series: Sequence[Line], x_format: Format, y_format: Format, logarithmic: bool = False) -> Markup:
    """Lines of shares over an axis that begins at 0, or with `logarithmic` at a power of two."""
    xs = [x for line in series for x, _ in line.points]
    ticks = powers_of_two(min(xs), max(xs)) if logarithmic else nice_ticks(max(xs) or 1.0)
    height, left, right, bottom, top = 220.0, _AXIS, WIDTH - 30, 26.0, 10.0
    floor, tall = height - bottom, height - bottom - top

    def across(x: float) -> float:
        """The first tick is on the left, the last one on the right."""
        place = math.log2(x / ticks[0]) / math.log2(ticks[-1] / ticks[0]) if logarithmic else x / ticks[-1]
        return left + place * (right - left)

    marks = [_grid(left, right, floor - share * tall, y_format(share)) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    marks += [_label(across(tick), floor + 16, x_format(tick), "middle", css="axis") for tick in ticks]
    for line in series:
        path = " ".join(f"{across(x):.1f},{floor - y * tall:.1f}" for x, y in line.points)
        marks.append(tag("polyline", tag("title", line.label), points=path, class_=f"line l{line.style}"))
    return svg(title, WIDTH, height, *marks)


def powers_of_two(least: float, most: float, about: int = 6) -> list[float]:
    """From at most `least` to at least `most`, two or more, each the same multiple of the one before."""
    low, high = math.floor(math.log2(least)), math.ceil(math.log2(most))
    step = max(1, math.ceil((high - low) / about))
    steps = max(1, math.ceil((high - low) / step))
    return [2.0 ** (low + i * step) for i in range(steps + 1)]


def legend(entries: Sequence[tuple[str, int]]) -> Markup:
    """Names of the colours."""
    return tag(
        "p",
        *(tag("span", tag("i", class_=f"k{style}"), name, class_="key") for name, style in entries),
        class_="legend",
    )


def nice_ticks(most: float, about: int = 4) -> list[float]:
    """0 to at least `most` in steps of 1, 2 or 5 times a power of ten."""
    raw = most / about
    power = 10.0 ** math.floor(math.log10(raw)) if raw > 0 else 1.0
    step = next(f * power for f in (1, 2, 5, 10) if f * power >= raw * (1 - 1e-9))
    return [i * step for i in range(math.ceil(most / step * (1 - 1e-9)) + 1)]


def aggregate(size: int, entries: Sequence[tuple[int, int, float]]) -> tuple[list[list[float]], list[str]]:
    """A matrix of at most MOST_CELLS per side, cells of equal blocks of ranks, and the names of the blocks."""
    block = math.ceil(size / MOST_CELLS)
    n = math.ceil(size / block)
    cells = [[0.0] * n for _ in range(n)]
    for origin, target, value in entries:
        if 0 <= origin < size and 0 <= target < size:
            cells[origin // block][target // block] += value
    return cells, [_block_name(i, block, size) for i in range(n)]


def _block_name(i: int, block: int, size: int) -> str:
    first, last = i * block, min((i + 1) * block, size) - 1
    return f"{first}" if first == last else f"{first}-{last}"


def _cut(label: str, room: float) -> str:
    most = int((room - 10) / _LABEL_PX)
    return label if len(label) <= most else label[: most - 1] + "…"


def _rect(x: float, y: float, width: float, height: float, part: BarPart) -> Markup:
    place = {"x": x, "y": y, "width": max(width, 0.0), "height": max(height, 0.0)}
    return tag("rect", tag("title", part.tip), class_=_colour(part.style, part.pale), **place)


def _colour(style: int, pale: bool) -> str:
    return f"s{style} pale" if pale else f"s{style}"


def _label(x: float, y: float, text: str, anchor: str, tip: str | None = None, css: str | None = None) -> Markup:
    note = tag("title", tip) if tip and tip != text else None
    return tag("text", note, text, x=x, y=y, text_anchor=anchor, class_=css)


def _from_rank(y: float) -> Markup:
    place = f"translate(10 {y:.1f}) rotate(-90)"
    return tag("text", "from rank", class_="axis", text_anchor="middle", transform=place)


def _slanted(x: float, y: float, text: str) -> Markup:
    place = f"translate({x:.1f} {y:.1f}) rotate(-40)"
    return tag("text", text, transform=place, text_anchor="end", class_="axis")


def _grid(x1: float, x2: float, y: float, text: str) -> Markup:
    line = tag("line", x1=x1, x2=x2, y1=y, y2=y, class_="grid")
    return Markup(line + _label(x1 - 6, y + 4, text, "end", css="axis"))


def _upright(x: float, y: float, text: str) -> Markup:
    line = tag("line", x1=x, x2=x, y1=0.0, y2=y, class_="grid")
    return Markup(line + _label(x, y + 16, text, "middle", css="axis"))
