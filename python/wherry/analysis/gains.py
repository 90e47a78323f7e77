"""What Wherry's collectives were worth: from the controlled trial inside the run, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import fsum

from wherry.analysis.packed import Row
from wherry.analysis.record import Record, comm_key, text
from wherry.analysis.record_format import NONE, VERDICTS
from wherry.analysis.rows import NS, Analysis, GainRow
from wherry.screen import bold

_MOST_SENTENCES = 2
_MILLIONTH = 1e-6


@dataclass
class _Trial:
    """Of one communicator, as its ranks saw it."""

    name: str
    size: int
    rows: list[Row] = field(default_factory=list)


def fill_gains(result: Analysis, ranks: Sequence[Record]) -> None:
    """The most time covered by pairs comes first."""
    trials: dict[str, _Trial] = {}
    for record in ranks:
        for row in record.tables["gains"]:
            if row["comm"] == NONE:
                continue
            comm = record.tables["comms"][row["comm"]]
            trials.setdefault(comm_key(comm), _Trial(text(comm["name"]), comm["size"])).rows.append(row)
    result.gains = sorted(
        (_gain(key, trial) for key, trial in trials.items()), key=lambda row: -row.pairs * row.native_seconds
    )


def _gain(key: str, trial: _Trial) -> GainRow:
    """Means over the ranks, of the bounds too: the mean of some estimates varies no more than they do."""

    def mean(column: str, unit: float) -> float:
        return fsum(row[column] for row in trial.rows) / len(trial.rows) * unit

    is_known = all(row["least"] <= row["most"] for row in trial.rows)
    return GainRow(
        comm=trial.name,
        comm_key=key,
        comm_size=trial.size,
        pairs=min(row["pairs"] for row in trial.rows),
        share=mean("share", _MILLIONTH),
        low=mean("least", _MILLIONTH) if is_known else None,
        high=mean("most", _MILLIONTH) if is_known else None,
        verdict=VERDICTS[trial.rows[0]["verdict"]],
        native_seconds=mean("native_ns", NS),
        replaced_seconds=mean("other_ns", NS),
    )


def sentences(analysis: Analysis) -> list[str]:
    """Styled lines, for runs that did not fail and in which something was replaced."""
    lines = []
    for row in [row for row in analysis.gains if row.low is not None][:_MOST_SENTENCES]:
        difference, interval = claim(row)
        lines.append(f"collectives on {name(row)}: {bold(difference)} ({interval})")
    if lines or not any(use.kept_calls for use in analysis.replaced):
        return lines
    return ["gain: not measured (too few calls to compare with native ones, or the settings name what runs)"]


def name(row: GainRow) -> str:
    return row.comm or f"a communicator of {row.comm_size} ranks"


def claim(row: GainRow) -> tuple[str, str]:
    """The difference that is there with 95% confidence, and its interval."""
    if row.low is None or row.high is None:
        return "not compared", "too few calls"
    if row.high >= 1:  # more than all of the time: so few steps and so much noise that the interval says nothing
        return "no measurable difference", "the trial's steps differ too much among themselves"
    if row.low > 0:
        return f"{_percent(row.share)} less time per step", _interval(row.low, row.high)
    if row.high < 0:
        native = "; native runs now" if row.verdict == "native" else ""
        return f"{_percent(-row.share)} more time per step", _interval(-row.high, -row.low) + native
    return "no measurable difference", f"{_interval(row.low, row.high)} less time per step"


def _interval(low: float, high: float) -> str:
    return f"95%: {_percent(low)} to {_percent(high)}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
