"""The tables of an analysis that tell of cached windows."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class NotCachedRow:
    """Gets that were native, or ranges that were fetched and not kept, for one reason."""

    reason: str  # of record_format.NOT_CACHED
    count: int = 0
    bytes: int = 0  # as far as types were looked at


@dataclass
class WindowRow:
    """Cached windows of one mode, summed over windows and ranks. Hits and misses are of ranges of bytes.

    A get may look up several ranges; a native one (passed, bypassed) looks up none.
    """

    caching: str
    windows: int = 0  # counted on each of their ranks
    full_hits: int = 0
    pending_hits: int = 0
    partial_hits: int = 0
    misses: dict[str, int] = field(default_factory=dict)  # by cause
    evictions: int = 0
    bytes_saved: int = 0
    bytes_fetched: int = 0
    passed: int = 0
    bypassed: int = 0
    flushes_saved: int = 0
    node_found: int = 0  # missed, but read by another rank of the node
    node_offered: int = 0
    node_refused: int = 0
    not_cached: list[NotCachedRow] = field(default_factory=list)  # the most first

    @property
    def whole_hits(self) -> int:
        """Of which nothing had to be fetched."""
        return self.full_hits + self.pending_hits

    @property
    def lookups(self) -> int:
        return self.whole_hits + self.partial_hits + sum(self.misses.values())


@dataclass
class TrackRow:
    """How one cached window of one rank has gone.

    Points: lookups and hits, also in part, so far, and bytes of memory then, oldest first. Curve: bytes of memory,
    ascending, and the share of lookups that LRU would have missed with so many.
    """

    rank: int
    caching: str
    lookups: int
    points: list[list[int]] = field(default_factory=list)
    curve: list[list[float]] = field(default_factory=list)
