"""The tables of an analysis, as dataclasses, and their way through JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from wherry import units
from wherry.analysis.packed import Row
from wherry.analysis.window_rows import NotCachedRow, TrackRow, WindowRow

NS = 1e-9


@dataclass
class RankRow:
    """One rank: its time, in MPI and on its processor."""

    rank: int
    host: str
    seconds: float  # from the end of MPI_Init to the begin of MPI_Finalize, or to the last call
    mpi_seconds: float
    finalized: bool
    wait_seconds: float | None = None  # estimated from the sampled collectives; None: cannot be told
    # Of the whole process, while MPI was up; None: not recorded.
    cpu_seconds: float | None = None  # in the program and in the kernel; below `seconds` where it slept or had no core
    system_seconds: float | None = None  # of these, in the kernel
    faults: int | None = None  # of pages, without reading from a file

    @property
    def share(self) -> float:
        return self.mpi_seconds / self.seconds if self.seconds > 0 else 0.0


@dataclass
class MachineRow:
    """Ranks that share cores: those under one kernel."""

    hosts: list[str]
    ranks: int
    cores: int | None  # None: cannot be told

    @property
    def crowded(self) -> bool:
        return self.cores is not None and self.ranks > self.cores

    def crowd(self) -> str:
        """What more ranks than cores mean for all times."""
        where = self.hosts[0] if len(self.hosts) == 1 else f"{len(self.hosts)} hosts of one machine"
        cores = units.plural(self.cores or 0, "core")
        ranks = units.plural(self.ranks, "rank")
        return f"{ranks} share {cores} on {where}: they wait for a core, too, in MPI and outside"


@dataclass
class BindingRow:
    """Ranks that compute with more threads than the cores that they may use."""

    ranks: int
    threads: int  # of each
    cores: int
    mpi: str

    def problem(self) -> str:
        """What is wrong, and the launcher's option that fixes it."""
        ranks = f"{units.plural(self.ranks, 'rank')} {'computes' if self.ranks == 1 else 'compute'}"
        which = "" if self.ranks == 1 else " each"
        library = next((name for name in _MORE_CORES if self.mpi.startswith(name)), "")
        option = _MORE_CORES.get(library, "ask the launcher to bind a rank to {threads} cores").format(
            threads=self.threads
        )
        return f"{ranks} with {self.threads} threads{which} on {units.plural(self.cores, 'core')}{which}: {option}"


#: By the beginning of the library's version: how a rank gets the cores that its threads need.
_MORE_CORES = {
    "Open MPI": "mpiexec --map-by slot:pe={threads} or --bind-to none gives them more",
    "Intel": "I_MPI_PIN_DOMAIN={threads} or I_MPI_PIN=0 gives them more",
    "MPICH": "mpiexec -bind-to none gives them more",
}


@dataclass
class Totals:
    """Sums over all ranks of the calls in one group."""

    calls: int = 0
    bytes: int = 0
    seconds: float = 0.0
    longest_seconds: float = 0.0
    derived_calls: int = 0

    def add(self, call: Row) -> None:
        self.calls += call["count"]
        self.bytes += call["bytes"]
        self.seconds += call["time_ns"] * NS
        self.longest_seconds = max(self.longest_seconds, call["longest_ns"] * NS)
        self.derived_calls += call["derived"]


@dataclass
class FunctionRow:
    """All calls of one MPI function."""

    function: str
    kind: str
    totals: Totals


@dataclass
class PathRow:
    """How a place that calls MPI was reached, as often as a rank looked."""

    callers: list[str] = field(default_factory=list)  # of the function that holds the place, innermost first
    script: bool = False  # they end with lines of a script
    samples: int = 0
    calls: int = 0  # that these stand for
    seconds: float = 0.0


@dataclass
class SiteRow:
    """A place that calls one function."""

    function: str
    site: str
    module: str
    offset: int
    ranks: int
    totals: Totals
    paths: list[PathRow] = field(default_factory=list)  # the longest in MPI first


@dataclass
class CommRow:
    """All calls on one communicator."""

    name: str
    key: str
    size: int
    nodes: int
    totals: Totals


