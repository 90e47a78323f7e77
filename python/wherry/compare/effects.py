"""What Wherry did to a program, by lever, with counts: from the records of the last run with everything."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from wherry import units
from wherry.analysis import Analysis, replaced
from wherry.analysis.rows import UseRow
from wherry.compare.rounds import EVERYTHING, NATIVE, Comparison

#: How records name who moved derived types.
KERNELS = "layout kernels"

#: The algorithms in which kernels copy derived types, from this size class of blocks on: run::least_chunked_bytes.
_BY_LAYOUTS = {("MPI_Alltoallw", "direct"), ("MPI_Alltoallw", "pairwise")}
_LEAST_BUCKET = 17

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
    tallies = replaced.tallies(analysis)
    lines = []
    for lever in ("collectives", "layout"):
        kept = _kept(use for use in analysis.uses if _lever(use) == lever)
        found = [text for function, tally in tallies.items() if (text := _shares(function, tally.calls, kept))]
        if found:
            lines.append(f"{lever}: {'; '.join(found[:_MOST_FUNCTIONS])}")
    return lines


def _lever(use: UseRow) -> str:
    """What WHERRY_LAYOUT=native would leave out is the lever layout's; all else that is chosen, of collectives."""
    by_layouts = (use.function, use.strategy) in _BY_LAYOUTS and use.bucket >= _LEAST_BUCKET
    return "layout" if use.strategy == KERNELS or by_layouts else "collectives"


def _kept(uses: Iterable[UseRow]) -> dict[str, Counter[str]]:
    """For each function, how many calls ran by each algorithm that was kept."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for use in uses:
        if use.strategy != "native":
            found[use.kind.name][use.strategy] += use.kept_calls
    return found


def _shares(function: str, calls: int, kept: Mapping[str, Counter[str]]) -> str:
    """Empty where nothing was kept for a share that is worth a word."""
    used = [(name, n) for name, n in kept.get(function, Counter()).most_common(2) if n >= _LEAST_SHARE * max(calls, 1)]
    shares = " and ".join(f"{units.percent(n / calls)} by {name}" for name, n in used)
    return f"{function}, {shares} of {units.count(calls)} calls" if used else ""


def _others(analysis: Analysis) -> list[str]:
    lines = []
    if analysis.polled_calls:
        lines.append(f"waiting: {units.count(analysis.polled_calls)} blocking calls yielded the core")
    hits = sum(row.whole_hits for row in analysis.windows)
    if hits:
        lines.append(f"cache: {units.count(hits)} gets answered without a message")
    return lines
