"""Traces as files: the Trace Event Format of chrome://tracing and ui.perfetto.dev, one process for each rank."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from wherry.errors import UsageError
from wherry.files import read_json, write_whole
from wherry.trace.spans import KINDS, Span, Trace

_US = 1e-6


def write(path: Path, trace: Trace) -> None:
    events = [_named(rank) for rank in trace.ranks]
    events += [_event(rank, span) for rank, spans in trace.ranks.items() for span in spans]
    other = json.dumps({"title": trace.title, "note": trace.note})
    lines = ",\n".join(json.dumps(event, allow_nan=False) for event in events)
    write_whole(path, f'{{"displayTimeUnit": "ms", "otherData": {other},\n"traceEvents": [\n{lines}\n]}}\n')


def _named(rank: int) -> dict[str, Any]:
    return {"name": "process_name", "ph": "M", "pid": rank, "tid": 0, "args": {"name": f"rank {rank}"}}


def _event(rank: int, span: Span) -> dict[str, Any]:
    times = {"ts": round(span.begin_s / _US, 3), "dur": round(span.seconds / _US, 3)}
    return {"name": span.name, "cat": span.kind, "ph": "X", **times, "pid": rank, "tid": 0}


def read(path: Path) -> Trace:
    """Raises UsageError, with the event and the reason, if the file is no such trace."""
    try:
        return _trace(read_json(path), path.stem)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path} is no trace of Wherry's: {error}; `wherry trace --json FILE` and `nbody --trace FILE` write some"
        ) from error


def _trace(data: Any, title: str) -> Trace:
    events = data.get("traceEvents") if isinstance(data, dict) else None
    if not isinstance(events, list):
        raise ValueError("it has no list of traceEvents")
    ranks: dict[int, list[Span]] = {}
    for number, event in enumerate(events):
        if not isinstance(event, dict) or event.get("ph") not in ("X", "M"):
            raise ValueError(f"event {number} is neither a span (X) nor a name (M)")
        if event["ph"] == "X":
            rank, span = _read_span(number, event)
            ranks.setdefault(rank, []).append(span)
    if not ranks:
        raise ValueError("there is no span in it")
    other = data.get("otherData")
    about: dict[str, Any] = other if isinstance(other, dict) else {}
    in_order = {rank: sorted(ranks[rank], key=lambda span: span.begin_s) for rank in sorted(ranks)}
    return Trace(str(about.get("title", title)), in_order, str(about.get("note", "")))


def _read_span(number: int, event: dict[str, Any]) -> tuple[int, Span]:
    begin, length, rank = _time(event.get("ts")), _time(event.get("dur")), event.get("pid")
    if begin is None or length is None or length < 0:
        raise ValueError(f"event {number} has no times: ts {event.get('ts')!r}, dur {event.get('dur')!r}")
    if not isinstance(rank, int) or rank < 0:
        raise ValueError(f"event {number} has no rank: pid {rank!r}")
    kind = str(event.get("cat", ""))
    if kind not in KINDS:
        raise ValueError(f"event {number} is of no known kind: cat {kind!r} (have: {', '.join(KINDS)})")
    return rank, Span(str(event.get("name", kind)), kind, begin * _US, (begin + length) * _US)


def _time(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_number else None
