"""Reads the records that the preload writes, one file per rank. src/profile/record.hpp defines the format.

A record may come from a program that crashed, or be damaged: `read` checks everything that the rest of Wherry relies
on, indices included, and raises only RecordError.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from wherry.errors import WherryError
from wherry.files import record_files

MAGIC = b"WHERRYRC"
VERSION = 7
BUCKETS = 66
NONE = 0xFFFFFFFF  # an index that refers to nothing
MOST_RANKS = 1 << 24  # above it a size is taken for damage

KINDS = ("point-to-point", "collective", "one-sided", "wait or test", "other")
PEER_CLASSES = ("point-to-point", "collective", "one-sided")
REASONS = ("trial", "kept", "loaded", "forced", "dropped", "changed")
LIMITS = ("", "in place", "in order")
CACHINGS = (
    "transparent", "always", "user", "shared memory", "dynamic", "switched off", "one rank", "accelerator",
    "info not understood", "no memory",
)  # fmt: skip
#: Why something of a cached window was not cached: gets that were native, and ranges that were fetched and not kept.
NATIVE_GETS = (
    "of the rank's own memory", "empty or with arguments that do not fit", "of types whose layout is not known",
    "too long for one transfer", "by MPI_Rget", "atomic", "no memory for a cache", "plain gets were cheaper",
    "too few so far for a cache",
)  # fmt: skip
NOT_KEPT = ("too large to keep", "worth less than what is kept", "the place was used for something else meanwhile")
NOT_CACHED = NATIVE_GETS + NOT_KEPT
FREED = ("as malloc has it", "kept", "taken back")  # memory that the program frees
VERDICTS = ("open", "native", "replaced")  # of a controlled trial: what is faster
FRAMES = ("native", "script")  # of a call path: machine code, or a line of a script
PATH_FRAMES = 4
CAUSES = ("compulsory", "capacity", "conflict", "invalidated")
THREAD_LEVELS = ("single", "funneled", "serialized", "multiple")

_U2, _U4, _U8, _I4 = "<u2", "<u4", "<u8", "<i4"

_FRAME = np.dtype([("at", _U8), ("module", _U4), ("kind", _U4)])

TABLE_INFO = np.dtype([("offset", _U8), ("record_bytes", _U4), ("capacity", _U4), ("used", _U4), ("dropped", _U4)])

#: Name and layout of each table, in the order of profile::Table.
TABLES: dict[str, np.dtype[Any]] = {
    "functions": np.dtype([("name", "S40"), ("kind", _U4), ("polled", _U4), ("counted", _U8)]),
    "calls": np.dtype(
        [
            ("function", _U4),
            ("bucket", _U4),
            ("comm", _U4),
            ("module", _U4),
            ("site", _U8),
            ("count", _U8),
            ("bytes", _U8),
            ("time_ns", _U8),
            ("longest_ns", _U8),
            ("derived", _U8),
        ]
    ),
    "peers": np.dtype([("peer", _I4), ("kind", _U4), ("messages", _U8), ("bytes", _U8)]),
    "comms": np.dtype([("key", _U8), ("size", _I4), ("rank", _I4), ("nodes", _I4), ("reserved", _U4), ("name", "S40")]),
    "modules": np.dtype([("base", _U8), ("path", "S248")]),
    "uses": np.dtype(
        [
            ("comm", _U4),
            ("function", _U4),
            ("bucket", _U4),
            ("limit", _U4),
            ("calls", _U8),
            ("bytes", _U8),
            ("time_ns", _U8),
            ("shortest_ns", _U8),
            ("strategy", "S32"),
        ]
    ),
    "decisions": np.dtype(
        [
            ("at_ns", _U8),
            ("comm", _U4),
            ("function", _U4),
            ("bucket", _U4),
            ("call", _U4),
            ("reason", _U4),
            ("limit", _U4),
            ("time_ns", _U8),
            ("native_ns", _U8),
            ("strategy", "S32"),
        ]
    ),
    "misses": np.dtype([("function", _U4), ("reserved", _U4), ("count", _U8), ("reason", "S80")]),
    "arrivals": np.dtype([("comm", _U4), ("function", _U4), ("sequence", _U8), ("enter_ns", _U8), ("leave_ns", _U8)]),
    "types": np.dtype([("combiner", _U4), ("reserved", _U4), ("count", _U8), ("bytes", _U8), ("name", "S40")]),
    "windows": np.dtype(
        [
            ("comm", _U4),
            ("caching", _U4),
            ("full_hits", _U8),
            ("pending_hits", _U8),
            ("partial_hits", _U8),
            ("misses", _U8, (len(CAUSES),)),
            ("evictions", _U8),
            ("adjustments", _U8),
            ("invalidations", _U8),
            ("bytes_saved", _U8),
            ("bytes_fetched", _U8),
            ("passed", _U8),
            ("bypassed", _U8),
            ("flushes_saved", _U8),
            ("saved_ns", _U8),
            ("bytes", _U8),
            ("node_found", _U8),
            ("node_offered", _U8),
            ("node_refused", _U8),
        ]
    ),
    "window_points": np.dtype(
        [("window", _U4), ("reserved", _U4), ("lookups", _U8), ("hits", _U8), ("storage_bytes", _U8)]
    ),
    "window_curves": np.dtype([("window", _U4), ("missed_millionth", _U4), ("bytes", _U8)]),
    "memory": np.dtype(
        [
            ("start_ns", _U8),
            ("time_ns", _U8),
            ("faults", _U8),
            ("repeated", _U8),
            ("system_ns", _U8),
            ("user_ns", _U8),
            ("calls", _U8),
            ("state", _U4),
            ("fault_ns", _U4),
        ]
    ),
    "gains": np.dtype(
        [
            ("comm", _U4),
            ("verdict", _U4),
            ("pairs", _U8),
            ("share", _I4),
            ("least", _I4),
            ("most", _I4),
            ("reserved", _U4),
            ("native_ns", _U8),
            ("other_ns", _U8),
        ]
    ),
    "paths": np.dtype(
        [
            ("function", _U4),
            ("module", _U4),
            ("site", _U8),
            ("calls", _U8),
            ("time_ns", _U8),
            ("samples", _U4),
            ("frames", _U4),
            ("frame", _FRAME, (PATH_FRAMES,)),
        ]
    ),
    "not_cached": np.dtype([("window", _U4), ("reason", _U4), ("count", _U8), ("bytes", _U8)]),
}

HEADER = np.dtype(
    [
        ("magic", "S8"),
        ("version", _U4),
        ("tables", _U4),
        ("rank", _I4),
        ("size", _I4),
        ("thread_level", _I4),
        ("state", _U4),
        ("pid", _U8),
        ("start_ns", _U8),
        ("init_ns", _U8),
        ("end_ns", _U8),
        ("realtime_ns", _U8),
        ("last_call", _U4),
        ("threads", _U2),
        ("processors", _U2),
        ("host", "S64"),
        ("boot_id", "S40"),
        ("abi", "S16"),
        ("mpi_version", "S128"),
        ("program", "S256"),
        ("table", TABLE_INFO, (len(TABLES),)),
    ]
)

#: Which fields are indices into which table; True: NONE is allowed.
_REFERENCES = {
    "calls": (("function", "functions", False), ("comm", "comms", True), ("module", "modules", True)),
    "uses": (("function", "functions", False), ("comm", "comms", True)),
    "decisions": (("function", "functions", False), ("comm", "comms", True)),
    "misses": (("function", "functions", False),),
    "arrivals": (("function", "functions", False), ("comm", "comms", False)),
    "windows": (("comm", "comms", True),),
    "window_points": (("window", "windows", False),),
    "not_cached": (("window", "windows", False),),
    "window_curves": (("window", "windows", False),),
    "gains": (("comm", "comms", True),),
    "paths": (("function", "functions", False), ("module", "modules", True)),
}

#: Upper bounds (exclusive) of numbers that the readers use as indices.
_BOUNDS = {
    "functions": (("kind", len(KINDS)),),
    "calls": (("bucket", BUCKETS),),
    "peers": (("kind", len(PEER_CLASSES)),),
    "uses": (("bucket", BUCKETS), ("limit", len(LIMITS))),
    "decisions": (("bucket", BUCKETS), ("reason", len(REASONS)), ("limit", len(LIMITS))),
    "windows": (("caching", len(CACHINGS)),),
    "not_cached": (("reason", len(NOT_CACHED)),),
    "memory": (("state", len(FREED)),),
    "gains": (("verdict", len(VERDICTS)),),
    "paths": (("frames", PATH_FRAMES + 1),),
}


class RecordError(WherryError):
    """A record that cannot be read: names the file and the reason."""


@dataclass(frozen=True)
class Record:
    """What one rank saw. Times in nanoseconds of CLOCK_MONOTONIC of its host."""

    path: Path
    rank: int  # -1: unknown
    size: int  # -1: unknown
    thread_level: int
    finalized: bool
    pid: int
    start_ns: int
    init_ns: int
    end_ns: int
    realtime_ns: int
    last_call: int  # index into the table `calls`; NONE: there was no call, or the table had no room for it
    threads: int  # that computed, when MPI ended; 0: not known
    processors: int  # that the main thread could use then; 0: not known
    host: str
    boot_id: str
    abi: str
    mpi_version: str
    program: str
    tables: dict[str, np.ndarray[Any, Any]]
    dropped: dict[str, int]

    def function(self, index: int) -> str:
        return text(self.tables["functions"]["name"][index])

    @property
    def run_begin_ns(self) -> int:
        """Where MPI_Init ends."""
        return self.init_ns or self.start_ns

    @property
    def run_end_ns(self) -> int:
        """Where MPI_Finalize begins: if that returned, its time is in `calls` and end_ns is its end."""
        names, calls = self.tables["functions"]["name"], self.tables["calls"]
        finalize = calls["function"] == (np.flatnonzero(names == b"MPI_Finalize")[:1].tolist() or [NONE])[0]
        return max(self.end_ns - int(calls["time_ns"][finalize].sum()), self.run_begin_ns)


@dataclass
class Records:
    """All records of a run, by rank, and what could not be read."""

    ranks: list[Record] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def text(raw: bytes) -> str:
    """A fixed-size field as text: up to the first zero byte, whatever the bytes are."""
    return bytes(raw).split(b"\0", 1)[0].decode("utf-8", errors="replace")


def comm_key(comm: Any) -> str:
    """What a row of the table `comms` is called on all ranks of the communicator alike."""
    return f"{int(comm['key']):016x}"


def read(path: Path) -> Record:
    """Reads and checks one record. Raises RecordError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror or error}") from error
    header = _header(path, data)
    tables = {
        name: _table(path, data, name, layout, header["table"][i]) for i, (name, layout) in enumerate(TABLES.items())
    }
    _check_numbers(path, header, tables)
    return _record(path, header, tables)


