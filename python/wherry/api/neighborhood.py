"""MPI's neighborhood collectives on NumPy arrays, as wherry.api.collectives describes its functions.

    grid = MPI.COMM_WORLD.Create_cart([4, 4], periods=[True, True])
    wherry.neighbor_alltoall(send, receive, grid)

comm has a topology, and a rank's blocks are numbered by its neighbors there: of a Cartesian one, in each dimension the
one below, then the one above; of a graph, as they were given. Blocks of MPI.PROC_NULL have a place in the arrays; they
are neither sent nor written to. MPI.IN_PLACE is not known here.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from mpi4py import MPI

from wherry.api.arrays import (
    Array,
    address,
    check_all_blocks,
    check_array,
    check_arrays,
    check_writable,
    degrees_of,
    unit_of,
)
from wherry.api.blocks import blocks, side, typed
from wherry.api.library import library

_PEER, _PEERS = "neighbor", "neighbors"


def neighbor_alltoall(send: Array, receive: Array, comm: MPI.Topocomm) -> None:
    """Sends block i of `send` to neighbor i; block i of `receive` comes from neighbor i.

    send: one block for each neighbor that this rank sends to, one after the other, of as many elements on all ranks
    (may be 0).
    receive: one block of the same dtype for each that it receives from.
    Standard: MPI 4.1, section 8.6.2, MPI_Neighbor_alltoall.
    """
    targets, sources = degrees_of(comm)
    check_arrays({"send": send, "receive": receive})
    wherry = library()
    outgoing = side("send", send, targets, wherry, _PEERS)
    incoming = side("receive", receive, sources, wherry, _PEERS)
    wherry.call("neighbor_alltoall", *outgoing, *incoming, wherry.handle(comm))


def neighbor_alltoallv(
    send: Array,
    send_counts: Sequence[int],
    receive: Array,
    receive_counts: Sequence[int],
    comm: MPI.Topocomm,
    *,
    send_displacements: Sequence[int] | None = None,
    receive_displacements: Sequence[int] | None = None,
) -> None:
    """Sends a block of any size to each neighbor: send_counts[i] elements of `send` go to neighbor i.

    counts: one entry per neighbor, in elements (not bytes); what is received has the size that its sender sends.
    displacements: where each block begins, in elements of the flat array; by default one after the other.
    Standard: MPI 4.1, section 8.6.2, MPI_Neighbor_alltoallv.
    """
    targets, sources = degrees_of(comm)
    check_arrays({"send": send, "receive": receive})
    unit = unit_of(receive.dtype)
    outgoing = blocks("send", send, send_counts, send_displacements, targets, unit, _PEER)
    incoming = blocks("receive", receive, receive_counts, receive_displacements, sources, unit, _PEER)
    wherry = library()
    kind = wherry.handle(unit.type)
    everything = (address(send), *outgoing, kind, address(receive), *incoming, kind)
    wherry.call("neighbor_alltoallv", *everything, wherry.handle(comm))


def neighbor_alltoallw(
    send: Array,
    send_types: Sequence[MPI.Datatype],
    receive: Array,
    receive_types: Sequence[MPI.Datatype],
    comm: MPI.Topocomm,
) -> None:
    """Sends one element of send_types[i] at the beginning of `send` to neighbor i: for the halos of an array.

    types: one committed type per neighbor, which knows where its data are in the array: MPI.Datatype.Create_subarray.
    Nothing checks that it stays inside. `send` and `receive` may be one array, if what is sent and what is received do
    not overlap in it.
    Standard: MPI 4.1, section 8.6.2, MPI_Neighbor_alltoallw.
    """
    targets, sources = degrees_of(comm)
    for name, array in {"send": send, "receive": receive}.items():
        check_array(name, array)
    check_writable("receive", receive)
    wherry = library()
    outgoing = typed("send", send_types, targets, wherry, ctypes.c_ssize_t, _PEERS)
    incoming = typed("receive", receive_types, sources, wherry, ctypes.c_ssize_t, _PEERS)
    wherry.call("neighbor_alltoallw", address(send), *outgoing, address(receive), *incoming, wherry.handle(comm))


def neighbor_allgather(send: Array, receive: Array, comm: MPI.Topocomm) -> None:
    """Sends `send` to all neighbors; block i of `receive` comes from neighbor i.

    send: as many elements on all ranks (may be 0).
    receive: one such block for each neighbor that this rank receives from.
    Standard: MPI 4.1, section 8.6.1, MPI_Neighbor_allgather.
    """
    _, sources = degrees_of(comm)
    check_arrays({"send": send, "receive": receive})
    check_all_blocks("receive", receive, send, sources, _PEERS)
    wherry = library()
    outgoing = side("send", send, 1, wherry)
    # Not of `receive`: a rank without neighbors to receive from says the same.
    wherry.call("neighbor_allgather", *outgoing, address(receive), *outgoing[1:], wherry.handle(comm))


def neighbor_allgatherv(
    send: Array,
    receive: Array,
    receive_counts: Sequence[int],
    comm: MPI.Topocomm,
    *,
    receive_displacements: Sequence[int] | None = None,
) -> None:
    """The same with blocks of any size: neighbor i sends receive_counts[i] elements.

    Standard: MPI 4.1, section 8.6.1, MPI_Neighbor_allgatherv.
    """
    _, sources = degrees_of(comm)
    check_arrays({"send": send, "receive": receive})
    unit = unit_of(receive.dtype)
    incoming = blocks("receive", receive, receive_counts, receive_displacements, sources, unit, _PEER)
    wherry = library()
    kind = wherry.handle(unit.type)
    outgoing = side("send", send, 1, wherry)
    wherry.call("neighbor_allgatherv", *outgoing, address(receive), *incoming, kind, wherry.handle(comm))
