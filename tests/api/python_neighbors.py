"""Neighborhood collectives in Python, waited for and as plans, against what NumPy and the topology alone say.

What two ranks send each other does not depend on which of several edges it takes: in that libraries differ. Prints
"ran NAME WHAT", of plans "ran NAME_plan WHAT".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpi4py import MPI

import wherry

ROUNDS = 3
NOBODY = MPI.PROC_NULL
UNTOUCHED = -77
world = MPI.COMM_WORLD.Dup()
rank, ranks = world.Get_rank(), world.Get_size()
Array = np.ndarray[Any, np.dtype[Any]]
ran: set[str] = set()


@dataclass(frozen=True)
class Topology:
    comm: MPI.Topocomm
    sources: Sequence[int]
    targets: Sequence[int]


@dataclass(frozen=True)
class Case:
    """A collective with its arguments. outgoing, incoming: elements of each block; shared: all get the same one."""

    call: Callable[..., None]
    arguments: tuple[Any, ...]
    send: Array
    receive: Array
    outgoing: Sequence[int]
    incoming: Sequence[int]
    shared: bool = False

    def fill(self, turn: int, targets: Sequence[int]) -> None:
        to = [0] if self.shared else targets
        self.send[:] = joined(block(turn, rank, t, n) for t, n in zip(to, self.outgoing, strict=True))
        self.receive[:] = UNTOUCHED

    def expected(self, turn: int, sources: Sequence[int]) -> Array:
        to = 0 if self.shared else rank
        return joined(block(turn, origin, to, n) for origin, n in zip(sources, self.incoming, strict=True))


def block(turn: int, origin: int, destination: int, count: int) -> Array:
    if origin == NOBODY:
        return np.full(count, UNTOUCHED, "i8")
    return np.arange(count, dtype="i8") + 10_000 * (destination + 100 * (origin + 100 * turn))


def joined(parts: Any) -> Array:
    return np.concatenate([np.empty(0, "i8"), *parts])


def grid_neighbors(extents: list[int], periods: list[bool]) -> list[int]:
    """Below and above in each dimension; nobody beyond a border."""
    here = [int(place) for place in np.unravel_index(rank, extents)]
    found = []
    for d, (extent, periodic) in enumerate(zip(extents, periods, strict=True)):
        for step in (-1, 1):
            inside = 0 <= here[d] + step < extent
            there = [*here[:d], (here[d] + step) % extent, *here[d + 1 :]]
            found.append(int(np.ravel_multi_index(there, extents)) if inside or periodic else NOBODY)
    return found


def topologies() -> list[Topology]:
    made = []
    for periods in ([True], [False], [True, True], [False, True]):
        extents = MPI.Compute_dims(ranks, len(periods))
        near = grid_neighbors(extents, periods)
        made.append(Topology(world.Create_cart(extents, periods=periods), near, near))
    steps = (1, 0, 1, 2)
    sources, targets = [(rank - s) % ranks for s in steps], [(rank + s) % ranks for s in steps]
    return [*made, Topology(world.Create_dist_graph_adjacent(sources, targets), sources, targets)]


def types(lengths: Sequence[int]) -> list[MPI.Datatype]:
    begins = np.cumsum([0, *lengths])[:-1]
    return [MPI.INT64_T.Create_hindexed([n], [8 * int(at)]).Commit() for n, at in zip(lengths, begins, strict=True)]


def cases(topology: Topology, count: int) -> list[Case]:
    comm, sources, targets = topology.comm, topology.sources, topology.targets

    def by_pair(origin: int, destination: int) -> int:
        return 0 if NOBODY in (origin, destination) else (origin + 2 * destination) % 3 * count

    def by_source(origin: int) -> int:
        return 0 if origin == NOBODY else origin % 3 * count

    def room(lengths: Sequence[int]) -> Array:
        return np.empty(sum(lengths), "i8")

    out, into = [count] * len(targets), [count] * len(sources)
    some, much = [by_pair(rank, to) for to in targets], [by_pair(origin, rank) for origin in sources]
    gathered = [by_source(origin) for origin in sources]
    all_sent, all_received, sent, received = room(out), room(into), room(some), room(much)
    mine, own, collected = room([count]), room([by_source(rank)]), room(gathered)
    typed = (sent, types(some), received, types(much), comm)
    return [
        Case(wherry.neighbor_alltoall, (all_sent, all_received, comm), all_sent, all_received, out, into),
        Case(wherry.neighbor_alltoallv, (sent, some, received, much, comm), sent, received, some, much),
        Case(wherry.neighbor_alltoallw, typed, sent, received, some, much),
        Case(wherry.neighbor_allgather, (mine, all_received, comm), mine, all_received, [count], into, True),
        Case(wherry.neighbor_allgatherv, (own, collected, gathered, comm), own, collected, [own.size], gathered, True),
    ]


def check(case: Case, topology: Topology) -> None:
    name = case.call.__name__

    def once(turn: int, run: Callable[[], None]) -> None:
        case.fill(turn, topology.targets)
        run()
        expected = case.expected(turn, topology.sources)
        assert np.array_equal(case.receive, expected), (name, turn, case.receive, expected)

    for turn in range(ROUNDS):
        once(turn, lambda: case.call(*case.arguments))
        ran.add(f"{name} {wherry.last_strategy()}")
    with wherry.Plan(case.call, *case.arguments) as plan:
        ran.add(f"{name}_plan {plan.strategy}")

        def start_and_wait() -> None:
            plan.start()
            plan.wait()

        for turn in range(ROUNDS):
            once(turn, start_and_wait)


def refused(kind: type[Exception], text: str, call: Callable[[], None]) -> None:
    try:
        call()
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(text)


def check_misuse(comm: MPI.Topocomm) -> None:
    five, eight = np.zeros(5), np.zeros(8)
    plain: Any = world
    refused(ValueError, "no multiple of 4 neighbors", lambda: wherry.neighbor_alltoall(five, eight, comm))
    refused(ValueError, "on 4 neighbors are 20", lambda: wherry.neighbor_allgather(five, eight, comm))
    refused(ValueError, "there are 4 neighbors", lambda: wherry.neighbor_alltoallv(eight, [8], eight, [8], comm))
    refused(TypeError, "whose ranks have no neighbors", lambda: wherry.neighbor_alltoall(eight, eight, plain))


everywhere = topologies()
for each in everywhere:
    for _ in range(2):  # enables the communicator
        wherry.alltoall(np.zeros(ranks), np.zeros(ranks), each.comm)
    for size in (0, 1, 400):
        for case in cases(each, size):
            check(case, each)
check_misuse(everywhere[-1].comm)
if rank == 0:
    print("\n".join(f"ran {what}" for what in sorted(ran)))
for each in everywhere:
    each.comm.Free()
world.Free()
