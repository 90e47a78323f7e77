"""Ratios of paired runs with their confidence intervals. Pure functions.

The statistic: in each round every variant runs once, so a round gives one ratio baseline / variant, and a state of the
machine that lasts longer than a round is in both. The logarithms of these ratios are averaged; the interval is
Student's t interval of their mean. Logarithms, because a ratio and its inverse must give the same answer. No run is
left out.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

LEVEL = 0.95
MOST_ROUNDS = 500  # more than these are not proposed to anybody
_MOST_EXPONENT = 700.0
STATISTIC = "geometric mean of the ratios of paired runs, t interval of their logarithms"


@dataclass(frozen=True)
class Ratio:
    """baseline / variant: above 1 the variant takes less."""

    value: float
    low: float
    high: float
    rounds: int
    level: float = LEVEL

    @property
    def differs(self) -> bool:
        """Whether the interval excludes 1."""
        return self.low > 1 or self.high < 1

    def data(self) -> dict[str, float]:
        return {"ratio": self.value, "low": self.low, "high": self.high, "level": self.level, "rounds": self.rounds}


def paired_ratio(baseline: Sequence[float], variant: Sequence[float], level: float = LEVEL) -> Ratio:
    """Of positive numbers, one pair for each round; at least two rounds."""
    mean, deviation = _logarithms(baseline, variant)
    n = len(baseline)
    half = t_quantile(n - 1, level) * deviation / math.sqrt(n)
    return Ratio(math.exp(mean), _exp(mean - half), _exp(mean + half), n, level)


def _exp(x: float) -> float:
    """Two rounds may leave an end of the interval anywhere; JSON knows no infinity."""
    return math.exp(min(max(x, -_MOST_EXPONENT), _MOST_EXPONENT))


def rounds_to_settle(baseline: Sequence[float], variant: Sequence[float], level: float = LEVEL) -> int | None:
    """How many rounds in all would leave 1 outside of the interval, if mean and deviation are what they seem to be.

    None: more than MOST_ROUNDS.
    """
    mean, deviation = _logarithms(baseline, variant)

    def settles(n: int) -> bool:
        return t_quantile(n - 1, level) * deviation < abs(mean) * math.sqrt(n)

    low, high = len(baseline), MOST_ROUNDS
    if not settles(high):
        return None
    while low < high:  # the half width falls with n
        middle = (low + high) // 2
        low, high = (low, middle) if settles(middle) else (middle + 1, high)
    return high


def geometric_mean(values: Sequence[float]) -> float:
    """So that the quotient of two means is the mean ratio; 0 if one of the values is."""
    return math.exp(statistics.fmean(map(math.log, values))) if min(values) > 0 else 0.0


def shared_level(statements: int, level: float = LEVEL) -> float:
    """The level of each of several intervals that all hold with `level` together (Bonferroni)."""
    return 1 - (1 - level) / max(statements, 1)


def _logarithms(baseline: Sequence[float], variant: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation of the logarithms of the ratios."""
    if len(baseline) < 2:
        raise ValueError("an interval needs two rounds")
    logs = [math.log(a / b) for a, b in zip(baseline, variant, strict=True)]
    return statistics.fmean(logs), statistics.stdev(logs)


@cache
def t_quantile(degrees: int, level: float) -> float:
    """The t with a share `level` of Student's distribution between -t and t."""
    low, high = 0.0, 1.0
    while _between(high, degrees) < level:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _between(middle, degrees) < level else (low, middle)
    return (low + high) / 2


def _between(t: float, degrees: int) -> float:
    """The share of the distribution between -t and t: a finite sum for whole degrees of freedom.

    Abramowitz and Stegun, 26.7.3 and 26.7.4.
    """
    angle = math.atan(t / math.sqrt(degrees))
    square = math.cos(angle) ** 2
    odd = degrees % 2
    term, total = (math.cos(angle), 0.0) if odd else (1.0, 0.0)
    for i in range(odd, degrees - 1, 2):
        total += term
        term *= square * (i + 1) / (i + 2)
    if odd:
        return 2 / math.pi * (angle + math.sin(angle) * total)
    return math.sin(angle) * total
