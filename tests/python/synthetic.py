"""Writes records as the preload would, for tests of their readers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from wherry.analysis.packed import StructLayout
from wherry.analysis.record_format import HEADER, MAGIC, NONE, TABLES, VERSION

MS = 1_000_000
COLLECTIVE = 1


@dataclass
class Draft:
    """A record to be: header fields that differ from the defaults, and rows per table."""

    rank: int = 0
    size: int = 2
    header: dict[str, Any] = field(default_factory=dict)
    rows: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)


def _dtype(layout: StructLayout) -> np.dtype[Any]:
    return np.dtype(
        [
            (name, _dtype(kind) if isinstance(kind, StructLayout) else kind, *shape)
            for name, kind, *shape in layout.fields
        ]
    )


def encode(draft: Draft) -> bytes:
    header = np.zeros((), _dtype(HEADER))
    defaults: dict[str, Any] = {
        "magic": MAGIC,
        "version": VERSION,
        "tables": len(TABLES),
        "rank": draft.rank,
        "size": draft.size,
        "state": 1,
        "pid": 1000 + draft.rank,
        "start_ns": 5 * MS,
        "init_ns": 10 * MS,
        "end_ns": 1010 * MS,
        "realtime_ns": 1_800_000_000 * 10**9,
        "last_call": NONE,
        "under_way": [(0, 0, NONE, 0)] * 8,
        "host": b"node0",
        "boot_id": b"boot-a",
        "abi": b"openmpi",
        "mpi_version": b"Open MPI v5.0.11",
        "program": b"./app",
    }
    for name, value in {**defaults, **draft.header}.items():
        header[name] = value
    body = b""
    for i, (name, layout) in enumerate(TABLES.items()):
        rows = draft.rows.get(name, [])
        table = np.zeros(len(rows), _dtype(layout))
        for row, values in zip(table, rows, strict=True):
            for column, value in values.items():
                row[column] = value
        offset = HEADER.itemsize + len(body)
        header["table"][i] = (offset, layout.itemsize, len(rows) + 4, len(rows), draft.dropped.get(name, 0))
        body += table.tobytes() + bytes(4 * layout.itemsize)
    return header.tobytes() + body


def under_way(*calls: tuple[int, int, int]) -> list[tuple[int, int, int, int]]:
    """For the header: site, time and function of the calls that threads are in."""
    return [*((*call, 0) for call in calls), *[(0, 0, NONE, 0)] * (8 - len(calls))]


def write(directory: Path, drafts: Iterable[Draft]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for draft in drafts:
        (directory / f"rank-{draft.rank:06d}.wrec").write_bytes(encode(draft))


def example(ranks: int = 4, program: str = "./app", host: str = "node0") -> list[Draft]:
    """A small run: an all-to-all that Wherry replaced, a broadcast, point-to-point, one miss, all tables in use."""
    return [_example_rank(rank, ranks, program, host) for rank in range(ranks)]


def _example_rank(rank: int, ranks: int, program: str, host: str) -> Draft:
    call = {"module": 0, "longest_ns": 2 * MS}
    return Draft(
        rank=rank,
        size=ranks,
        header={"program": program.encode(), "host": host.encode()},
        rows={
            "functions": [
                {"name": b"MPI_Alltoall", "kind": COLLECTIVE},
                {"name": b"MPI_Bcast", "kind": COLLECTIVE},
                {"name": b"MPI_Send", "kind": 0},
                {"name": b"MPI_Alltoallw", "kind": COLLECTIVE},
            ],
            "calls": [
                {**call, "function": 0, "bucket": 11, "site": 0x1234, "count": 100, "bytes": 102400 * ranks}
                | {"time_ns": 200 * MS},
                {**call, "function": 1, "bucket": 4, "site": 0x2345, "count": 50, "bytes": 400, "time_ns": 50 * MS},
                {**call, "function": 2, "bucket": 21, "site": 0x3456, "count": 10, "bytes": 10 << 20, "derived": 10}
                | {"time_ns": 25 * MS, "comm": NONE, "module": NONE},
            ],
            "peers": [
                {"peer": (rank + 1) % ranks, "kind": 0, "messages": 10, "bytes": 10 << 20},
                *({"peer": peer, "kind": 1, "messages": 100, "bytes": 102400} for peer in range(ranks)),
            ],
            "comms": [{"key": 0xABC, "size": ranks, "rank": rank, "nodes": 1, "name": b"MPI_COMM_WORLD"}],
            "modules": [{"base": 0x7F0000000000, "path": program.encode()}],
            "uses": [
                {"function": 0, "bucket": 11, "calls": 10, "bytes": 10240, "time_ns": 30 * MS, "strategy": b"native"}
                | {"shortest_ns": 3 * MS},
                {"function": 0, "bucket": 11, "calls": 90, "bytes": 92160, "time_ns": 90 * MS, "strategy": b"mesh"}
                | {"shortest_ns": MS},
            ],
            "decisions": [
                {"at_ns": 20 * MS, "function": 0, "bucket": 11, "call": 0, "reason": 0, "strategy": b"native"},
                {"at_ns": 30 * MS, "function": 0, "bucket": 11, "call": 5, "reason": 0, "strategy": b"mesh"},
                {"at_ns": 40 * MS, "function": 0, "bucket": 11, "call": 10, "reason": 1, "strategy": b"mesh"}
                | {"time_ns": MS, "native_ns": 3 * MS},
            ],
            "gains": [
                {"verdict": 2, "pairs": 53, "share": 31_000, "least": 22_000, "most": 40_000}
                | {"native_ns": 4 * MS, "other_ns": 3_876_000}
            ],
            "paths": [
                {"function": 0, "site": 0x1234, "samples": 5, "calls": 90, "time_ns": 180 * MS, "frames": 1}
                | {"frame": [(0x777, 0, 0), *[(0, 0, 0)] * 3]},
            ],
            "misses": [{"function": 3, "count": 7, "reason": b"intercommunicator"}],
            "arrivals": [
                {"function": 1, "sequence": i, "enter_ns": (100 + i + rank) * MS, "leave_ns": (120 + i) * MS}
                for i in range(3)
            ],
            "types": [{"combiner": 3, "count": 10, "bytes": 10 << 20, "name": b"vector"}],
            "windows": [
                {"caching": 2, "full_hits": 90, "misses": [8, 2, 0, 0], "bytes_saved": 9000, "bytes_fetched": 1000}
                | {"passed": 5, "saved_ns": MS}
            ],
            "not_cached": [{"reason": 0, "count": 5, "bytes": 40}],
            "window_points": [
                {"lookups": 20, "hits": 10, "storage_bytes": 1 << 14},
                {"lookups": 100, "hits": 90, "storage_bytes": 1 << 15},
            ],
            "window_curves": [
                {"bytes": 4096, "missed_millionth": 500_000},
                {"bytes": 16384, "missed_millionth": 125_000},
            ],
        },
    )
