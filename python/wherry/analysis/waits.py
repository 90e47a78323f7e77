"""Who waited for whom: the time between entering a collective and the last rank's entry."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from wherry.analysis.record import Record, comm_key
from wherry.analysis.rows import NS, Analysis, WaitRow


def fill_waits(result: Analysis, ranks: Sequence[Record]) -> None:
    boots = {record.boot_id for record in ranks}
    if len(boots) > 1:
        result.wait_note = "told only for communicators within one host: the clocks of hosts do not compare"
    groups, total_seconds = arrivals(ranks)
    rows: dict[str, WaitRow] = {}
    waited: dict[int, list[float]] = {i: [0.0, 0.0] for i in range(len(ranks))}
    for (_, _, function), members in groups.items():
        last = max(enter for _, enter, _ in members)
        row = rows.setdefault(function, WaitRow(function, 0, 0.0, 0.0))
        row.calls += 1
        for i, enter, leave in members:
            inside = max(leave - enter, 0) * NS
            wait = min((last - enter) * NS, inside)  # a root may leave before the last rank comes
            row.wait_seconds += wait
            row.seconds += inside
            waited[i][0] += wait
            waited[i][1] += inside
    result.waits = sorted(rows.values(), key=lambda row: -row.wait_seconds)
    for i, (wait, inside) in waited.items():
        if inside > 0:
            result.ranks[i].wait_seconds = wait / inside * total_seconds[i]
    if not rows and not result.wait_note:
        result.wait_note = "no collective was seen on all ranks of its communicator"


#: Of a communicator, by its number there, and what it was.
Collective = tuple[str, int, str]


def arrivals(ranks: Sequence[Record]) -> tuple[dict[Collective, list[tuple[int, int, int]]], list[float]]:
    """Collectives that all ranks of their communicator kept, as (record, enter, leave); and each record's time
    in the functions that it kept arrivals of, to scale samples to the run."""
    groups: dict[Collective, list[tuple[int, int, int]]] = defaultdict(list)
    sizes: dict[str, int] = {}
    boots: dict[str, set[str]] = defaultdict(set)
    totals: list[float] = []
    for i, record in enumerate(ranks):
        comms = list(record.tables["comms"])
        keys = [comm_key(comm) for comm in comms]
        sampled = set()
        for arrival in record.tables["arrivals"]:
            key = keys[arrival["comm"]]
            sizes[key] = comms[arrival["comm"]]["size"]
            boots[key].add(record.boot_id)
            sampled.add(arrival["function"])
            group = groups[key, arrival["sequence"], record.function(arrival["function"])]
            group.append((i, arrival["enter_ns"], arrival["leave_ns"]))
        totals.append(record.time_ns(sampled) * NS)
    complete = {
        key: members for key, members in groups.items() if len(members) == sizes[key[0]] > 1 and len(boots[key[0]]) == 1
    }
    return complete, totals
