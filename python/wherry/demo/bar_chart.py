"""The picture of the demo: every launch a dot, by its time relative to the best launch without Wherry."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from wherry import units
from wherry.draw import charts
from wherry.draw.markup import Markup, tag

WITHOUT_STYLE, WITH_STYLE = 7, 0
_LEFT, _RIGHT, _ROW, _FOOT = 300.0, 60.0, 30.0, 26.0
_LOW, _HIGH = 0.25, 8.0  # times the best without; what lies outside is drawn at the edge
_TICKS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


@dataclass(frozen=True)
class Bar:
    """Times of the launches of one measure, in seconds."""

    label: str
    without: Sequence[float]
    with_: Sequence[float]


def picture(title: str, bars: Sequence[Bar]) -> Markup:
    height = len(bars) * _ROW + _FOOT
    marks = [_tick(value, height - _FOOT) for value in _TICKS]
    for i, bar in enumerate(bars):
        marks += _bar(bar, i * _ROW)
    return charts.svg(title, charts.WIDTH, height, *marks)


def _x(relative: float) -> float:
    share = math.log(min(max(relative, _LOW), _HIGH) / _LOW) / math.log(_HIGH / _LOW)
    return _LEFT + share * (charts.WIDTH - _LEFT - _RIGHT)


def _bar(bar: Bar, top: float) -> list[Markup]:
    unit, best = min(bar.without), min(bar.with_)
    marks = [tag("text", bar.label, x=_LEFT - 12, y=top + _ROW / 2 + 4, text_anchor="end")]
    marks += _dots("without", bar.without, unit, top + _ROW / 2 - 5, WITHOUT_STYLE)
    marks += _dots("with Wherry", bar.with_, unit, top + _ROW / 2 + 5, WITH_STYLE)
    ratio = f"{unit / best:.2f}"
    marks.append(tag("text", ratio, x=charts.WIDTH - 6, y=top + _ROW / 2 + 4, text_anchor="end"))
    return marks


def _dots(who: str, times: Sequence[float], unit: float, y: float, style: int) -> list[Markup]:
    """The best is full and large, the others are pale."""
    best = min(times)
    marks = []
    for time in sorted(times, reverse=True):
        shape = {"r": 5.0, "fill_opacity": 1.0} if time == best else {"r": 3.5, "fill_opacity": 0.4}
        tip = tag("title", f"{who}: {units.seconds(time)}, {time / unit:.2f} of the best without")
        marks.append(tag("circle", tip, cx=_x(time / unit), cy=y, class_=f"s{style}", **shape))
    return marks


def _tick(value: float, bottom: float) -> Markup:
    x = _x(value)
    line = tag("line", x1=x, x2=x, y1=0.0, y2=bottom, class_="grid one" if value == 1 else "grid")
    return Markup(line + tag("text", f"{value:g}", x=x, y=bottom + 16, text_anchor="middle", class_="axis"))
