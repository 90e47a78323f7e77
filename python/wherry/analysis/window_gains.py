"""What cached windows won, in sentences."""

from __future__ import annotations

from wherry import units
from wherry.analysis import Analysis, WindowRow

#: What the record calls windows that are never cached.
UNCACHED = ("shared memory", "dynamic")


def sentences(analysis: Analysis) -> list[str]:
    """Lines for the summary; none for windows that nobody read."""
    return [_sentence(row) for row in analysis.windows if row.lookups + row.passed + row.bypassed > 0]


def _sentence(row: WindowRow) -> str:
    if row.caching in UNCACHED:
        return f"{row.caching} windows: not cached; {units.count(row.passed)} native gets"
    words = [f"cached windows ({row.caching}):"]
    if row.lookups > 0:
        words.append(f"{_hits(row)}, {units.bytes_(row.bytes_saved)} not fetched")
        if why := _main_cause(row):
            words.append(f"; misses mostly {why}")
        if row.node_found > 0:
            words.append(f"; {units.count(row.node_found)} of them found in the node's cache")
    else:
        words.append("no range was looked up")
    if row.passed + row.bypassed > 0:
        words.append(f"; {_left(row)}")
    return " ".join(words).replace(" ;", ";")


def _hits(row: WindowRow) -> str:
    """Those that needed no message, apart from those that did for some of their bytes."""
    hits = f"{units.percent(row.whole_hits / row.lookups)} of {units.count(row.lookups)} ranges looked up were hits"
    return f"{hits} and {units.percent(row.partial_hits / row.lookups)} in part" if row.partial_hits > 0 else hits


def _left(row: WindowRow) -> str:
    left = f"{units.count(row.passed + row.bypassed)} native gets"
    return f"{left}, {units.count(row.bypassed)} of them because plain gets were cheaper" if row.bypassed > 0 else left


def _main_cause(row: WindowRow) -> str:
    total = sum(row.misses.values())
    cause, count = max(row.misses.items(), key=lambda item: item[1], default=("", 0))
    return cause if total > 0 and count > total / 2 else ""
