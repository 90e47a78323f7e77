"""Where the time of each rank went, span by span: from records of the profiler, or from a program's own trace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wherry.analysis import record
from wherry.errors import UsageError, WherryError
from wherry.trace import chrome, recorded
from wherry.trace.spans import COMPUTE, KINDS, MPI, SETUP, WAIT, Span, Trace


def read(source: Path) -> Trace:
    """Of a folder of `wherry run --report`, or of a trace file. Raises UsageError for anything else."""
    if source.is_dir():
        return from_folder(source)
    if not source.exists():
        raise UsageError(f"{source} does not exist; give a folder of `wherry run --report`, or a trace file")
    return chrome.read(source)


def from_folder(folder: Path) -> Trace:
    records = record.read_all(folder)
    if not records.ranks:
        why = f": {records.problems[0]}" if records.problems else ""
        raise UsageError(f"no records in {folder}{why}; make some with `wherry run --report {folder} -- mpiexec ...`")
    trace = recorded.trace_of(records.ranks)
    if not any(trace.ranks.values()):
        raise WherryError(_nothing_to_trace(folder, records.ranks))
    return trace


def _nothing_to_trace(folder: Path, ranks: Sequence[record.Record]) -> str:
    calls = recorded.longest_calls(ranks)
    above_all = f" (the time in MPI went above all to {', '.join(calls)})" if calls else ""
    return (
        f"nothing to trace in {folder}: a trace shows blocking collectives, and no rank was seen in one that others"
        f" take part in{above_all}; `wherry report {folder}` shows the time in all calls"
    )


__all__ = ["COMPUTE", "KINDS", "MPI", "SETUP", "WAIT", "Span", "Trace", "chrome", "from_folder", "read"]