def read_all(directory: Path) -> Records:
    """Every record in a directory; damaged ones are listed and the others still read."""
    found = Records()
    for path in record_files(directory):
        try:
            found.ranks.append(read(path))
        except RecordError as error:
            found.problems.append(str(error))
    found.ranks.sort(key=lambda record: (record.rank < 0, record.rank, record.pid))
    _drop_repeated(found)
    return found


def _drop_repeated(found: Records) -> None:
    # Two programs of one run may both be rank 0 of worlds of their own; statistics by rank need one of each.
    seen: set[int] = set()
    for record in list(found.ranks):
        if record.rank >= 0 and record.rank in seen:
            found.problems.append(f"{record.path}: rank {record.rank} was recorded twice; this one is left out")
            found.ranks.remove(record)
        seen.add(record.rank)


def _header(path: Path, data: bytes) -> Any:
    if len(data) < HEADER.itemsize:
        raise RecordError(f"{path}: truncated: {len(data)} bytes, the header alone has {HEADER.itemsize}")
    header = np.frombuffer(data, HEADER, count=1)[0]
    if bytes(data[:8]) != MAGIC:
        raise RecordError(f"{path}: not a record of Wherry (wrong magic bytes)")
    if header["version"] != VERSION:
        raise RecordError(
            f"{path}: record version {header['version']}, this Wherry reads version {VERSION};"
            " use the Wherry that wrote it"
        )
    if header["tables"] != len(TABLES):
        raise RecordError(f"{path}: damaged: {header['tables']} tables instead of {len(TABLES)}")
    return header