@dataclass
class SizeRow:
    """Calls of one kind and size class."""

    bucket: int
    kind: str
    calls: int
    bytes: int
    seconds: float


@dataclass
class PeerRow:
    """What one rank sent to another."""

    origin: int
    target: int
    kind: str
    messages: int
    bytes: int


@dataclass
class WaitRow:
    """Waiting in one collective function: entry of the last rank minus own entry, in the calls that were recorded."""

    function: str
    calls: int  # collectives seen by all their ranks
    wait_seconds: float  # summed over ranks and those calls
    seconds: float  # time in those calls, summed alike

    @property
    def share(self) -> float:
        return self.wait_seconds / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True)
class Kind:
    """Calls that share what is learned."""

    comm_key: str
    function: str
    bucket: int
    limit: str

    @property
    def name(self) -> str:
        return f"{self.function} ({self.limit})" if self.limit else self.function

    @property
    def block(self) -> str:
        """The size class, and what limits the choice."""
        size = units.bucket(self.bucket)
        return f"{size}, {self.limit}" if self.limit else size


@dataclass(kw_only=True)
class KindRow:
    """Something about one kind of call. limit: one of record_format.LIMITS."""

    function: str
    comm: str
    comm_key: str
    bucket: int
    limit: str = ""

    @property
    def kind(self) -> Kind:
        return Kind(self.comm_key, self.function, self.bucket, self.limit)


@dataclass(kw_only=True)
class UseRow(KindRow):
    """How often a strategy ran for one kind of call; summed over ranks."""

    strategy: str
    calls: int
    bytes: int
    seconds: float
    shortest_seconds: float
    ranks: int
    kept_calls: int = 0  # of these, for which the ranks had settled on it; the others were trials
    strategy_seconds: float | None = None  # agreed time of one call
    native_seconds: float | None = None  # agreed time of one native call


@dataclass(kw_only=True)
class DecisionRow(KindRow):
    """When the ranks decided what runs for one kind of call, and why."""

    at_seconds: float  # since the end of MPI_Init
    comm_size: int
    call: int
    strategy: str
    reason: str
    strategy_seconds: float | None
    native_seconds: float | None


@dataclass
class GainRow:
    """What Wherry's choices on one communicator save of the program's time, by a controlled trial; mean over ranks."""

    comm: str
    comm_key: str
    comm_size: int
    pairs: int  # of stretches, one native and one with Wherry's choices
    share: float  # of native's time; negative: they take longer
    low: float | None  # of the 95% interval; None: too few pairs
    high: float | None
    verdict: str  # of record_format.VERDICTS
    native_seconds: float  # from one replaced call to the next
    replaced_seconds: float


@dataclass
class FallbackRow:
    """Calls that Wherry could have replaced and that were native."""

    function: str
    reason: str
    calls: int


@dataclass
class FaultRow:
    """While malloc did the same with freed memory, summed over ranks."""

    state: str  # of record_format.FREED
    ranks: int = 0
    seconds: float = 0.0
    system_seconds: float = 0.0
    user_seconds: float = 0.0
    faults: int = 0
    repeated: int = 0  # of these, on memory that the process had had before
    fault_seconds: float = 0.0  # that the repeated ones took, by what one costs
    calls: int = 0  # of MPI, in that time
    why_not: str = ""  # malloc may not be told to keep it, on some rank

    @property
    def share(self) -> float:
        return min(self.fault_seconds / self.seconds, 1.0) if self.seconds > 0 else 0.0


@dataclass
class WaitTrialRow:
    """Stretches of a rank's course in which blocking calls spun in the library, and as many in which they polled."""

    rank: int
    pairs: int  # of stretches
    verdict: str  # of record_format.WAIT_VERDICTS
    spun_per_second: float  # blocking calls, mean
    polled_per_second: float


@dataclass
class TypeRow:
    """Calls with data of one derived type."""

    name: str
    calls: int
    bytes: int


