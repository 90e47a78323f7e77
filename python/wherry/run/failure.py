"""A run that failed, in sentences: its code, the signal, and where each rank was."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from wherry import units
from wherry.analysis import Analysis
from wherry.analysis.record import Record, text
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
    running.sort(key=lambda one: (not _aborts(one), one.under_way is not None, _last_seen_ns(one)))
    lines = [f"{_ended(code)}; {noun} {who} of {max(len(ranks), ranks[0].size)} did not reach MPI_Finalize"]
    names = name_sites(site for one in running if (site := _site(one)) is not None)
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
    site = _site(one)
    place = f", called from {names[site]}" if site is not None else ""
    if one.under_way is not None:
        return f"in {one.function(one.under_way.function)}{place}{_before_the_end(one, ', entered ')}"
    if one.last_call == NONE:
        return "no call of MPI had returned yet"
    call = one.tables["calls"][one.last_call]
    outside = "in no recorded call; " if one.knows_calls_under_way else ""
    function = one.function(call["function"])
    return f"{outside}the last call that returned was {function}{place}{_before_the_end(one, ', ')}"


def _site(one: Record) -> Site | None:
    """Of the call under way, else of the last one."""
    modules = one.tables["modules"]
    if one.under_way is not None:
        known = modules["base"] <= one.under_way.site
        if not known.any():
            return None
        module = modules[known][np.argmax(modules["base"][known])]
        return Site(text(module["path"]), one.under_way.site - int(module["base"]), int(module["base"]))
    if one.last_call == NONE:
        return None
    call = one.tables["calls"][one.last_call]
    if call["module"] == NONE:
        return None
    module = modules[call["module"]]
    return Site(text(module["path"]), int(call["site"]), int(module["base"]))


def _aborts(one: Record) -> bool:
    return one.under_way is not None and one.function(one.under_way.function) == "MPI_Abort"


def _last_seen_ns(one: Record) -> int:
    return one.end_ns if one.under_way is None else one.under_way.enter_ns or one.end_ns


def _before_the_end(one: Record, words: str) -> str:
    """How long before now, on this machine: whoever hung is told from who was ended."""
    if one.boot_id != _boot_id() or (one.under_way is not None and one.under_way.enter_ns == 0):
        return ""
    since = time.monotonic_ns() - _last_seen_ns(one)
    return f"{words}{units.seconds(since * _NS)} before the end" if since > 0 else ""


def _boot_id() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return ""
