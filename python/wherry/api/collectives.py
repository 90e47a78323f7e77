"""MPI's collectives on NumPy arrays and mpi4py communicators, run by Wherry or by the MPI library, whichever is best.

    import wherry
    wherry.alltoall(send, receive, comm)

One module for every MPI that mpi4py works with. Settings are the variables WHERRY_* (docs/reference/settings.md), the
same on all ranks; nothing has to be started or ended.

What holds for every function here: it is collective over comm, in the same order as all other collectives on comm, and
does not match mpi4py's own; it returns when `receive` is complete. Arrays are C-contiguous, stay the caller's and must
not overlap. `mpi4py.MPI.IN_PLACE` as `send`, on all ranks, takes the data from `receive`; in collectives with a root it
is the root's. Other Python threads run meanwhile. Reductions are in wherry.api.reductions.

TypeError and ValueError are local: they are raised before any message, and ranks with right arguments may wait.
mpi4py.MPI.Exception has MPI's code, if comm's error handler returns, as mpi4py sets it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from operator import index
from typing import Any

from mpi4py import MPI

from wherry.api.arrays import (
    Array,
    Part,
    address,
    check_all_blocks,
    check_array,
    check_arrays,
    check_as_many,
    check_writable,
    is_in_place,
    part_of,
    ranks_of,
    unit_of,
)
from wherry.api.blocks import arrays, blocks, side, typed
from wherry.api.library import library


def alltoall(send: Array | MPI.InPlaceType, receive: Array, comm: MPI.Comm) -> None:
    """Sends block d of `send` to rank d; block o of `receive` comes from rank o.

    send: one block for each rank, one after the other, all of send.size / ranks elements (may be 0; the same on all
    ranks).
    receive: as many elements of the same dtype.
    Standard: MPI 4.1, section 6.8, MPI_Alltoall.
    """
    ranks = ranks_of(comm)
    check_arrays(arrays(send, receive))
    if not is_in_place(send):
        check_as_many("send", send, receive)
    wherry = library()
    count = side("receive", receive, ranks, wherry)[1:]
    wherry.call("alltoall", address(send), *count, address(receive), *count, wherry.handle(comm))


def alltoallv(
    send: Array | MPI.InPlaceType,
    send_counts: Sequence[int] | None,
    receive: Array,
    receive_counts: Sequence[int],
    comm: MPI.Comm,
    *,
    send_displacements: Sequence[int] | None = None,
    receive_displacements: Sequence[int] | None = None,
) -> None:
    """Sends a block of any size to each rank: send_counts[d] elements of `send` go to rank d.

    counts: one entry per rank, in elements (not bytes); what is received from rank o has the size that o sends.
    displacements: where each block begins, in elements of the flat array; by default one after the other.
    In place, send_counts is None, and receive_counts[d] is the same here and on rank d.
    Standard: MPI 4.1, section 6.8, MPI_Alltoallv.
    """
    ranks = ranks_of(comm)
    unit = unit_of(receive.dtype)
    in_place = is_in_place(send)
    check_arrays(arrays(send, receive))
    incoming = blocks("receive", receive, receive_counts, receive_displacements, ranks, unit)
    outgoing = (None, None) if in_place else blocks("send", send, send_counts, send_displacements, ranks, unit)
    wherry = library()
    kind = wherry.handle(unit.type)
    wherry.call("alltoallv", address(send), *outgoing, kind, address(receive), *incoming, kind, wherry.handle(comm))


def alltoallw(
    send: Array | MPI.InPlaceType,
    send_types: Sequence[MPI.Datatype] | None,
    receive: Array,
    receive_types: Sequence[MPI.Datatype],
    comm: MPI.Comm,
) -> None:
    """Sends one element of send_types[d] at the beginning of `send` to rank d: for arrays that are redistributed.

    types: one committed type per rank, which knows where its data are in the array: MPI.Datatype.Create_subarray.
    Nothing checks that it stays inside. In place, send_types is None.
    Standard: MPI 4.1, section 6.8, MPI_Alltoallw.
    """
    ranks = ranks_of(comm)
    in_place = is_in_place(send)
    for name, array in arrays(send, receive).items():
        check_array(name, array)
    check_writable("receive", receive)
    wherry = library()
    incoming = typed("receive", receive_types, ranks, wherry)
    outgoing = (None, None, None) if in_place else typed("send", send_types, ranks, wherry)
    wherry.call("alltoallw", address(send), *outgoing, address(receive), *incoming, wherry.handle(comm))


def allgather(send: Array | MPI.InPlaceType, receive: Array, comm: MPI.Comm) -> None:
    """Collects a block from every rank on all ranks: block o of `receive` is `send` of rank o.

    send: as many elements on all ranks (may be 0). MPI.IN_PLACE on all ranks: the rank's own block of `receive`.
    receive: one block of the same dtype for each rank, one after the other.
    Standard: MPI 4.1, section 6.7, MPI_Allgather.
    """
    ranks = ranks_of(comm)
    check_arrays(arrays(send, receive))
    if not is_in_place(send) and not isinstance(comm, MPI.Intercomm):
        check_all_blocks("receive", receive, send, ranks)
    wherry = library()
    outgoing, incoming = side("send", send, 1, wherry), side("receive", receive, ranks, wherry)
    wherry.call("allgather", *outgoing, *incoming, wherry.handle(comm))


def bcast(buffer: Array, root: int, comm: MPI.Comm) -> None:
    """Sends `buffer` of the root to `buffer` of all other ranks.

    buffer: as many bytes on all ranks; at the root it may be read-only. root: the same on all ranks.
    Standard: MPI 4.1, section 6.4, MPI_Bcast.
    """
    root = index(root)
    part = part_of(comm, root)
    takes_part = part.is_root or part.has_block
    if takes_part:
        check_array("buffer", buffer)
        if not part.is_root:
            check_writable("buffer", buffer)
    wherry = library()
    wherry.call("bcast", *side("buffer", buffer if takes_part else None, 1, wherry), root, wherry.handle(comm))


def gather(send: Array | MPI.InPlaceType, receive: Array | None, root: int, comm: MPI.Comm) -> None:
    """Collects a block from every rank at the root: block o of its `receive` is `send` of rank o.

    send: as many elements on all ranks (may be 0). MPI.IN_PLACE at the root: its block is in `receive` already.
    receive: at the root one block of the same dtype for each rank, one after the other; elsewhere ignored, and may be
    None.
    root: the same on all ranks.
    Standard: MPI 4.1, section 6.5, MPI_Gather.
    """
    _call_rooted("gather", _End("send", send, _Has.block), _End("receive", receive, _Has.all_blocks), root, comm)


def scatter(send: Array | None, receive: Array | MPI.InPlaceType, root: int, comm: MPI.Comm) -> None:
    """Spreads blocks from the root: `receive` of rank d is block d of the root's `send`.

    send: at the root one block for each rank, one after the other; elsewhere ignored, and may be None.
    receive: one block of the same dtype, of as many elements on all ranks. MPI.IN_PLACE at the root: its block stays in
    `send`.
    root: the same on all ranks.
    Standard: MPI 4.1, section 6.6, MPI_Scatter.
    """
    _call_rooted("scatter", _End("send", send, _Has.all_blocks), _End("receive", receive, _Has.block), root, comm)


def barrier(comm: MPI.Comm) -> None:
    """Returns when all ranks have called it. Standard: MPI 4.1, section 6.3, MPI_Barrier."""
    ranks_of(comm)
    wherry = library()
    wherry.call("barrier", wherry.handle(comm))


def last_strategy() -> str:
    """What ran in this thread's last collective: a strategy's name, "native", or "" before the first."""
    return library().text("last_strategy")


class _Has(Enum):
    block = "this rank's block"
    all_blocks = "at the root, one block for each rank"


@dataclass(frozen=True, eq=False)
class _End:
    """An argument of a collective with a root."""

    name: str
    array: Any
    has: _Has

    def is_used(self, part: Part) -> bool:
        if self.has is _Has.all_blocks:
            return part.is_root
        return part.has_block and not self.stays(part)

    def stays(self, part: Part) -> bool:
        """The root's own block, which is among the others already."""
        return part.is_root and is_in_place(self.array)


def _call_rooted(function: str, send: _End, receive: _End, root: int, comm: MPI.Comm) -> None:
    root = index(root)
    part = part_of(comm, root)
    ranks = ranks_of(comm)
    used = {end.has: end for end in (send, receive) if end.is_used(part)}
    check_arrays({end.name: end.array for end in used.values()})
    if len(used) == 2:
        whole = used[_Has.all_blocks]
        check_all_blocks(whole.name, whole.array, used[_Has.block].array, ranks)
    wherry = library()
    sides = [
        side(
            end.name,
            end.array if end.is_used(part) or end.stays(part) else None,
            ranks if end.has is _Has.all_blocks else 1,
            wherry,
        )
        for end in (send, receive)
    ]
    wherry.call(function, *sides[0], *sides[1], root, wherry.handle(comm))
