"""From runs to the lines of the table: one per case and group of measures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from wherry import units
from wherry.demo.cases import Case
from wherry.demo.measure import WITH, WITHOUT, Run
from wherry.demo.programs import Measure

#: Ratios nearer to 1 than this are called equal: launches on a shared machine scatter by as much.
_EQUAL = 0.05


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

    @property
    def verdict(self) -> str:
        if self.ratio > 1 + _EQUAL:
            return "faster"
        return "equal" if self.ratio >= 1 / (1 + _EQUAL) else "slower"

    @property
    def ratio_text(self) -> str:
        spread = f" {self.lowest:.2f}-{self.highest:.2f}" if self.without_s is None else ""
        return f"{self.ratio:.2f}{spread}"


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
    if len(measures) == 1:
        times = (run.best(measures[0], WITHOUT), run.best(measures[0], WITH))
        return Line(run.case, group, measures[0][1], *times, mean, mean, mean)
    return Line(run.case, group, f"{measures[0][1]} to {measures[-1][1]}", None, None, mean, min(ratios), max(ratios))


def time_text(value: float | None) -> str:
    return "" if value is None else units.seconds(value)
