"""A run that failed, in sentences: its code, the signal, and where each rank was."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from dataclasses import replace

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
    # The one that was in MPI least recently comes first: the others may have waited for it, or been ended with it.
    running.sort(key=lambda one: one.end_ns)
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
    if one.last_call == NONE:
        return "no call of MPI had returned yet"
    call = one.tables["calls"][one.last_call]
    site = _site(one)
    place = f", called from {names[site]}" if site is not None else ""
    return f"the last call that returned was {one.function(call['function'])}{place}{_ago(one)}"


def _site(one: Record) -> Site | None:
    if one.last_call == NONE:
        return None
    call = one.tables["calls"][one.last_call]
    if call["module"] == NONE:
        return None
    module = one.tables["modules"][call["module"]]
    return Site(text(module["path"]), int(call["site"]), int(module["base"]))


def _ago(one: Record) -> str:
    """How long before now, on this machine: whoever hung is told from who was ended."""
    since = time.monotonic_ns() - one.end_ns if one.boot_id == _boot_id() else 0
    return f", {units.seconds(since * _NS)} before the end" if since > 0 else ""


def _boot_id() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return ""
