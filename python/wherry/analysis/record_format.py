"""The format of the records that the preload writes, as src/profile/record.hpp defines it."""

from __future__ import annotations

from wherry.analysis.packed import StructLayout

MAGIC = b"WHERRYRC"
VERSION = 9
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
WAIT_VERDICTS = ("open", "spinning", "polling")  # what was kept; polling only if it was clearly better
FRAMES = ("native", "script")  # of a call path: machine code, or a line of a script
PATH_FRAMES = 4
CAUSES = ("compulsory", "capacity", "conflict", "invalidated")
THREAD_LEVELS = ("single", "funneled", "serialized", "multiple")

_U2, _U4, _U8, _I4 = "<u2", "<u4", "<u8", "<i4"

_FRAME = StructLayout([("at", _U8), ("module", _U4), ("kind", _U4)])

TABLE_INFO = StructLayout([("offset", _U8), ("record_bytes", _U4), ("capacity", _U4), ("used", _U4), ("dropped", _U4)])

#: Name and layout of each table, in the order of profile::Table.
TABLES: dict[str, StructLayout] = {
    "functions": StructLayout([("name", "S40"), ("kind", _U4), ("polled", _U4), ("counted", _U8)]),
    "calls": StructLayout(
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
    "peers": StructLayout([("peer", _I4), ("kind", _U4), ("messages", _U8), ("bytes", _U8)]),
    "comms": StructLayout(
        [("key", _U8), ("size", _I4), ("rank", _I4), ("nodes", _I4), ("reserved", _U4), ("name", "S40")]
    ),
    "modules": StructLayout([("base", _U8), ("path", "S248")]),
    "uses": StructLayout(
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
    "decisions": StructLayout(
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
    "misses": StructLayout([("function", _U4), ("reserved", _U4), ("count", _U8), ("reason", "S80")]),
    "arrivals": StructLayout(
        [("comm", _U4), ("function", _U4), ("sequence", _U8), ("enter_ns", _U8), ("leave_ns", _U8)]
    ),
    "types": StructLayout([("combiner", _U4), ("reserved", _U4), ("count", _U8), ("bytes", _U8), ("name", "S40")]),
    "windows": StructLayout(
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
    "window_points": StructLayout(
        [("window", _U4), ("reserved", _U4), ("lookups", _U8), ("hits", _U8), ("storage_bytes", _U8)]
    ),
    "window_curves": StructLayout([("window", _U4), ("missed_millionth", _U4), ("bytes", _U8)]),
    "memory": StructLayout(
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
            ("why_not", "S64"),
        ]
    ),
    "gains": StructLayout(
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
    "paths": StructLayout(
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
    "not_cached": StructLayout([("window", _U4), ("reason", _U4), ("count", _U8), ("bytes", _U8)]),
    "wait_trials": StructLayout(
        [("trials", _U4), ("verdict", _U4), ("pairs", _U8), ("spun_hourly", _U8), ("polled_hourly", _U8)]
    ),
}

#: CallUnderWay
_UNDER_WAY = StructLayout([("site", _U8), ("enter_ns", _U8), ("function", _U4), ("reserved", _U4)])

HEADER = StructLayout(
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
        ("under_way", _UNDER_WAY, (8,)),
        ("more_threads", _U4),
        ("reserved", _U4),
        ("host", "S64"),
        ("boot_id", "S40"),
        ("abi", "S16"),
        ("mpi_version", "S128"),
        ("program", "S256"),
        ("table", TABLE_INFO, (len(TABLES),)),
    ]
)

#: Which fields are indices into which table; True: NONE is allowed.
REFERENCES = {
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
BOUNDS = {
    "functions": (("kind", len(KINDS)),),
    "calls": (("bucket", BUCKETS),),
    "peers": (("kind", len(PEER_CLASSES)),),
    "uses": (("bucket", BUCKETS), ("limit", len(LIMITS))),
    "decisions": (("bucket", BUCKETS), ("reason", len(REASONS)), ("limit", len(LIMITS))),
    "windows": (("caching", len(CACHINGS)),),
    "not_cached": (("reason", len(NOT_CACHED)),),
    "memory": (("state", len(FREED)),),
    "gains": (("verdict", len(VERDICTS)),),
    "wait_trials": (("verdict", len(WAIT_VERDICTS)),),
    "paths": (("frames", PATH_FRAMES + 1),),
}
