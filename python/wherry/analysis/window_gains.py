"""What cached windows won, in sentences."""

from __future__ import annotations

from wherry import units
from wherry.analysis import Analysis, WindowRow
from wherry.analysis.record_format import CACHINGS, NATIVE_GETS

#: What the record calls windows that are never cached.
UNCACHED = CACHINGS[3:]
_WHY = {
    "shared memory": "shared memory windows: not cached",
    "dynamic": "dynamic windows: not cached",
    "switched off": "windows whose info says off: not cached",
    "one rank": "windows of one rank: not cached",
    "accelerator": "windows that may be in an accelerator's memory: not cached",
    "info not understood": "windows whose info is not understood: not cached",
    "no memory": "windows without memory for a cache",
}
_MOST_REASONS = 2  # in a sentence


def sentences(analysis: Analysis) -> list[str]:
    """Lines for the summary; none for windows that nobody read."""
    return [_sentence(row) for row in analysis.windows if row.lookups + row.passed + row.bypassed > 0]


def _sentence(row: WindowRow) -> str:
    if row.caching in UNCACHED:
        return f"{_WHY[row.caching]}; {units.count(row.passed)} native gets"
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
    """Native gets, with the most frequent reasons."""
    reasons = [one for one in row.not_cached if one.reason in NATIVE_GETS][:_MOST_REASONS]
    said = "; ".join(f"{one.reason}: {units.count(one.count)}" for one in reasons)
    return f"{units.count(row.passed + row.bypassed)} native gets" + (f" ({said})" if said else "")


def _main_cause(row: WindowRow) -> str:
    total = sum(row.misses.values())
    cause, count = max(row.misses.items(), key=lambda item: item[1], default=("", 0))
    return cause if total > 0 and count > total / 2 else ""
