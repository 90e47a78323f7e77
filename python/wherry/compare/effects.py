"""What Wherry did to a program, by lever, with counts: from the records of the last run with everything."""

from __future__ import annotations

from wherry import units
from wherry.analysis import Analysis, replaced
from wherry.compare.rounds import EVERYTHING, NATIVE, Comparison

#: How records name who moved derived types.
KERNELS = "layout kernels"

_MOST_FUNCTIONS = 3
_LEAST_SHARE = 0.05  # of a function's calls, to be named


def effects(result: Comparison) -> list[str]:
    """A line for each lever that did anything; none where nothing was done or nothing is known."""
    if result.analysis is None:
        return []
    faults = (result.mean(NATIVE, "faults"), result.mean(EVERYTHING, "faults"))
    return [*_memory(result.analysis, *faults), *_replaced(result.analysis), *_others(result.analysis)]


def _memory(analysis: Analysis, native: float, ours: float) -> list[str]:
    kept = sum(row.ranks for row in analysis.faults if row.state == "kept")
    if not kept:
        return []
    counts = f"{units.count(round(native))} page faults a run became {units.count(round(ours))}"
    return [f"memory: freed memory kept on {units.plural(kept, 'rank')}, {counts}"]


def _replaced(analysis: Analysis) -> list[str]:
    """Of collectives, and of what moves derived types."""
    found: dict[str, list[str]] = {"collectives": [], "layout": []}
    for function, tally in replaced.tallies(analysis).items():
        used = [row for row in tally.replaced if row.calls >= _LEAST_SHARE * max(tally.calls, 1)]
        if used:
            lever = "layout" if used[0].strategy == KERNELS else "collectives"
            shares = " and ".join(f"{units.percent(row.calls / tally.calls)} by {row.strategy}" for row in used[:2])
            found[lever].append(f"{function}, {shares} of {units.count(tally.calls)} calls")
    return [f"{lever}: {'; '.join(texts[:_MOST_FUNCTIONS])}" for lever, texts in found.items() if texts]


def _others(analysis: Analysis) -> list[str]:
    lines = []
    if analysis.polled_calls:
        lines.append(f"waiting: {units.count(analysis.polled_calls)} blocking calls yielded the core")
    hits = sum(row.whole_hits for row in analysis.windows)
    if hits:
        lines.append(f"cache: {units.count(hits)} gets answered without a message")
    return lines
