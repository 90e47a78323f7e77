"""How blocking calls waited, why, and whether it is known what that gained, in a sentence."""

from __future__ import annotations

from wherry import units
from wherry.analysis import Analysis

_NOT_MEASURED = "what that gained was not measured: wherry compare --why does"


def sentences(analysis: Analysis, asked: str = "") -> list[str]:
    """A line for the summary; none where each rank had its core, and waited in the library. asked: WHERRY_WAIT."""
    is_crowded = any(row.crowded for row in analysis.machines)
    if analysis.polled_calls:
        calls = units.count(analysis.polled_calls)
        why = _reason(is_crowded, asked)
        return [f"waiting: {calls} blocking calls polled and yielded the core, {why}; {_NOT_MEASURED}"]
    if not is_crowded:
        return []
    if asked == "spin":
        return ["waiting: in the MPI library, as WHERRY_WAIT=spin asks"]
    return ["waiting: in the MPI library, which gives cores away itself or was not told to (WHERRY_WAIT=yield polls)"]


def _reason(is_crowded: bool, asked: str) -> str:
    if asked == "yield":
        return "as WHERRY_WAIT=yield asks"
    cause = "ranks outnumber cores" if is_crowded else "others wanted the cores at times"
    return f"as {cause} (WHERRY_WAIT=spin turns it off)"
