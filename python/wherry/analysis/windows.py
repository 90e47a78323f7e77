"""What cached windows have done, by mode."""

from __future__ import annotations

from collections.abc import Sequence

from wherry.analysis.rows import NS, Analysis, WindowRow
from wherry.record import CACHINGS, CAUSES, Record

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
)


def fill_windows(result: Analysis, ranks: Sequence[Record]) -> None:
    rows: dict[str, WindowRow] = {}
    for record in ranks:
        for window in record.tables["windows"]:
            mode = CACHINGS[int(window["caching"])]
            row = rows.setdefault(mode, WindowRow(mode, misses=dict.fromkeys(CAUSES, 0)))
            row.windows += 1
            row.saved_seconds += int(window["saved_ns"]) * NS
            for name in _SUMS:
                setattr(row, name, getattr(row, name) + int(window[name]))
            for cause, count in zip(CAUSES, window["misses"], strict=True):
                row.misses[cause] += int(count)
    result.windows = sorted(rows.values(), key=lambda row: -row.lookups)
