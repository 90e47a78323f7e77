"""Spans of time by rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

#: Between calls of MPI; in a collective until its last rank has come, or until a message is there; in MPI otherwise; in
#: MPI_Init and MPI_Finalize.
COMPUTE, WAIT, MPI, SETUP = "compute", "wait", "mpi", "setup"
KINDS = (COMPUTE, WAIT, MPI, SETUP)


@dataclass(frozen=True)
class Span:
    """Seconds since the trace's own zero. name: of the collective, or what its kind is called."""

    name: str
    kind: str
    begin_s: float
    end_s: float

    @property
    def seconds(self) -> float:
        return self.end_s - self.begin_s


@dataclass(frozen=True)
class Trace:
    """Spans of each rank in the order of time. note: what is not in it, for whoever reads it."""

    title: str
    ranks: Mapping[int, list[Span]] = field(default_factory=dict)
    note: str = ""

    @property
    def begin_s(self) -> float:
        return min((spans[0].begin_s for spans in self.ranks.values() if spans), default=0.0)

    @property
    def end_s(self) -> float:
        return max((span.end_s for spans in self.ranks.values() for span in spans), default=0.0)

    def cut(self, begin_s: float, end_s: float) -> Trace:
        """What lies between two times; spans that cross one of them are cut there."""
        ranks = {
            rank: [
                replace(span, begin_s=max(span.begin_s, begin_s), end_s=min(span.end_s, end_s))
                for span in spans
                if span.end_s > begin_s and span.begin_s < end_s
            ]
            for rank, spans in self.ranks.items()
        }
        return replace(self, ranks=ranks)

    def seconds(self, rank: int) -> dict[str, float]:
        """Of each kind."""
        spans = self.ranks[rank]
        return {kind: sum(span.seconds for span in spans if span.kind == kind) for kind in KINDS}
