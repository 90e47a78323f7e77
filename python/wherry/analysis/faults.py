"""Page faults and processor time, before and after malloc was told to keep what the program frees."""

from __future__ import annotations

from collections.abc import Sequence

from wherry.analysis.record import FREED, Record
from wherry.analysis.rows import NS, Analysis, FaultRow


def fill_faults(result: Analysis, ranks: Sequence[Record]) -> None:
    """One row for each state of freed memory: means over the ranks that had it."""
    rows = {state: FaultRow(state) for state in FREED}
    for record in ranks:
        for index, state in enumerate(FREED):
            spans = record.tables["memory"]
            spans = spans[(spans["state"] == index) & (spans["time_ns"] > 0)]
            if len(spans) == 0:
                continue
            row = rows[state]
            row.ranks += 1
            for span in spans:
                row.seconds += int(span["time_ns"]) * NS
                row.system_seconds += int(span["system_ns"]) * NS
                row.user_seconds += int(span["user_ns"]) * NS
                row.faults += int(span["faults"])
                row.repeated += int(span["repeated"])
                row.fault_seconds += int(span["repeated"]) * int(span["fault_ns"]) * NS
    result.faults = [row for row in rows.values() if row.ranks > 0]
