"""From runs to the lines of the table: one per case and group of measures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from wherry import units
from wherry.demo.cases import Case
from wherry.demo.measure import WITH, WITHOUT, Run
from wherry.demo.programs import Measure

#: Ratios nearer to 1 than this are called equal.
EQUAL = 0.05
#: Of all pairs of a launch without and one with Wherry, the share that must point the way of the ratio. Where fewer do,
#: launches of either kind scatter too much to tell.
CLEAR = 0.75


@dataclass(frozen=True)
class Line:
    """Times are of one measure; a group of several shows the mean ratio and how far the ratios lie apart."""

    case: Case
    what: str
    detail: str  # such as sizes
    without_s: float | None
    with_s: float | None
    ratio: float  # geometric mean
    lowest: float
    highest: float
    won: float  # share of pairs of launches in which the one with Wherry took less time

    @property
    def verdict(self) -> str:
        if 1 / (1 + EQUAL) <= self.ratio <= 1 + EQUAL:
            return "equal"
        faster = self.ratio > 1
        if (self.won if faster else 1 - self.won) < CLEAR:
            return "unclear"
        return "faster" if faster else "slower"

    @property
    def ratio_text(self) -> str:
        doubt = "?" if self.verdict == "unclear" else ""
        spread = f" {self.lowest:.2f}-{self.highest:.2f}" if self.without_s is None else ""
        return f"{self.ratio:.2f}{doubt}{spread}"


def lines(runs: Sequence[Run]) -> list[Line]:
    return [line for run in runs if not run.problems for line in _lines(run)]


def _lines(run: Run) -> list[Line]:
    groups: dict[str, list[Measure]] = {}
    for measure in run.measures:
        groups.setdefault(measure[0], []).append(measure)
    return [_line(run, group, measures) for group, measures in groups.items()]


def _line(run: Run, group: str, measures: Sequence[Measure]) -> Line:
    ratios = [run.ratio(measure) for measure in measures]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    detail = f"{measures[0][1]} to {measures[-1][1]}"
    times: tuple[float | None, float | None] = (None, None)
    if len(measures) == 1:
        detail, times = measures[0][1], (run.best(measures[0], WITHOUT), run.best(measures[0], WITH))
    return Line(run.case, group, detail, *times, mean, min(ratios), max(ratios), _won(run, measures))


def _won(run: Run, measures: Sequence[Measure]) -> float:
    pairs = [
        (without, with_)
        for measure in measures
        for without in run.launches(measure, WITHOUT)
        for with_ in run.launches(measure, WITH)
    ]
    return sum(1.0 if with_ < without else 0.5 if with_ == without else 0.0 for without, with_ in pairs) / len(pairs)


def time_text(value: float | None) -> str:
    return "" if value is None else units.seconds(value)
