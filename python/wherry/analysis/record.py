"""Reads the records that the preload writes, one file per rank.

A record may come from a program that crashed, or be damaged: `read` checks everything that the rest of Wherry relies
on, indices included, and raises only RecordError.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

from wherry.analysis.packed import Row, StructLayout, Table
from wherry.analysis.record_format import (
    BOUNDS,
    FRAMES,
    HEADER,
    MAGIC,
    MOST_RANKS,
    NONE,
    REFERENCES,
    TABLES,
    VERSION,
)
from wherry.errors import WherryError
from wherry.files import record_files


class RecordError(WherryError):
    """A record that cannot be read: names the file and the reason."""


@dataclass(frozen=True)
class CallUnderWay:
    """A call that had not returned. enter_ns: 0: not known."""

    function: int  # index into the table `functions`
    site: int  # return address in that process
    enter_ns: int


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
    under_way: tuple[CallUnderWay, ...]  # of the first threads that called MPI
    knows_all_threads: bool  # no other thread has called MPI
    threads: int  # that computed, when MPI ended; 0: not known
    processors: int  # that the main thread could use then; 0: not known
    host: str
    boot_id: str
    abi: str
    mpi_version: str
    program: str
    tables: dict[str, Table]
    dropped: dict[str, int]

    def function(self, index: int) -> str:
        return text(self.tables["functions"][index]["name"])

    @property
    def run_begin_ns(self) -> int:
        """Where MPI_Init ends."""
        return self.init_ns or self.start_ns

    @property
    def run_end_ns(self) -> int:
        """Where MPI_Finalize begins: if that returned, its time is in `calls` and end_ns is its end."""
        names = self.tables["functions"].column("name")
        finalize = [i for i, name in enumerate(names) if text(name) == "MPI_Finalize"]
        return max(self.end_ns - self.time_ns(finalize), self.run_begin_ns)

    def time_ns(self, functions: Collection[int]) -> int:
        """In the calls of these functions, given by their indices."""
        calls = self.tables["calls"]
        pairs = zip(calls.column("function"), calls.column("time_ns"), strict=True)
        return sum(time_ns for function, time_ns in pairs if function in functions)


@dataclass
class Records:
    """All records of a run, by rank, and what could not be read."""

    ranks: list[Record] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def text(raw: bytes) -> str:
    """A fixed-size field as text: up to the first zero byte, whatever the bytes are."""
    return raw.split(b"\0", 1)[0].decode("utf-8", errors="replace")


def comm_key(comm: Row) -> str:
    """What a row of the table `comms` is called on all ranks of the communicator alike."""
    return f"{comm['key']:016x}"


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


def _header(path: Path, data: bytes) -> Row:
    if len(data) < HEADER.itemsize:
        raise RecordError(f"{path}: truncated: {len(data)} bytes, the header alone has {HEADER.itemsize}")
    header = HEADER.row(data)
    if header["magic"] != MAGIC:
        raise RecordError(f"{path}: not a record of Wherry (wrong magic bytes)")
    if header["version"] != VERSION:
        raise RecordError(
            f"{path}: record version {header['version']}, this Wherry reads version {VERSION};"
            " use the Wherry that wrote it"
        )
    if header["tables"] != len(TABLES):
        raise RecordError(f"{path}: damaged: {header['tables']} tables instead of {len(TABLES)}")
    return header


def _table(path: Path, data: bytes, name: str, layout: StructLayout, info: Row) -> Table:
    offset, used, capacity = info["offset"], info["used"], info["capacity"]
    if info["record_bytes"] != layout.itemsize:
        raise RecordError(
            f"{path}: damaged: records of table '{name}' have {info['record_bytes']} bytes, not {layout.itemsize}"
        )
    if used > capacity:
        raise RecordError(f"{path}: damaged: table '{name}' holds {used} records and has room for {capacity}")
    if used and (offset < HEADER.itemsize or offset + used * layout.itemsize > len(data)):
        raise RecordError(f"{path}: truncated or damaged: table '{name}' reaches beyond the end of the file")
    return Table(layout, data, offset, used)


def _check_numbers(path: Path, header: Row, tables: dict[str, Table]) -> None:
    size, rank = header["size"], header["rank"]
    if size < -1 or size > MOST_RANKS or rank < -1 or (size >= 0 and rank >= size):
        raise RecordError(f"{path}: damaged: rank {rank} of {size}")
    for name, references in REFERENCES.items():
        for column, target, may_be_none in references:
            _check_column(path, name, column, tables, _refers(len(tables[target]), may_be_none))
    for name, bounds in BOUNDS.items():
        for column, bound in bounds:
            _check_column(path, name, column, tables, bound.__gt__)
    if header["last_call"] != NONE and header["last_call"] >= len(tables["calls"]):
        raise RecordError(f"{path}: damaged: the last call is {header['last_call']} of {len(tables['calls'])}")
    for call in header["under_way"]:
        function = call["function"]
        if function != NONE and function >= len(tables["functions"]):
            raise RecordError(
                f"{path}: damaged: a call under way is of function {function} of {len(tables['functions'])}"
            )
    modules = len(tables["modules"])
    for i, row in enumerate(tables["paths"]):
        if any(frame["module"] >= modules or frame["kind"] >= len(FRAMES) for frame in row["frame"][: row["frames"]]):
            raise _impossible(path, "paths", i, "frame")
    most = size if size >= 0 else MOST_RANKS
    _check_column(path, "peers", "peer", tables, lambda peer: 0 <= peer < most)


def _refers(rows: int, may_be_none: bool) -> Callable[[int], bool]:
    return lambda index: index < rows or (may_be_none and index == NONE)


def _check_column(path: Path, name: str, column: str, tables: dict[str, Table], fits: Callable[[int], bool]) -> None:
    for i, value in enumerate(tables[name].column(column)):
        if not fits(value):
            raise _impossible(path, name, i, column)


def _impossible(path: Path, table: str, row: int, column: str) -> RecordError:
    return RecordError(f"{path}: damaged: table '{table}', record {row}: impossible {column}")


def _calls_under_way(header: Row) -> tuple[CallUnderWay, ...]:
    known = [call for call in header["under_way"] if call["function"] != NONE]
    return tuple(CallUnderWay(call["function"], call["site"], call["enter_ns"]) for call in known)


def _record(path: Path, header: Row, tables: dict[str, Table]) -> Record:
    return Record(
        path=path,
        rank=header["rank"],
        size=header["size"],
        thread_level=header["thread_level"],
        finalized=header["state"] == 1,
        pid=header["pid"],
        start_ns=header["start_ns"],
        init_ns=header["init_ns"],
        end_ns=header["end_ns"],
        realtime_ns=header["realtime_ns"],
        last_call=header["last_call"],
        under_way=_calls_under_way(header),
        knows_all_threads=not header["more_threads"],
        threads=header["threads"],
        processors=header["processors"],
        host=text(header["host"]),
        boot_id=text(header["boot_id"]),
        abi=text(header["abi"]),
        mpi_version=text(header["mpi_version"]),
        program=text(header["program"]),
        tables=tables,
        dropped={name: header["table"][i]["dropped"] for i, name in enumerate(TABLES)},
    )
