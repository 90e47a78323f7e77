"""What cached windows have done, by mode."""

from __future__ import annotations

from collections.abc import Sequence

from wherry.analysis.record import Record
from wherry.analysis.record_format import CACHINGS, CAUSES, NOT_CACHED
from wherry.analysis.rows import Analysis
from wherry.analysis.window_rows import NotCachedRow, TrackRow, WindowRow

_SUMS = (
    "full_hits",
    "pending_hits",
    "partial_hits",
    "evictions",
    "bytes_saved",
    "bytes_fetched",
    "passed",
    "bypassed",
    "flushes_saved",
    "node_found",
    "node_offered",
    "node_refused",
)


MOST_TRACKS = 6


def fill_windows(result: Analysis, ranks: Sequence[Record]) -> None:
    rows: dict[str, WindowRow] = {}
    reasons: dict[tuple[str, str], NotCachedRow] = {}
    for record in ranks:
        for window in record.tables["windows"]:
            mode = CACHINGS[window["caching"]]
            row = rows.setdefault(mode, WindowRow(mode, misses=dict.fromkeys(CAUSES, 0)))
            row.windows += 1
            for name in _SUMS:
                setattr(row, name, getattr(row, name) + int(window[name]))
            for cause, count in zip(CAUSES, window["misses"], strict=True):
                row.misses[cause] += int(count)
        for part in record.tables["not_cached"]:
            mode = CACHINGS[record.tables["windows"][part["window"]]["caching"]]
            why = NOT_CACHED[part["reason"]]
            found = reasons.setdefault((mode, why), NotCachedRow(why))
            found.count += part["count"]
            found.bytes += part["bytes"]
    for (mode, _), found in sorted(reasons.items(), key=lambda item: -item[1].count):
        rows[mode].not_cached.append(found)
    result.windows = sorted(rows.values(), key=lambda row: -row.lookups)
    tracks = [track for record in ranks for track in _tracks(record)]
    result.tracks = sorted(tracks, key=lambda row: (-row.lookups, row.rank))[:MOST_TRACKS]


def _tracks(record: Record) -> list[TrackRow]:
    """Of the windows of a rank that were looked into often enough to have points."""
    rows: dict[int, TrackRow] = {}
    for point in record.tables["window_points"]:
        at = point["window"]
        window = record.tables["windows"][at]
        hits = sum(int(window[name]) for name in ("full_hits", "pending_hits", "partial_hits"))
        track = TrackRow(record.rank, CACHINGS[window["caching"]], hits + sum(window["misses"]))
        seen = [int(point[name]) for name in ("lookups", "hits", "storage_bytes")]
        rows.setdefault(at, track).points.append(seen)
    for point in record.tables["window_curves"]:
        if track_ := rows.get(point["window"]):
            track_.curve.append([point["bytes"], point["missed_millionth"] / 1e6])
    return list(rows.values())