def _table(path: Path, data: bytes, name: str, layout: np.dtype[Any], info: Any) -> np.ndarray[Any, Any]:
    offset, used, capacity = int(info["offset"]), int(info["used"]), int(info["capacity"])
    if int(info["record_bytes"]) != layout.itemsize:
        raise RecordError(
            f"{path}: damaged: records of table '{name}' have {info['record_bytes']} bytes, not {layout.itemsize}"
        )
    if used > capacity:
        raise RecordError(f"{path}: damaged: table '{name}' holds {used} records and has room for {capacity}")
    if used and (offset < HEADER.itemsize or offset + used * layout.itemsize > len(data)):
        raise RecordError(f"{path}: truncated or damaged: table '{name}' reaches beyond the end of the file")
    return np.frombuffer(data, layout, count=used, offset=offset if used else 0)


def _check_numbers(path: Path, header: Any, tables: dict[str, np.ndarray[Any, Any]]) -> None:
    size, rank = int(header["size"]), int(header["rank"])
    if size < -1 or size > MOST_RANKS or rank < -1 or (size >= 0 and rank >= size):
        raise RecordError(f"{path}: damaged: rank {rank} of {size}")
    for name, references in _REFERENCES.items():
        for column, target, may_be_none in references:
            values = tables[name][column]
            wrong = values >= len(tables[target])
            if may_be_none:
                wrong &= values != NONE
            _refuse(path, name, column, wrong)
    for name, bounds in _BOUNDS.items():
        for column, bound in bounds:
            _refuse(path, name, column, tables[name][column] >= bound)
    if header["last_call"] != NONE and header["last_call"] >= len(tables["calls"]):
        raise RecordError(f"{path}: damaged: the last call is {header['last_call']} of {len(tables['calls'])}")
    frames = tables["paths"]["frame"]
    used = np.arange(PATH_FRAMES) < tables["paths"]["frames"][:, None]
    wrong = (frames["module"] >= len(tables["modules"])) | (frames["kind"] >= len(FRAMES))
    _refuse(path, "paths", "frame", np.any(used & wrong, axis=1))
    peers = tables["peers"]["peer"]
    _refuse(path, "peers", "peer", (peers < 0) | (peers >= (size if size >= 0 else MOST_RANKS)))


def _refuse(path: Path, table: str, column: str, wrong: np.ndarray[Any, Any]) -> None:
    if np.any(wrong):
        raise RecordError(f"{path}: damaged: table '{table}', record {int(np.argmax(wrong))}: impossible {column}")


def _record(path: Path, header: Any, tables: dict[str, np.ndarray[Any, Any]]) -> Record:
    return Record(
        path=path,
        rank=int(header["rank"]),
        size=int(header["size"]),
        thread_level=int(header["thread_level"]),
        finalized=int(header["state"]) == 1,
        pid=int(header["pid"]),
        start_ns=int(header["start_ns"]),
        init_ns=int(header["init_ns"]),
        end_ns=int(header["end_ns"]),
        realtime_ns=int(header["realtime_ns"]),
        last_call=int(header["last_call"]),
        threads=int(header["threads"]),
        processors=int(header["processors"]),
        host=text(header["host"]),
        boot_id=text(header["boot_id"]),
        abi=text(header["abi"]),
        mpi_version=text(header["mpi_version"]),
        program=text(header["program"]),
        tables=tables,
        dropped={name: int(header["table"][i]["dropped"]) for i, name in enumerate(TABLES)},
    )
