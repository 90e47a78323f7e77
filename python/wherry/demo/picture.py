"""The picture of the demo: for each row the ratio of times and its interval, on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

from wherry.demo import results
from wherry.draw import charts
from wherry.draw.markup import Markup, tag
from wherry.measure.record import Measurement

_LEFT, _RIGHT, _ROW, _FOOT, _HEAD = 330.0, 50.0, 28.0, 40.0, 6.0
_STYLES = {"faster": 0, "slower": 3, "no measurable difference": 7}
_WIDEST = 64.0  # what lies outside of 1/64 to 64 is drawn at the edge


def picture(records: Sequence[Measurement]) -> Markup:
    low, high = _range(records)
    floor = _HEAD + len(records) * _ROW
    marks = [_tick(2.0**power, (low, high), floor) for power in range(low, high + 1)]
    for i, record in enumerate(records):
        marks += _row(record, _HEAD + (i + 0.5) * _ROW, (low, high))
    middle = (_LEFT + charts.WIDTH - _RIGHT) / 2
    words = "time without / time with Wherry: right of 1 is faster with Wherry"
    marks.append(tag("text", words, x=middle, y=floor + 34, text_anchor="middle", class_="axis"))
    return charts.svg("Ratio of times of each program with its 95% interval", charts.WIDTH, floor + _FOOT, *marks)


def _range(records: Sequence[Measurement]) -> tuple[int, int]:
    """Powers of two around all intervals, and around 1."""
    ends = [min(max(end, 1 / _WIDEST), _WIDEST) for record in records for end in results.interval(record)]
    low, high = math.floor(math.log2(min([1.0, *ends]))), math.ceil(math.log2(max([1.0, *ends])))
    return min(low, -1), max(high, 1)


def _x(value: float, powers: tuple[int, int]) -> float:
    low, high = powers
    at = min(max(math.log2(value), low), high)
    return _LEFT + (at - low) / (high - low) * (charts.WIDTH - _LEFT - _RIGHT)


def _row(record: Measurement, y: float, powers: tuple[int, int]) -> list[Markup]:
    assert record.ratio is not None
    low, high = (_x(end, powers) for end in results.interval(record))
    style, text = (
        _STYLES[results.verdict(record)],
        f"{record['title']}, {record['where']}: {results.ratio(record)}, {results.verdict(record)}",
    )
    label = f"{record['title']}" + ("" if record["place"] == "node" else f" ({_PLACES[record['place']]})")
    tip = tag("title", text)
    return [
        tag("text", label, x=_LEFT - 14, y=y + 4, text_anchor="end"),
        tag("rect", tip, x=low, y=y - 2.5, width=max(high - low, 1.0), height=5.0, class_=f"s{style} pale"),
        tag("circle", tip, cx=_x(record.ratio, powers), cy=y, r=5.0, class_=f"s{style}"),
        tag("text", f"{record.ratio:.2f}", x=charts.WIDTH - 4, y=y + 4, text_anchor="end"),
    ]


_PLACES = {"cluster": "emulated cluster", "crowded": "more ranks than cores"}


def _tick(value: float, powers: tuple[int, int], floor: float) -> Markup:
    x = _x(value, powers)
    line = tag("line", x1=x, x2=x, y1=0.0, y2=floor, class_="grid one" if value == 1 else "grid")
    return Markup(line + tag("text", f"{value:g}", x=x, y=floor + 16, text_anchor="middle", class_="axis"))
