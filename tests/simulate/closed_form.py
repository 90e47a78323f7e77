"""How long strategies should take by arithmetic on a platform's figures alone: no schedule, no executor, no simulator.

A message takes the overhead at both ends, the latency of its links and its bytes at their rate; rounds follow each
other. The ranks of a node share its link to the switch, but not their memory. All ranks hang on one switch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isqrt

from wherry.simulate.platforms import Platform, figure_of


@dataclass(frozen=True)
class Machine:
    """So many ranks on a platform, equally many on each node, and the depth of the pipeline if there is one."""

    platform: Platform
    ranks: int
    per_node: int
    depth: int = 1

    @property
    def bits(self) -> list[int]:
        """1, 2, 4, ... below the number of ranks."""
        return [1 << k for k in range((self.ranks - 1).bit_length())]

    def between(self, size: float, sharing: int = 1) -> float:
        """One message between nodes while `sharing` of the kind go through one link."""
        p = self.platform
        return 2 * p.overhead_s + 2 * figure_of(p.link_latency) + sharing * size / figure_of(p.link_bandwidth)

    def within(self, size: float) -> float:
        p = self.platform
        return 2 * p.overhead_s + figure_of(p.node_latency) + size / figure_of(p.node_bandwidth)

    def copy(self, size: float) -> float:
        return size / self.platform.copy_bytes_per_s

    def shift(self, distance: int, size: float) -> float:
        """All ranks send to the rank that is so far away."""
        if self.per_node == self.ranks:
            return self.within(size)
        return max(self.within(size), self.between(size, min(distance, self.per_node)))

    def at_once(self, peers: int, size: float, leaving: int) -> float:
        """A message to each of some peers; `leaving` of these messages, of all ranks of the node, share its link."""
        last = (peers - 1) * self.platform.overhead_s
        if leaving == 0:
            arrived = self.within(size) + last
        else:
            arrived = self.between(0) + max(last, (leaving - 1) * self._wire(size)) + self._wire(size)
        return max(arrived, peers * 2 * self.platform.overhead_s)

    def _wire(self, size: float) -> float:
        return size / figure_of(self.platform.link_bandwidth)


def allgather_ring(m: Machine, size: int) -> float:
    return (m.ranks - 1) * m.shift(1, size)


def allgather_bruck(m: Machine, size: int) -> float:
    """Twice as many blocks in each round; all but two of them are packed on some rank.

    Steps shorter than a node add up to less than a node: what travels them leaves a node once, in the longest of them.
    """
    sent = {known: min(known, m.ranks - known) * size for known in m.bits}
    near = [known for known in m.bits if 2 * known < m.per_node]
    rounds = sum(m.within(sent[known]) if known in near else m.shift(known, sent[known]) for known in m.bits)
    return rounds + m.copy((m.ranks - 2) * size)


def allreduce_ring(m: Machine, size: int) -> float:
    part = size / m.ranks
    return (m.ranks - 1) * (2 * m.shift(1, part) + m.copy(part))


def allreduce_recursive_doubling(m: Machine, size: int) -> float:
    exchanges = (m.within(size) if bit < m.per_node else m.between(size, m.per_node) for bit in m.bits)
    return sum(exchange + m.copy(size) for exchange in exchanges)


def bcast_binomial(m: Machine, size: int) -> float:
    """A rank sends to all its children at once; the first child is the one with most of them."""

    def steps() -> Iterator[float]:
        leaving = 0
        for bit in m.bits:
            leaving += bit >= m.per_node
            yield m.between(size, leaving) if bit >= m.per_node else m.within(size)

    return sum(steps())


def bcast_chain(m: Machine, size: int) -> float:
    """A segment travels from the first rank to the last; the others follow, each when the slowest hop is free again."""
    part, nodes = size / m.depth, m.ranks // m.per_node
    slowest = m.between(part) if nodes > 1 else m.within(part)
    return (m.ranks - nodes) * m.within(part) + (nodes - 1) * m.between(part) + (m.depth - 1) * slowest


def alltoall_direct(m: Machine, size: int) -> float:
    return m.at_once(m.ranks - 1, size, m.per_node * (m.ranks - m.per_node))


def alltoall_mesh(m: Machine, size: int) -> float:
    """A square: within the row, then the column, a row of blocks in each message. A row of ranks is a node or less."""
    side = isqrt(m.ranks)
    packed = m.copy((side - 1) * (3 * side + 1) * size)
    row_leaves = side - 1 if m.per_node == 1 else 0
    column_leaves = 0 if m.per_node == m.ranks else m.per_node * (side - 1)
    return sum(m.at_once(side - 1, side * size, leaving) for leaving in (row_leaves, column_leaves)) + packed


Estimate = Callable[[Machine, int], float]

#: By collective and strategy.
ESTIMATES: dict[tuple[str, str], Estimate] = {
    ("alltoall", "direct"): alltoall_direct,
    ("alltoall", "mesh"): alltoall_mesh,
    ("allreduce", "ring"): allreduce_ring,
    ("allreduce", "recursive_doubling"): allreduce_recursive_doubling,
    ("bcast", "binomial"): bcast_binomial,
    ("bcast", "chain"): bcast_chain,
    ("allgather", "ring"): allgather_ring,
    ("allgather", "bruck"): allgather_bruck,
}
