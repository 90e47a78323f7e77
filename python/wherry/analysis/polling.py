"""How blocking calls waited, why, and what that gained where it was measured, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from wherry import units
from wherry.analysis.record import Record
from wherry.analysis.record_format import WAIT_VERDICTS
from wherry.analysis.rows import Analysis, WaitTrialRow

_HOUR_S = 3600
_NOT_MEASURED = "what that gained was not measured: wherry compare --why does"


def fill_wait_trials(result: Analysis, ranks: Sequence[Record]) -> None:
    result.wait_trials = [
        WaitTrialRow(
            record.rank,
            row["pairs"],
            WAIT_VERDICTS[row["verdict"]],
            row["spun_hourly"] / _HOUR_S,
            row["polled_hourly"] / _HOUR_S,
        )
        for record in ranks
        for row in record.tables["wait_trials"]
    ]


def sentences(analysis: Analysis, asked: str = "") -> list[str]:
    """A line for the summary; none where each rank had its core, and waited in the library. asked: WHERRY_WAIT."""
    is_crowded = any(row.crowded for row in analysis.machines)
    if analysis.polled_calls:
        calls = units.count(analysis.polled_calls)
        why = _reason(is_crowded, asked)
        gained = _tried(analysis.wait_trials) or _NOT_MEASURED
        return [f"waiting: {calls} blocking calls polled and yielded the core, {why}; {gained}"]
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


def _tried(rows: Sequence[WaitTrialRow]) -> str:
    """What stretches with the one and the other brought; empty if there were none."""
    spun = sum(row.spun_per_second for row in rows)
    if not spun:
        return ""
    ratio = sum(row.polled_per_second for row in rows) / spun
    pairs = sum(row.pairs for row in rows)
    kept = ", ".join(
        f"{verdict} kept on {units.plural(n, 'rank')}" if verdict != "open" else f"{units.plural(n, 'rank')} undecided"
        for verdict in reversed(WAIT_VERDICTS)
        if (n := sum(row.verdict == verdict for row in rows))
    )
    return f"in {units.plural(pairs, 'pair')} of stretches they made {ratio:.2f} times the calls of spinning ({kept})"
