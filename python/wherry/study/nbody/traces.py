"""Where does each rank's time go with equal and with balanced shares, on 16 simulated Gigabit nodes?"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from wherry import trace
from wherry.measure.harness import Setup
from wherry.measure.record import Measurement, only, values
from wherry.simulate import application, smpi
from wherry.study.nbody.simulated import LIMIT_S, machine, why_not
from wherry.study.parts import StudyPart, StudyTable, record
from wherry.trace import COMPUTE, MPI, WAIT, Span, Trace, chrome, picture

SCHEMES = ("equal", "balanced")


def measure(setup: Setup) -> list[Measurement]:
    ranks, bodies = (4, 512) if setup.quick else (16, 65536)
    found = machine(ranks, 1)
    return [row for scheme in SCHEMES for row in _measure(found, scheme, bodies)]


def _measure(where: smpi.Machine, scheme: str, bodies: int) -> list[Measurement]:
    """A step of plain MPI."""
    with tempfile.TemporaryDirectory(prefix="wherry-") as folder:
        file = Path(folder, "trace.json")
        words = ("--bodies", str(bodies), "--scheme", scheme, "--steps", "1", "--with", "mpi", "--pretend")
        asked = application.ApplicationRequest("nbody", where, ((*words, "--trace", str(file)),), LIMIT_S)
        row = application.run(asked).records[0]
        traced = chrome.read(file)
    return [_record(traced, rank, row, scheme, bodies) for rank in traced.ranks]


def _record(traced: Trace, rank: int, row: Measurement, scheme: str, bodies: int) -> Measurement:
    seconds = traced.seconds(rank)
    return record(
        case=f"{bodies} bodies, {scheme}, rank {rank}",
        metric="where a step's time goes",
        unit="s",
        value=sum(seconds.values()),
        mpi=row["mpi"],
        ranks=row["ranks"],
        network=row["network"],
        statistic="one simulated step; exact",
        scheme=scheme,
        bodies=bodies,
        rank=rank,
        seconds=seconds,
        spans=[[span.name, span.kind, span.begin_s, span.end_s] for span in traced.ranks[rank]],
    )


def traces(records: Sequence[Measurement]) -> list[Trace]:
    return [
        Trace(
            f"{scheme} shares",
            {row["rank"]: [Span(*span) for span in row["spans"]] for row in only(records, scheme=scheme)},
        )
        for scheme in values(records, "scheme")
    ]


def tabulate(records: Sequence[Measurement]) -> StudyTable:
    rows = []
    for one in traces(records):
        length = one.end_s - one.begin_s
        shares = {kind: [one.seconds(rank)[kind] / length for rank in one.ranks] for kind in (COMPUTE, WAIT, MPI)}
        mean = [f"{100 * sum(shares[kind]) / len(shares[kind]):.0f} %" for kind in (COMPUTE, WAIT, MPI)]
        most = f"{100 * max(shares[trace.WAIT]):.0f} %"
        rows.append((one.title, f"{1e3 * length:.3g} ms", *mean, most))
    return StudyTable(("shares", "step", "computing", "waiting", "in MPI", "the most waiting of a rank"), rows)


def draw(records: Sequence[Measurement]) -> str:
    return picture.svg(traces(records))


PART = StudyPart("traces", __doc__ or "", measure, tabulate, draw, why_not)
