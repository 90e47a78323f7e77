"""The statistic of `wherry compare`: known quantiles, coverage, and how many rounds settle a ratio."""

from __future__ import annotations

import math
import random

import pytest

from wherry.compare.ratios import (
    MOST_ROUNDS,
    geometric_mean,
    paired_ratio,
    rounds_to_settle,
    shared_level,
    t_quantile,
)

SEED = 20_260


@pytest.mark.parametrize(
    ("degrees", "level", "expected"),  # as printed in tables of Student's distribution
    [
        (1, 0.95, 12.706),
        (2, 0.95, 4.303),
        (3, 0.95, 3.182),
        (9, 0.95, 2.262),
        (10, 0.99, 3.169),
        (29, 0.90, 1.699),
        (1000, 0.95, 1.962),
    ],
)
def test_quantiles_are_those_of_the_tables(degrees: int, level: float, expected: float) -> None:
    assert t_quantile(degrees, level) == pytest.approx(expected, abs=6e-4)


def test_a_ratio_by_hand() -> None:
    """Logarithms of the ratios are log 2 plus -h, 0 and h: mean log 2, deviation h."""
    h = 0.1
    found = paired_ratio([2 * math.exp(-h), 2.0, 2 * math.exp(h)], [1.0, 1.0, 1.0])
    half = 4.30265 * h / math.sqrt(3)
    assert found.value == pytest.approx(2)
    assert found.low == pytest.approx(2 * math.exp(-half), rel=1e-5)
    assert found.high == pytest.approx(2 * math.exp(half), rel=1e-5)
    assert found.differs


def test_the_inverse_ratio_has_the_inverse_interval() -> None:
    a, b = [1.0, 2.0, 3.5, 2.2], [1.5, 1.9, 3.0, 2.9]
    one, other = paired_ratio(a, b), paired_ratio(b, a)
    assert (one.value, one.low, one.high) == pytest.approx((1 / other.value, 1 / other.high, 1 / other.low))


def test_what_is_slow_in_both_cancels() -> None:
    machine = [1.0, 7.0, 2.0, 30.0]
    found = paired_ratio([1.2 * m for m in machine], machine)
    assert (found.low, found.high) == pytest.approx((1.2, 1.2))


def drawn(random: random.Random, truth: float, rounds: int) -> tuple[list[float], list[float]]:
    """Times of a machine whose speed drifts, with noise that is never below zero and has a tail."""
    baseline, variant = [], []
    for _ in range(rounds):
        state = math.exp(random.gauss(0, 0.5))
        noise = [1 + 0.03 * random.expovariate(1) for _ in range(2)]
        baseline.append(truth * state * noise[0])
        variant.append(state * noise[1])
    return baseline, variant


@pytest.mark.parametrize("truth", [0.95, 1.0, 1.02, 1.1])
@pytest.mark.parametrize("rounds", [3, 10])
def test_the_interval_holds_the_truth_as_often_as_it_says(truth: float, rounds: int) -> None:
    draw = random.Random(SEED)
    intervals = [paired_ratio(*drawn(draw, truth, rounds)) for _ in range(1000)]
    holds = sum(interval.low <= truth <= interval.high for interval in intervals)
    # Binomial, p = 0.95, n = 1000: deviation 6.9; four of these on either side.
    assert 922 <= holds <= 978, f"seed {SEED}: {holds} of 1000"


def test_several_levels_hold_together() -> None:
    draw = random.Random(SEED)
    level = shared_level(8)
    assert level == pytest.approx(1 - 0.05 / 8)
    wrong = sum(any(paired_ratio(*drawn(draw, 1.0, 10), level).differs for _ in range(8)) for _ in range(300))
    assert wrong <= 30, f"seed {SEED}: {wrong} of 300 named a difference where there is none"


def test_as_many_rounds_as_it_says_settle_it() -> None:
    """A pattern with mean h / 2 and known deviation, repeated: the interval leaves 1 out from exactly there on."""
    one = [math.exp(0.1), math.exp(-0.05)]
    needed = rounds_to_settle(one * 2, [1.0] * 4)
    mean = 0.025
    deviation = 0.075 * math.sqrt(4 / 3)
    assert needed is not None
    assert t_quantile(needed - 1, 0.95) * deviation / math.sqrt(needed) < mean
    assert t_quantile(needed - 2, 0.95) * deviation / math.sqrt(needed - 1) >= mean


def test_no_number_of_rounds_settles_what_is_equal() -> None:
    assert rounds_to_settle([1.1, 1 / 1.1], [1.0, 1.0]) is None
    assert MOST_ROUNDS == 500


def test_the_mean_ratio_is_the_ratio_of_the_means() -> None:
    a, b = [1.0, 2.0, 3.5], [1.5, 1.9, 3.0]
    assert geometric_mean(a) / geometric_mean(b) == pytest.approx(paired_ratio(a, b).value)
    assert geometric_mean([0.0, 1.0]) == 0


def test_one_round_has_no_interval() -> None:
    with pytest.raises(ValueError, match="two rounds"):
        paired_ratio([1.0], [1.0])


def test_two_rounds_far_apart_have_a_wide_interval_that_json_takes() -> None:
    found = paired_ratio([1.0, 1e9], [1e9, 1.0], shared_level(20))
    assert 0 < found.low < 1e-300 < 1e300 < found.high < math.inf
