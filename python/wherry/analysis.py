"""What the records of a run say, as plain data: read -> compute (here) -> print or plot.

Times are seconds, sizes bytes, shares fractions. Everything is a dataclass of numbers and text, so that `asdict`
of the result is what summary.json holds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

import numpy as np

from wherry.record import KINDS, NONE, PEER_CLASSES, REASONS, THREAD_LEVELS, Record, Records, text
from wherry.sites import Site, name_sites, plain

NS = 1e-9

#: Starting and ending MPI is no communication, and in a short run it would hide all that is.
SETUP = frozenset(
    f"MPI_{name}" for name in ("Init", "Init_thread", "Finalize", "Session_init", "Session_finalize", "Abort")
)


@dataclass
class RankRow:
    rank: int
    host: str
    seconds: float  # from MPI_Init to the end
    mpi_seconds: float
    finalized: bool
    wait_seconds: float | None = None  # estimated from the sampled collectives; None: cannot be told

    @property
    def share(self) -> float:
        return self.mpi_seconds / self.seconds if self.seconds > 0 else 0.0


@dataclass
class Totals:
    """Sums over all ranks of the calls in one group."""

    calls: int = 0
    bytes: int = 0
    seconds: float = 0.0
    longest_seconds: float = 0.0
    derived_calls: int = 0

    def add(self, call: Any) -> None:
        self.calls += int(call["count"])
        self.bytes += int(call["bytes"])
        self.seconds += int(call["time_ns"]) * NS
        self.longest_seconds = max(self.longest_seconds, int(call["longest_ns"]) * NS)
        self.derived_calls += int(call["derived"])


@dataclass
class FunctionRow:
    function: str
    kind: str
    totals: Totals


@dataclass
class SiteRow:
    function: str
    site: str
    module: str
    offset: int
    ranks: int
    totals: Totals


@dataclass
class CommRow:
    name: str
    key: str
    size: int
    nodes: int
    totals: Totals


@dataclass
class SizeRow:
    bucket: int
    kind: str
    calls: int
    bytes: int
    seconds: float


@dataclass
class PeerRow:
    origin: int
    target: int
    kind: str
    messages: int
    bytes: int


@dataclass
class WaitRow:
    """Waiting in one collective function: entry of the last rank minus own entry, in the calls that were kept."""

    function: str
    calls: int  # collectives seen by all their ranks
    wait_seconds: float  # summed over ranks and those calls
    seconds: float  # time in those calls, summed alike

    @property
    def share(self) -> float:
        return self.wait_seconds / self.seconds if self.seconds > 0 else 0.0


@dataclass
class UseRow:
    """How often a strategy ran for one kind of call; summed over ranks."""

    function: str
    comm: str
    comm_key: str
    bucket: int
    strategy: str
    calls: int
    bytes: int
    seconds: float
    shortest_seconds: float
    ranks: int
    strategy_seconds: float | None = None  # agreed time of one call
    native_seconds: float | None = None  # agreed time of one native call
    gain_seconds: float | None = None  # per rank, estimated


@dataclass
class DecisionRow:
    at_seconds: float  # since the end of MPI_Init
    function: str
    comm: str
    comm_key: str
    comm_size: int
    bucket: int
    call: int
    strategy: str
    reason: str
    strategy_seconds: float | None
    native_seconds: float | None


@dataclass
class MissRow:
    function: str
    reason: str
    calls: int


@dataclass
class TypeRow:
    name: str
    calls: int
    bytes: int


@dataclass
class Analysis:
    program: str = ""
    mpi_version: str = ""
    abi: str = ""
    thread_level: str = ""
    started: str = ""
    hosts: dict[str, int] = field(default_factory=dict)
    size: int = 0  # ranks of MPI_COMM_WORLD
    seconds: float = 0.0  # of the longest rank, from the end of MPI_Init
    setup_seconds: float = 0.0  # in MPI_Init and MPI_Finalize, mean over ranks; in no other number
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
    misses: list[MissRow] = field(default_factory=list)
    types: list[TypeRow] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def mpi_share(self) -> float:
        """Of the time of all ranks, the part inside MPI."""
        total = sum(rank.seconds for rank in self.ranks)
        return sum(rank.mpi_seconds for rank in self.ranks) / total if total > 0 else 0.0

    @property
    def replaced(self) -> list[UseRow]:
        return [use for use in self.uses if use.strategy != "native"]

    @property
    def gain_seconds(self) -> float | None:
        """Estimated gain, mean over ranks; None if nothing can be said."""
        known = [use.gain_seconds * use.ranks for use in self.uses if use.gain_seconds is not None]
        return sum(known) / len(self.ranks) if known and self.ranks else None

    def data(self) -> dict[str, Any]:
        """For JSON: all numbers, and the two that people ask first."""
        return {**asdict(self), "mpi_share": self.mpi_share, "gain_seconds_per_rank": self.gain_seconds}


_ROWS: dict[str, type] = {
    "ranks": RankRow, "functions": FunctionRow, "sites": SiteRow, "comms": CommRow, "sizes": SizeRow,
    "peers": PeerRow, "waits": WaitRow, "uses": UseRow, "decisions": DecisionRow, "misses": MissRow, "types": TypeRow,
}  # fmt: skip


def from_data(data: dict[str, Any]) -> Analysis:
    """The inverse of Analysis.data. Raises KeyError, TypeError or ValueError if the data are something else."""
    if not isinstance(data, dict):
        raise TypeError("not an object")
    names = {entry.name for entry in fields(Analysis)}
    result = Analysis(**{name: value for name, value in data.items() if name in names})
    for name, row_type in _ROWS.items():
        setattr(result, name, [_row(row_type, row) for row in data[name]])
    return result


def _row(row_type: type, row: dict[str, Any]) -> Any:
    totals = {"totals": Totals(**row["totals"])} if "totals" in row else {}
    return row_type(**{**row, **totals})


def analyse(records: Records, resolve_sites: bool = True) -> Analysis:
    """Merges the records of all ranks. Empty records give an empty analysis with its problems as warnings."""
    result = Analysis(warnings=list(records.problems))
    ranks = records.ranks
    if not ranks:
        return result
    _fill_head(result, ranks)
    _fill_calls(result, ranks, resolve_sites)
    _fill_peers(result, ranks)
    _fill_waits(result, ranks)
    _fill_choices(result, ranks)
    _fill_types(result, ranks)
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
        calls = record.tables["calls"]
        setup = np.isin(calls["function"], _setup_functions(record))
        mpi = float(calls["time_ns"][~setup].astype(float).sum()) * NS
        result.setup_seconds += float(calls["time_ns"][setup].astype(float).sum()) * NS / len(ranks)
        result.ranks.append(RankRow(record.rank, record.host, _duration(record), mpi, record.finalized))
    result.seconds = max(row.seconds for row in result.ranks)


def _setup_functions(record: Record) -> list[int]:
    return [i for i, name in enumerate(record.tables["functions"]["name"]) if text(name) in SETUP]


def _duration(record: Record) -> float:
    begin = record.init_ns or record.start_ns
    return max(record.end_ns - begin, 0) * NS


def _date(realtime_ns: int) -> str:
    try:
        return datetime.fromtimestamp(realtime_ns * NS, UTC).isoformat(timespec="seconds")
    except (OverflowError, ValueError, OSError):
        return "unknown"


def _fill_calls(result: Analysis, ranks: Sequence[Record], resolve_sites: bool) -> None:
    functions: dict[str, FunctionRow] = {}
    sites: dict[tuple[str, str, int], SiteRow] = {}
    bases: dict[tuple[str, int], int] = {}
    comms: dict[str, CommRow] = {}
    sizes: dict[tuple[int, str], SizeRow] = {}
    for record in ranks:
        seen: set[tuple[str, str, int]] = set()
        kinds = [KINDS[kind] for kind in record.tables["functions"]["kind"]]
        names = [text(name) for name in record.tables["functions"]["name"]]
        for call in record.tables["calls"]:
            name, kind = names[call["function"]], kinds[call["function"]]
            if name in SETUP:
                continue
            functions.setdefault(name, FunctionRow(name, kind, Totals())).totals.add(call)
            module, offset, base = _site(record, call)
            bases.setdefault((module, offset), base)
            key = (name, module, offset)
            row = sites.setdefault(key, SiteRow(name, "", module, offset, 0, Totals()))
            row.totals.add(call)
            row.ranks += key not in seen
            seen.add(key)
            _add_comm(comms, record, call)
            _add_size(sizes, kind, call)
    places = {place: Site(*place, base) for place, base in bases.items()}
    texts = name_sites(places.values()) if resolve_sites else {}
    for row in sites.values():
        place = places[row.module, row.offset]
        row.site = texts.get(place) or plain(place)
    result.functions = sorted(functions.values(), key=lambda row: -row.totals.seconds)
    result.sites = sorted(sites.values(), key=lambda row: -row.totals.seconds)
    result.comms = sorted(comms.values(), key=lambda row: -row.totals.seconds)
    result.sizes = sorted(sizes.values(), key=lambda row: (row.bucket, row.kind))


def _site(record: Record, call: Any) -> Site:
    """The base differs from rank to rank; any of them serves to name the place."""
    if call["module"] == NONE:
        return Site("", 0, 0)
    module = record.tables["modules"][call["module"]]
    return Site(text(module["path"]), int(call["site"]), int(module["base"]))


def _add_comm(comms: dict[str, CommRow], record: Record, call: Any) -> None:
    if call["comm"] == NONE:
        return
    comm = record.tables["comms"][call["comm"]]
    key = _key(comm)
    row = comms.setdefault(key, CommRow(text(comm["name"]), key, int(comm["size"]), int(comm["nodes"]), Totals()))
    row.nodes = max(row.nodes, int(comm["nodes"]))
    row.totals.add(call)


def _key(comm: Any) -> str:
    return f"{int(comm['key']):016x}"


def _add_size(sizes: dict[tuple[int, str], SizeRow], kind: str, call: Any) -> None:
    bucket = int(call["bucket"])
    row = sizes.setdefault((bucket, kind), SizeRow(bucket, kind, 0, 0, 0.0))
    row.calls += int(call["count"])
    row.bytes += int(call["bytes"])
    row.seconds += int(call["time_ns"]) * NS


def _fill_peers(result: Analysis, ranks: Sequence[Record]) -> None:
    for record in ranks:
        for peer in record.tables["peers"]:
            kind = PEER_CLASSES[peer["kind"]]
            row = PeerRow(record.rank, int(peer["peer"]), kind, int(peer["messages"]), int(peer["bytes"]))
            result.peers.append(row)


def _fill_waits(result: Analysis, ranks: Sequence[Record]) -> None:
    boots = {record.boot_id for record in ranks}
    if len(boots) > 1:
        result.wait_note = "told only for communicators within one host: the clocks of hosts do not compare"
    groups, total_seconds = _arrivals(ranks)
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


def _arrivals(
    ranks: Sequence[Record],
) -> tuple[dict[tuple[str, int, str], list[tuple[int, int, int]]], list[float]]:
    """Collectives that all ranks of their communicator kept, as (record, enter, leave); and each record's time
    in the functions that it kept arrivals of, to scale samples to the run."""
    groups: dict[tuple[str, int, str], list[tuple[int, int, int]]] = defaultdict(list)
    sizes: dict[str, int] = {}
    boots: dict[str, set[str]] = defaultdict(set)
    totals: list[float] = []
    for i, record in enumerate(ranks):
        comms = record.tables["comms"]
        keys = [_key(comm) for comm in comms]
        sampled = set()
        for arrival in record.tables["arrivals"]:
            key = keys[arrival["comm"]]
            sizes[key] = int(comms["size"][arrival["comm"]])
            boots[key].add(record.boot_id)
            sampled.add(int(arrival["function"]))
            group = groups[key, int(arrival["sequence"]), record.function(arrival["function"])]
            group.append((i, int(arrival["enter_ns"]), int(arrival["leave_ns"])))
        calls = record.tables["calls"]
        kept = np.isin(calls["function"], list(sampled))
        totals.append(float(calls["time_ns"][kept].astype(float).sum()) * NS)
    complete = {
        key: members for key, members in groups.items() if len(members) == sizes[key[0]] > 1 and len(boots[key[0]]) == 1
    }
    return complete, totals


def _fill_choices(result: Analysis, ranks: Sequence[Record]) -> None:
    result.decisions = _decisions(ranks)
    result.uses = _uses(ranks)
    agreed = {(d.comm_key, d.function, d.bucket, d.strategy): d for d in result.decisions if d.native_seconds}
    for use in result.uses:
        _estimate_gain(use, agreed.get((use.comm_key, use.function, use.bucket, use.strategy)))
    misses: dict[tuple[str, str], MissRow] = {}
    for record in ranks:
        for miss in record.tables["misses"]:
            key = (record.function(miss["function"]), text(miss["reason"]))
            misses.setdefault(key, MissRow(*key, 0)).calls += int(miss["count"])
    result.misses = sorted(misses.values(), key=lambda row: -row.calls)


def _estimate_gain(use: UseRow, decision: DecisionRow | None) -> None:
    if use.strategy == "native" or decision is None or not decision.strategy_seconds or not decision.native_seconds:
        return
    use.strategy_seconds, use.native_seconds = decision.strategy_seconds, decision.native_seconds
    use.gain_seconds = (decision.native_seconds - decision.strategy_seconds) * use.calls / max(use.ranks, 1)


def _uses(ranks: Sequence[Record]) -> list[UseRow]:
    rows: dict[tuple[str, str, int, str], UseRow] = {}
    for record in ranks:
        for use in record.tables["uses"]:
            name, key, _ = _comm(record, int(use["comm"]))
            function, bucket, strategy = record.function(use["function"]), int(use["bucket"]), text(use["strategy"])
            shortest = int(use["shortest_ns"]) * NS
            row = rows.setdefault(
                (function, key, bucket, strategy),
                UseRow(function, name, key, bucket, strategy, 0, 0, 0.0, shortest, 0),
            )
            row.calls += int(use["calls"])
            row.bytes += int(use["bytes"])
            row.seconds += int(use["time_ns"]) * NS
            row.shortest_seconds = min(row.shortest_seconds, shortest)
            row.ranks += 1
    return sorted(rows.values(), key=lambda row: -row.seconds)


def _comm(record: Record, index: int) -> tuple[str, str, int]:
    if index == NONE:
        return "", "", 0
    comm = record.tables["comms"][index]
    return text(comm["name"]), _key(comm), int(comm["size"])


def _decisions(ranks: Sequence[Record]) -> list[DecisionRow]:
    """Decisions are the same on all ranks of a communicator; the first record that has one tells it."""
    rows: dict[tuple[str, str, int, int, str, str], DecisionRow] = {}
    for record in ranks:
        for decision in record.tables["decisions"]:
            name, key, size = _comm(record, int(decision["comm"]))
            row = DecisionRow(
                at_seconds=(int(decision["at_ns"]) - (record.init_ns or record.start_ns)) * NS,
                function=record.function(decision["function"]),
                comm=name,
                comm_key=key,
                comm_size=size,
                bucket=int(decision["bucket"]),
                call=int(decision["call"]),
                strategy=text(decision["strategy"]),
                reason=REASONS[decision["reason"]],
                strategy_seconds=int(decision["time_ns"]) * NS or None,
                native_seconds=int(decision["native_ns"]) * NS or None,
            )
            rows.setdefault((key, row.function, row.bucket, row.call, row.strategy, row.reason), row)
    return sorted(rows.values(), key=lambda row: (row.at_seconds, row.call))


def _fill_types(result: Analysis, ranks: Sequence[Record]) -> None:
    rows: dict[str, TypeRow] = {}
    for record in ranks:
        for kind in record.tables["types"]:
            name = text(kind["name"])
            row = rows.setdefault(name, TypeRow(name, 0, 0))
            row.calls += int(kind["count"])
            row.bytes += int(kind["bytes"])
    result.types = sorted(rows.values(), key=lambda row: -row.bytes)


def _warnings(result: Analysis, ranks: Sequence[Record]) -> Iterable[str]:
    from wherry.units import plural, ranges

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
