"""How well does the cost model rank strategies, evaluated by simulated times?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Evaluation:
    """first: what the model would try first; best: what is fastest in the simulation. Ratios of simulated times."""

    first: str
    best: str
    loss: float  # time of the model's first choice over that of the best; 1: the model is right
    correlation: float | None  # Spearman's, of the two rankings; None with fewer than three strategies


def evaluate(simulated: Mapping[str, float], predicted: Mapping[str, float]) -> Evaluation | None:
    """Both in seconds by strategy; looks at those that both know. None if there are none."""
    names = [name for name in simulated if name in predicted]
    if not names:
        return None
    by_model = sorted(names, key=lambda name: predicted[name])
    best = min(names, key=lambda name: simulated[name])
    return Evaluation(
        first=by_model[0],
        best=best,
        loss=simulated[by_model[0]] / simulated[best],
        correlation=spearman([simulated[name] for name in names], [predicted[name] for name in names]),
    )


def spearman(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Correlation of the ranks, equal values sharing theirs. None with fewer than three values, or if all are equal."""
    if len(a) < 3:
        return None
    x, y = _ranks(a), _ranks(b)
    middle = (len(a) - 1) / 2
    covariance = sum((p - middle) * (q - middle) for p, q in zip(x, y, strict=True))
    spread = sum((p - middle) ** 2 for p in x) * sum((q - middle) ** 2 for q in y)
    return covariance / spread**0.5 if spread > 0 else None


def _ranks(values: Sequence[float]) -> list[float]:
    """0 for the smallest; the mean rank for equals."""
    return [sum(other < value for other in values) + (values.count(value) - 1) / 2 for value in values]
