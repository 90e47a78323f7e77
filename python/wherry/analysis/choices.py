"""What ran in place of the library's collectives, what was decided when, and what was left to the library."""

from __future__ import annotations

from collections.abc import Sequence

from wherry.analysis.rows import NS, Analysis, DecisionRow, MissRow, UseRow
from wherry.record import NONE, REASONS, Record, comm_key, text


def fill_choices(result: Analysis, ranks: Sequence[Record]) -> None:
    result.decisions = _decisions(ranks)
    result.uses = _uses(ranks)
    agreed = {(d.comm_key, d.function, d.bucket, d.strategy): d for d in result.decisions if d.native_seconds}
    for use in result.uses:
        _estimate_gain(use, agreed.get((use.comm_key, use.function, use.bucket, use.strategy)))
    misses: dict[tuple[str, str], MissRow] = {}
    for record in ranks:
        for miss in record.tables["misses"]:
            key = (record.function(miss["function"]), text(miss["reason"]))
            misses.setdefault(key, MissRow(*key, 0)).calls += int(miss["count"])
    result.misses = sorted(misses.values(), key=lambda row: -row.calls)


def _estimate_gain(use: UseRow, decision: DecisionRow | None) -> None:
    if use.strategy == "native" or decision is None or not decision.strategy_seconds or not decision.native_seconds:
        return
    use.strategy_seconds, use.native_seconds = decision.strategy_seconds, decision.native_seconds
    use.gain_seconds = (decision.native_seconds - decision.strategy_seconds) * use.calls / max(use.ranks, 1)


def _uses(ranks: Sequence[Record]) -> list[UseRow]:
    rows: dict[tuple[str, str, int, str], UseRow] = {}
    for record in ranks:
        for use in record.tables["uses"]:
            name, key, _ = _comm(record, int(use["comm"]))
            function, bucket, strategy = record.function(use["function"]), int(use["bucket"]), text(use["strategy"])
            shortest = int(use["shortest_ns"]) * NS
            row = rows.setdefault(
                (function, key, bucket, strategy),
                UseRow(function, name, key, bucket, strategy, 0, 0, 0.0, shortest, 0),
            )
            row.calls += int(use["calls"])
            row.bytes += int(use["bytes"])
            row.seconds += int(use["time_ns"]) * NS
            row.shortest_seconds = min(row.shortest_seconds, shortest)
            row.ranks += 1
    return sorted(rows.values(), key=lambda row: -row.seconds)


def _comm(record: Record, index: int) -> tuple[str, str, int]:
    if index == NONE:
        return "", "", 0
    comm = record.tables["comms"][index]
    return text(comm["name"]), comm_key(comm), int(comm["size"])


def _decisions(ranks: Sequence[Record]) -> list[DecisionRow]:
    """Decisions are the same on all ranks of a communicator; the first record that has one tells it."""
    rows: dict[tuple[str, str, int, int, str, str], DecisionRow] = {}
    for record in ranks:
        for decision in record.tables["decisions"]:
            name, key, size = _comm(record, int(decision["comm"]))
            row = DecisionRow(
                at_seconds=(int(decision["at_ns"]) - (record.init_ns or record.start_ns)) * NS,
                function=record.function(decision["function"]),
                comm=name,
                comm_key=key,
                comm_size=size,
                bucket=int(decision["bucket"]),
                call=int(decision["call"]),
                strategy=text(decision["strategy"]),
                reason=REASONS[decision["reason"]],
                strategy_seconds=int(decision["time_ns"]) * NS or None,
                native_seconds=int(decision["native_ns"]) * NS or None,
            )
            rows.setdefault((key, row.function, row.bucket, row.call, row.strategy, row.reason), row)
    return sorted(rows.values(), key=lambda row: (row.at_seconds, row.call))
