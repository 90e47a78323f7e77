"""What Wherry replaced by what, what that won, and what stayed native and why: in sentences."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from wherry import units
from wherry.analysis import Analysis
from wherry.ansi import style
from wherry.collective_names import NEIGHBORHOODS, OPERATIONS, REDUCTIONS
from wherry.run.settings import mpi_name

REPLACEABLE = tuple(map(mpi_name, (*OPERATIONS, *NEIGHBORHOODS)))
_REDUCTIONS = tuple(map(mpi_name, REDUCTIONS))

_MOST_FUNCTIONS, _MOST_USES, _MOST_FALLBACKS = 4, 3, 2
_LEAST_SHARE = 0.05  # of the calls of a function, to be named on a line of its own


@dataclass
class Replacement:
    """A strategy that was kept in place of the native collective, over all communicators and sizes."""

    function: str
    strategy: str
    calls: int = 0  # since it was kept
    loaded: bool = False  # an earlier run chose it, and this one has not questioned it


@dataclass
class Tally:
    """The calls of a function that Wherry chose for, summed over ranks."""

    calls: int = 0
    seconds: float = 0.0
    replaced: list[Replacement] = field(default_factory=list)  # the most used first
    trials: int = 0  # of strategies
    tried: list[str] = field(default_factory=list)
    decided: bool = False  # for some of the calls at least


def sentences(analysis: Analysis, switched_off: str = "", reproducible: bool = False) -> list[str]:
    """Styled lines.

    switched_off: why nothing could be replaced, if so. reproducible: whether WHERRY_REPRODUCIBLE is set.
    """
    found = tallies(analysis)
    named, more = list(found)[:_MOST_FUNCTIONS], list(found)[_MOST_FUNCTIONS:]
    lines = [line for function in named for line in _function(function, found[function])]
    if more:
        lines.append(f"likewise chosen for: {', '.join(more)} (the report has all)")
    if not reproducible and any(use.function in _REDUCTIONS for use in analysis.replaced):
        lines.append(
            "reductions of floating-point numbers that Wherry performs, trials among them, may round in another order;"
            " WHERRY_REPRODUCIBLE=1 keeps the native ones"
        )
    for row in analysis.fallbacks[:_MOST_FALLBACKS]:
        lines.append(f"native fallback: {units.count(row.calls)} {row.function} calls: {row.reason}")
    return lines or [f"Wherry replaced nothing: {_why_nothing(analysis, switched_off)}"]


def tallies(analysis: Analysis) -> dict[str, Tally]:
    """By function, and by what limits the choice; the one with most time first."""
    found: dict[str, Tally] = defaultdict(Tally)
    recorded = {row.function: row.totals.calls for row in analysis.functions}
    rows: dict[tuple[str, str], Replacement] = {}
    loaded = {(row.kind, row.strategy) for row in analysis.decisions if row.reason == "loaded"}
    for use in analysis.uses:
        tally = found[use.kind.name]
        tally.calls += use.calls
        tally.seconds += use.seconds
        tally.decided |= use.kept_calls > 0
        if use.strategy == "native":
            continue
        tally.trials += use.calls - use.kept_calls
        if use.calls > use.kept_calls and use.strategy not in tally.tried:
            tally.tried.append(use.strategy)
        if use.kept_calls:
            key = (use.kind.name, use.strategy)
            if key not in rows:
                tally.replaced.append(rows.setdefault(key, Replacement(*key)))
            rows[key].calls += use.kept_calls
            rows[key].loaded |= (use.kind, use.strategy) in loaded
    for name, tally in found.items():
        limited = sum(other.calls for known, other in found.items() if known.startswith(f"{name} ("))
        # Wherry is enabled on a communicator after its first calls.
        tally.calls = max(tally.calls, recorded.get(name, 0) - limited)
        tally.replaced.sort(key=lambda row: -row.calls)
        tally.tried.sort()
    return dict(sorted(found.items(), key=lambda item: -item[1].seconds))


def _function(function: str, tally: Tally) -> list[str]:
    mostly = [row for row in tally.replaced if row.calls >= _LEAST_SHARE * tally.calls]
    trials, names = units.percent(tally.trials / max(tally.calls, 1)), ", ".join(tally.tried)
    if mostly:
        lines = [_replaced(row, tally.calls) for row in mostly[:_MOST_USES]]
        return [*lines[:-1], f"{lines[-1]}; {trials} were trials" if tally.trials else lines[-1]]
    if not tally.decided:
        return [
            f"{function}: nothing is decided yet; "
            + (f"{trials} were trials of {names}" if names else "nothing was tried")
        ]
    if tally.replaced:
        names = ", ".join(row.strategy for row in tally.replaced)
        share = units.percent(1 - (tally.trials + sum(row.calls for row in tally.replaced)) / max(tally.calls, 1))
        return [f"{function}: native ran in {share} of the calls; in few, {names}"]
    kept = f"{function}: native remains"
    return [f"{kept}; trials of {names} ({trials}) did not beat it" if tally.trials else kept]


def _replaced(row: Replacement, calls: int) -> str:
    share = units.percent(row.calls / max(calls, 1))
    origin = " (chosen in an earlier run)" if row.loaded else ""
    return f"replaced {share} of {row.function} calls by {style(row.strategy, 'green')}{origin}"


def _why_nothing(analysis: Analysis, switched_off: str) -> str:
    if switched_off:
        return switched_off
    called = [row.function for row in analysis.functions if row.function in REPLACEABLE]
    if not called:
        return "the program called none of the collectives that it has strategies for"
    return (
        f"the calls of {', '.join(called)} were too few or without data (the first all-to-all of a communicator and the"
        " first 16 of its other collectives are native)"
    )
