"""All ranks of a run together: who took part, for how long, and what to read with care."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from wherry.analysis.calls import fill_calls, fill_peers, fill_types, split_functions
from wherry.analysis.choices import fill_choices
from wherry.analysis.faults import fill_faults
from wherry.analysis.gains import fill_gains
from wherry.analysis.machines import fill_bindings, fill_machines
from wherry.analysis.polling import fill_wait_trials
from wherry.analysis.record import Record, Records
from wherry.analysis.record_format import THREAD_LEVELS
from wherry.analysis.rows import NS, Analysis, RankRow
from wherry.analysis.waits import fill_waits
from wherry.analysis.windows import fill_windows
from wherry.units import plural, ranges


def analyse(records: Records, resolve_sites: bool = True) -> Analysis:
    """Merges the records of all ranks. Empty records give an empty analysis with its problems as warnings."""
    result = Analysis(warnings=list(records.problems))
    ranks = records.ranks
    if not ranks:
        return result
    _fill_head(result, ranks)
    fill_machines(result, ranks)
    fill_bindings(result, ranks)
    result.polled_calls = sum(sum(record.tables["functions"].column("polled")) for record in ranks)
    fill_wait_trials(result, ranks)
    fill_calls(result, ranks, resolve_sites)
    fill_peers(result, ranks)
    fill_waits(result, ranks)
    fill_choices(result, ranks)
    fill_gains(result, ranks)
    fill_types(result, ranks)
    fill_windows(result, ranks)
    fill_faults(result, ranks)
    result.warnings += _warnings(result, ranks)
    return result


def _fill_head(result: Analysis, ranks: Sequence[Record]) -> None:
    first = ranks[0]
    result.program, result.mpi_version, result.abi = first.program, first.mpi_version, first.abi
    level = first.thread_level
    result.thread_level = THREAD_LEVELS[level] if 0 <= level < len(THREAD_LEVELS) else "unknown"
    result.started = _date(min(record.realtime_ns for record in ranks))
    for record in ranks:
        result.hosts[record.host] = result.hosts.get(record.host, 0) + 1
    result.size = max(len(ranks), max(record.size for record in ranks))
    for record in ranks:
        setup, other = split_functions(record)
        mpi = record.time_ns(other) * NS
        result.setup_seconds += record.time_ns(setup) * NS / len(ranks)
        result.ranks.append(RankRow(record.rank, record.host, _duration(record), mpi, record.finalized))
    result.seconds = max(row.seconds for row in result.ranks)


def _duration(record: Record) -> float:
    return (record.run_end_ns - record.run_begin_ns) * NS


def _date(realtime_ns: int) -> str:
    try:
        return datetime.fromtimestamp(realtime_ns * NS, UTC).isoformat(timespec="seconds")
    except (OverflowError, ValueError, OSError):
        return "unknown"


def _warnings(result: Analysis, ranks: Sequence[Record]) -> Iterable[str]:
    running = [record.rank for record in ranks if not record.finalized]
    if running:
        yield f"{plural(len(running), 'rank')} did not reach MPI_Finalize: {ranges(running)}"
    if len(ranks) < result.size:
        missing = sorted(set(range(result.size)) - {record.rank for record in ranks})
        yield (
            f"records of {plural(len(missing), 'rank')} of {result.size} are missing: {ranges(missing)};"
            " on several hosts, --report must name a directory that all of them share"
        )
    dropped: dict[str, int] = defaultdict(int)
    for record in ranks:
        for table, n in record.dropped.items():
            dropped[table] += n
    for table, n in dropped.items():
        if n:
            yield f"{plural(n, 'event')} not recorded because the table '{table}' was full; their calls ran normally"
