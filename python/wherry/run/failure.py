"""A run that failed, in sentences: its code, the signal, and where each rank was."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from wherry import units
from wherry.analysis import Analysis
from wherry.analysis.record import CallUnderWay, Record, text
from wherry.analysis.record_format import NONE
from wherry.analysis.sites import Site, name_sites

_MOST_RANKS = 8
_NS = 1e-9


def sentences(code: int, ranks: Sequence[Record]) -> list[str]:
    """What is said first of a run whose command ended with this code, which is not 0."""
    running = [one for one in ranks if not one.finalized]
    if not running:
        return [f"{_ended(code)}, after all ranks had reached MPI_Finalize"]
    who = units.ranges([one.rank for one in running])
    noun = "rank" if len(running) == 1 else "ranks"
    # First who aborted, then those that compute, then who was in MPI least recently: the others may have waited for
    # them, or been ended with them.
    running.sort(key=lambda one: (not _aborts(one), bool(one.under_way), _last_seen_ns(one)))
    lines = [f"{_ended(code)}; {noun} {who} of {max(len(ranks), ranks[0].size)} did not reach MPI_Finalize"]
    names = name_sites(site for one in running for site in _sites(one))
    lines += [f"rank {one.rank}: {_where(one, names)}" for one in running[:_MOST_RANKS]]
    if len(running) > _MOST_RANKS:
        lines.append(f"and {units.plural(len(running) - _MOST_RANKS, 'more rank')}")
    return lines


def without_gains(analysis: Analysis) -> Analysis:
    """Of a part of a run nobody knows what Wherry was worth."""
    return replace(analysis, gains=[])


def _ended(code: int) -> str:
    try:
        name = signal.Signals(code - 128).name if code > 128 else ""
    except ValueError:
        name = ""
    return f"the command failed with code {code}{f' ({name})' if name else ''}"


def _where(one: Record, names: dict[Site, str]) -> str:
    if one.under_way:
        calls = [_call(one, call, names) for call in sorted(one.under_way, key=lambda call: call.enter_ns)]
        return "; another thread ".join(calls)
    if one.last_call == NONE:
        return "no call of MPI had returned yet"
    call = one.tables["calls"][one.last_call]
    site = _last_site(one)
    outside = "in no recorded call; " if one.knows_all_threads else ""
    since = _before_the_end(one, one.end_ns)
    return f"{outside}the last call that returned was {one.function(call['function'])}{_place(site, names)}{since}"


def _call(one: Record, call: CallUnderWay, names: dict[Site, str]) -> str:
    since = _before_the_end(one, call.enter_ns, "entered ") if call.enter_ns else ""
    return f"in {one.function(call.function)}{_place(_site_of(one, call), names)}{since}"


def _place(site: Site | None, names: dict[Site, str]) -> str:
    return "" if site is None else f", called from {names[site]}"


def _sites(one: Record) -> Iterator[Site]:
    """Those that are named."""
    for site in (*(_site_of(one, call) for call in one.under_way), _last_site(one)):
        if site is not None:
            yield site


def _site_of(one: Record, call: CallUnderWay) -> Site | None:
    below = [module for module in one.tables["modules"] if module["base"] <= call.site]
    if not below:
        return None
    module = max(below, key=lambda module: module["base"])
    return Site(text(module["path"]), call.site - module["base"], module["base"])


def _last_site(one: Record) -> Site | None:
    if one.last_call == NONE:
        return None
    call = one.tables["calls"][one.last_call]
    if call["module"] == NONE:
        return None
    module = one.tables["modules"][call["module"]]
    return Site(text(module["path"]), call["site"], module["base"])


def _aborts(one: Record) -> bool:
    return any(one.function(call.function) == "MPI_Abort" for call in one.under_way)


def _last_seen_ns(one: Record) -> int:
    return min((call.enter_ns or one.end_ns for call in one.under_way), default=one.end_ns)


def _before_the_end(one: Record, at_ns: int, what: str = "") -> str:
    """How long before now, on this machine: whoever hung is told from who was ended."""
    since = time.monotonic_ns() - at_ns if one.boot_id == _boot_id() else 0
    return f", {what}{units.seconds(since * _NS)} before the end" if since > 0 else ""


def _boot_id() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return ""
