"""What ran in place of native collectives, what was decided when, and which calls fell back to native."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from wherry.analysis.packed import Row
from wherry.analysis.record import Record, comm_key, text
from wherry.analysis.record_format import LIMITS, NONE, REASONS
from wherry.analysis.rows import NS, Analysis, DecisionRow, FallbackRow, Kind, UseRow

#: shortest_ns of what was never timed.
_NEVER_TIMED = 2**64 - 1

_SETTLED = ("kept", "loaded", "forced")
_UNSETTLED = ("changed",)


def fill_choices(result: Analysis, ranks: Sequence[Record]) -> None:
    result.decisions = _decisions(ranks)
    result.uses = _uses(ranks)
    _count_kept(result)
    agreed = {(d.kind, d.strategy): d for d in result.decisions if d.native_seconds}
    for use in result.uses:
        _fill_times(use, agreed.get((use.kind, use.strategy)))
    fallbacks: dict[tuple[str, str], FallbackRow] = {}
    for record in ranks:
        for fallback in record.tables["misses"]:
            key = (record.function(fallback["function"]), text(fallback["reason"]))
            fallbacks.setdefault(key, FallbackRow(*key, 0)).calls += fallback["count"]
    result.fallbacks = sorted(fallbacks.values(), key=lambda row: -row.calls)


def _count_kept(result: Analysis) -> None:
    """Tells the calls of strategies that the ranks had settled on from trials.

    From the call at which a strategy was kept until the next is kept, or training begins again, its calls are not
    trials; re-evaluations of others then are. Without decisions nothing was tried: the settings named what ran.
    """
    settled: dict[Kind, list[tuple[int, str]]] = {}
    for row in result.decisions:
        steps = settled.setdefault(row.kind, [])
        if row.reason in (*_SETTLED, *_UNSETTLED):
            steps.append((row.call, row.strategy if row.reason in _SETTLED else ""))
    for kind, uses in _by_kind(result.uses).items():
        most = None if kind not in settled else _room(sorted(settled[kind]), sum(u.calls // u.ranks for u in uses))
        for use in uses:
            use.kept_calls = use.calls if most is None else min(use.calls, most[use.strategy] * use.ranks)


def _by_kind(uses: Sequence[UseRow]) -> dict[Kind, list[UseRow]]:
    found: dict[Kind, list[UseRow]] = defaultdict(list)
    for use in uses:
        found[use.kind].append(use)
    return found


def _room(steps: list[tuple[int, str]], calls: int) -> dict[str, int]:
    """How many calls there were, per rank, while each strategy was the one that was kept."""
    found: dict[str, int] = defaultdict(int)
    for (begin, strategy), (end, _) in pairwise([*steps, (calls, "")]):
        found[strategy] += max(end - begin, 0)
    return found


def _fill_times(use: UseRow, decision: DecisionRow | None) -> None:
    if use.strategy == "native" or decision is None or not decision.strategy_seconds or not decision.native_seconds:
        return
    use.strategy_seconds, use.native_seconds = decision.strategy_seconds, decision.native_seconds


def _uses(ranks: Sequence[Record]) -> list[UseRow]:
    rows: dict[tuple[Kind, str], UseRow] = {}
    for record in ranks:
        for use in record.tables["uses"]:
            name, key, _ = _comm(record, use["comm"])
            row = UseRow(
                **_of_kind(record, use, name, key),
                strategy=text(use["strategy"]),
                calls=0,
                bytes=0,
                seconds=0.0,
                shortest_seconds=math.inf,
                ranks=0,
            )
            row = rows.setdefault((row.kind, row.strategy), row)
            row.calls += use["calls"]
            row.bytes += use["bytes"]
            row.seconds += use["time_ns"] * NS
            if use["shortest_ns"] != _NEVER_TIMED:
                row.shortest_seconds = min(row.shortest_seconds, use["shortest_ns"] * NS)
            row.ranks += 1
    for row in rows.values():
        row.shortest_seconds = min(row.shortest_seconds, row.seconds / max(row.calls, 1))
    return sorted(rows.values(), key=lambda row: -row.seconds)


def _of_kind(record: Record, row: Row, comm: str, key: str) -> dict[str, Any]:
    """What the rows of uses and decisions have in common."""
    function, limit = record.function(row["function"]), LIMITS[row["limit"]]
    return {"function": function, "comm": comm, "comm_key": key, "bucket": row["bucket"], "limit": limit}


def _comm(record: Record, index: int) -> tuple[str, str, int]:
    if index == NONE:
        return "", "", 0
    comm = record.tables["comms"][index]
    return text(comm["name"]), comm_key(comm), comm["size"]


def _decisions(ranks: Sequence[Record]) -> list[DecisionRow]:
    """Decisions are the same on all ranks of a communicator; the first record that has one tells it."""
    rows: dict[tuple[Kind, int, str, str], DecisionRow] = {}
    for record in ranks:
        for decision in record.tables["decisions"]:
            name, key, size = _comm(record, decision["comm"])
            row = DecisionRow(
                **_of_kind(record, decision, name, key),
                at_seconds=(decision["at_ns"] - (record.init_ns or record.start_ns)) * NS,
                comm_size=size,
                call=decision["call"],
                strategy=text(decision["strategy"]),
                reason=REASONS[decision["reason"]],
                strategy_seconds=decision["time_ns"] * NS or None,
                native_seconds=decision["native_ns"] * NS or None,
            )
            rows.setdefault((row.kind, row.call, row.strategy, row.reason), row)
    return sorted(rows.values(), key=lambda row: (row.at_seconds, row.call))
