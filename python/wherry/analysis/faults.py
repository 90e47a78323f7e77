"""Page faults and processor time: of each rank, and before and after malloc was told to keep what the program frees."""

from __future__ import annotations

from collections.abc import Sequence

from wherry import units
from wherry.analysis.record import Record, text
from wherry.analysis.record_format import FREED
from wherry.analysis.rows import NS, Analysis, FaultRow

_BUSY, _LITTLE = 0.9, 0.1


def fill_faults(result: Analysis, ranks: Sequence[Record]) -> None:
    """Those of the ranks; and one row for each state of freed memory: means over the ranks that had it."""
    of_rank = {row.rank: row for row in result.ranks}
    rows = {state: FaultRow(state) for state in FREED}
    for record in ranks:
        spans = [span for span in record.tables["memory"] if span["time_ns"] > 0]
        row_of_rank = of_rank.get(record.rank)
        if row_of_rank is not None and spans:
            row_of_rank.system_seconds = sum(span["system_ns"] for span in spans) * NS
            row_of_rank.cpu_seconds = row_of_rank.system_seconds + sum(span["user_ns"] for span in spans) * NS
            row_of_rank.faults = sum(span["faults"] for span in spans)
        for index, state in enumerate(FREED):
            of_state = [span for span in spans if span["state"] == index]
            if not of_state:
                continue
            row = rows[state]
            row.ranks += 1
            for span in of_state:
                row.seconds += span["time_ns"] * NS
                row.system_seconds += span["system_ns"] * NS
                row.user_seconds += span["user_ns"] * NS
                row.faults += span["faults"]
                row.calls += span["calls"]
                row.repeated += span["repeated"]
                row.why_not = row.why_not or text(span["why_not"])
                row.fault_seconds += span["repeated"] * span["fault_ns"] * NS
    result.faults = [row for row in rows.values() if row.ranks > 0]


def processor(analysis: Analysis) -> str:
    """What the ranks used of their processors, in the mean; empty if nothing is known."""
    ranks = [(row, cpu) for row in analysis.ranks if (cpu := row.cpu_seconds) is not None]
    if not ranks:
        return ""
    n = len(ranks)
    cpu, wall = sum(cpu for _, cpu in ranks) / n, sum(row.seconds for row, _ in ranks) / n
    system = sum(row.system_seconds or 0.0 for row, _ in ranks) / n
    faults = sum(row.faults or 0 for row, _ in ranks) / n
    return (
        f"processor time per rank: {units.seconds(cpu)} in {units.seconds(wall)}, {units.seconds(system)} of it in the"
        f" kernel; {units.count(round(faults))} page faults"
    )


def is_notable(analysis: Analysis) -> bool:
    """Whether the ranks slept or had no core for a good part of the time, or much of it went into the kernel."""
    ranks = [(row, cpu) for row in analysis.ranks if (cpu := row.cpu_seconds) is not None]
    cpu, wall = sum(cpu for _, cpu in ranks), sum(row.seconds for row, _ in ranks)
    return cpu < _BUSY * wall or sum(row.system_seconds or 0.0 for row, _ in ranks) > _LITTLE * cpu > 0
