"""What page faults cost, and what malloc was told of freed memory, in a sentence."""

from __future__ import annotations

from wherry import units
from wherry.analysis import Analysis
from wherry.analysis.rows import FaultRow

_WORTH = 0.05  # of the processor time; above it, it is worth a trial
_NAMED = 0.02  # below it nothing is said
_COMPARED = 100  # calls of a rank, before and since; of fewer nothing is said


def sentences(analysis: Analysis) -> list[str]:
    """A line for the summary; none where faults cost next to nothing."""
    rows = {row.state: row for row in analysis.faults}
    native, kept, back = (rows.get(state) for state in ("as malloc has it", "kept", "taken back"))
    if kept is not None:
        told = "malloc was told to keep freed memory"
        before = f"{_cost(native)} until {told}" if native is not None and native.faults > 0 else told
        since = f"; {_count(kept)} in the {units.seconds(kept.seconds / kept.ranks)} after"
        taken = f", which was taken back on {units.plural(back.ranks, 'rank')}" if back is not None else ""
        return [f"page faults: {before}{since}{taken}{_gain(native, kept)}"]
    if native is None or native.share < _NAMED:
        return []
    return [f"page faults: {_cost(native)}{_advice(native) if native.share >= _WORTH else ''}"]


def _gain(native: FaultRow | None, kept: FaultRow) -> str:
    """Of the processor time, as malloc has it and since: what a rank waited for others is not in it."""
    rows = [row for row in (native, kept) if row is not None and row.calls >= _COMPARED * row.ranks]
    if len(rows) < 2:
        return "; what that gained was not measured"
    before, since = (row.seconds / row.calls for row in rows)
    return f"; processor time for each call of MPI: {units.seconds(before)} before, {units.seconds(since)} after"


def _advice(native: FaultRow) -> str:
    if native.why_not:
        return f"; Wherry cannot let malloc keep freed memory: {native.why_not}"
    return "; worth trying: WHERRY_MEMORY=keep"


def _count(row: FaultRow) -> str:
    return f"{round(row.faults / row.ranks):,} a rank"


def _cost(row: FaultRow) -> str:
    """Of what a fault costs on fresh memory, which was measured at the start."""
    spent = units.seconds(row.fault_seconds / row.ranks)
    return f"{_count(row)}, about {spent} ({units.percent(row.share)} of the processor time)"
