"""A trace from the records of `wherry run`: blocking collectives, and what lies between them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from wherry.analysis.calls import SETUP as SETUP_CALLS
from wherry.analysis.calls import split_functions
from wherry.analysis.record import Record, comm_key
from wherry.analysis.record_format import NONE
from wherry.analysis.waits import arrivals
from wherry.trace.spans import COMPUTE, MPI, SETUP, WAIT, Span, Trace

_NS = 1e-9


def trace_of(records: Sequence[Record]) -> Trace:
    """Times begin with the earliest rank's first call of MPI."""
    last = _last_arrivals(records)
    shifts = _clock_shifts(records)
    zero = min(record.start_ns + shift for record, shift in zip(records, shifts, strict=True))
    gaps = not any(_is_sampled(record) for record in records)
    ranks = {
        record.rank if record.rank >= 0 else i: _spans(record, i, last, shift - zero, gaps)
        for i, (record, shift) in enumerate(zip(records, shifts, strict=True))
    }
    return Trace(records[0].program, ranks, _note(records, gaps))


def _last_arrivals(records: Sequence[Record]) -> dict[tuple[str, int, str], int]:
    """When the last rank came, where all ranks of a communicator on one host kept the collective."""
    complete, _ = arrivals(records)
    return {key: max(enter for _, enter, _ in members) for key, members in complete.items()}


def _clock_shifts(records: Sequence[Record]) -> list[int]:
    """What to add to each record's clock. Clocks of several hosts are compared by their time of day."""
    shift_of_host: dict[str, int] = {}
    for record in records:
        shift_of_host.setdefault(record.boot_id, record.realtime_ns - record.start_ns)
    if len(shift_of_host) == 1:
        return [0] * len(records)
    return [shift_of_host[record.boot_id] for record in records]


def _is_sampled(record: Record) -> bool:
    """Whether collectives are missing: a long run keeps every 2^k-th only."""
    numbers: dict[int, list[int]] = defaultdict(list)
    for row in record.tables["arrivals"]:
        numbers[row["comm"]].append(row["sequence"])
    return any(len(kept) != max(kept) + 1 for kept in numbers.values())


def _spans(record: Record, at: int, last: dict[tuple[str, int, str], int], shift: int, gaps: bool) -> list[Span]:
    keys = [comm_key(comm) for comm in record.tables["comms"]]
    spans: list[Span] = []
    done = record.run_begin_ns
    for row in sorted(record.tables["arrivals"], key=lambda row: row["enter_ns"]):
        name = record.function(row["function"])
        enter, leave = row["enter_ns"], row["leave_ns"]
        if gaps and enter > done:
            spans.append(_span(COMPUTE, COMPUTE, done, enter, shift))
        key = (keys[row["comm"]] if row["comm"] != NONE else "", row["sequence"], name)
        come = min(max(last.get(key, enter), enter), leave)  # a root may leave before the last rank comes
        if come > enter:
            spans.append(_span(name, WAIT, enter, come, shift))
        if leave > come:
            spans.append(_span(name, MPI, come, leave, shift))
        done = max(done, leave)
    if gaps and spans and record.run_end_ns > done:
        spans.append(_span(COMPUTE, COMPUTE, done, record.run_end_ns, shift))
    return _with_setup(record, spans, shift) if spans else spans


def _with_setup(record: Record, spans: list[Span], shift: int) -> list[Span]:
    ends = (("MPI_Init", record.start_ns, record.run_begin_ns), ("MPI_Finalize", record.run_end_ns, record.end_ns))
    start, end = ([_span(name, SETUP, a, b, shift)] if a < b else [] for name, a, b in ends)
    return [*start, *spans, *end]


def _span(name: str, kind: str, begin_ns: int, end_ns: int, shift: int) -> Span:
    return Span(name, kind, (begin_ns + shift) * _NS, (end_ns + shift) * _NS)


def _note(records: Sequence[Record], gaps: bool) -> str:
    if not gaps:
        return "the records keep a part of the collectives only, so what lies between them is left out"
    other = sum(_other_seconds(record) for record in records)
    if other <= 0:
        return ""
    # The records have sums of these calls, not their times: of a part of the run nobody knows.
    return f"of the whole run, {other:.3g} s in other calls of MPI, of all ranks together, count as computing"


def longest_calls(records: Sequence[Record], most: int = 3) -> list[str]:
    """The functions that most of the time in MPI went to, of all ranks together."""
    time_ns: Counter[str] = Counter()
    for record in records:
        for row in record.tables["calls"]:
            time_ns[record.function(row["function"])] += row["time_ns"]
    return [name for name, _ in time_ns.most_common() if name not in SETUP_CALLS][:most]


def _other_seconds(record: Record) -> float:
    """In calls that are not in the trace: single messages, nonblocking collectives."""
    _, functions = split_functions(record)
    return record.time_ns(functions - set(record.tables["arrivals"].column("function"))) * _NS