@dataclass
class Analysis:
    """All that the records of one run say."""

    program: str = ""
    mpi_version: str = ""
    abi: str = ""
    thread_level: str = ""
    started: str = ""
    hosts: dict[str, int] = field(default_factory=dict)
    size: int = 0  # ranks of MPI_COMM_WORLD
    seconds: float = 0.0  # of the longest rank, from the end of MPI_Init to the begin of MPI_Finalize
    setup_seconds: float = 0.0  # in MPI_Init and MPI_Finalize, mean over ranks; in no other number
    polled_calls: int = 0  # blocking calls of all ranks that polled instead of waiting in the library
    wait_trials: list[WaitTrialRow] = field(default_factory=list)
    machines: list[MachineRow] = field(default_factory=list)
    bindings: list[BindingRow] = field(default_factory=list)
    ranks: list[RankRow] = field(default_factory=list)
    functions: list[FunctionRow] = field(default_factory=list)
    sites: list[SiteRow] = field(default_factory=list)
    comms: list[CommRow] = field(default_factory=list)
    sizes: list[SizeRow] = field(default_factory=list)
    peers: list[PeerRow] = field(default_factory=list)
    waits: list[WaitRow] = field(default_factory=list)
    wait_note: str = ""
    uses: list[UseRow] = field(default_factory=list)
    decisions: list[DecisionRow] = field(default_factory=list)
    gains: list[GainRow] = field(default_factory=list)
    fallbacks: list[FallbackRow] = field(default_factory=list)
    types: list[TypeRow] = field(default_factory=list)
    windows: list[WindowRow] = field(default_factory=list)
    tracks: list[TrackRow] = field(default_factory=list)  # of the windows with most lookups
    faults: list[FaultRow] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def mpi_share(self) -> float:
        """Of the time of all ranks, the part inside MPI."""
        total = sum(rank.seconds for rank in self.ranks)
        return sum(rank.mpi_seconds for rank in self.ranks) / total if total > 0 else 0.0

    @property
    def replaced(self) -> list[UseRow]:
        return [use for use in self.uses if use.strategy != "native"]

    def data(self) -> dict[str, Any]:
        """For JSON: all numbers, and the one that people ask first."""
        numbers = asdict(self)
        return {**numbers, _EARLIER_FALLBACKS: numbers["fallbacks"], "mpi_share": self.mpi_share}


#: What `fallbacks` was called before; programs that read summary.json may still ask for it.
_EARLIER_FALLBACKS = "misses"
_ROWS: dict[str, type] = {
    "machines": MachineRow, "bindings": BindingRow, "ranks": RankRow, "functions": FunctionRow, "sites": SiteRow,
    "comms": CommRow, "sizes": SizeRow, "peers": PeerRow, "waits": WaitRow, "uses": UseRow, "decisions": DecisionRow,
    "gains": GainRow, "fallbacks": FallbackRow, "types": TypeRow, "windows": WindowRow, "tracks": TrackRow,
}  # fmt: skip
#: Data of an earlier Wherry have none of these.
_NEWER_ROWS: dict[str, type] = {"faults": FaultRow, "wait_trials": WaitTrialRow}


def from_data(data: dict[str, Any]) -> Analysis:
    """The inverse of Analysis.data. Raises KeyError, TypeError or ValueError if the data are something else."""
    if not isinstance(data, dict):
        raise TypeError("not an object")
    if "fallbacks" not in data:
        data = {**data, "fallbacks": data[_EARLIER_FALLBACKS]}
    names = {entry.name for entry in fields(Analysis)}
    result = Analysis(**{name: value for name, value in data.items() if name in names})
    for name, row_type in _ROWS.items():
        setattr(result, name, [_row(row_type, row) for row in data[name]])
    for name, row_type in _NEWER_ROWS.items():
        setattr(result, name, [_row(row_type, row) for row in data.get(name, ())])
    return result


def _row(row_type: type, row: dict[str, Any]) -> Any:
    totals = {"totals": Totals(**row["totals"])} if "totals" in row else {}
    paths = {"paths": [PathRow(**path) for path in row["paths"]]} if "paths" in row else {}
    reasons = {"not_cached": [NotCachedRow(**one) for one in row["not_cached"]]} if "not_cached" in row else {}
    return row_type(**{**row, **totals, **paths, **reasons})
