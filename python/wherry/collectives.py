"""MPI's collectives on NumPy arrays and mpi4py communicators, run by Wherry or by the MPI library, whichever is best.

    import wherry
    wherry.alltoall(send, receive, comm)

One module for every MPI that mpi4py works with. Settings are the variables WHERRY_* (docs/reference/settings.md), the
same on all ranks; nothing has to be started or ended.

What holds for every function here: it is collective over comm, in the same order as all other collectives on comm, and
does not match mpi4py's own; it returns when `receive` is complete. Arrays are C-contiguous, stay the caller's and must
not overlap. `mpi4py.MPI.IN_PLACE` as `send`, on all ranks, exchanges the blocks of `receive` in place. Other Python
threads run meanwhile.

TypeError and ValueError are local: they are raised before any message, and ranks with right arguments may wait.
mpi4py.MPI.Exception has MPI's code, if comm's error handler returns, as mpi4py sets it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from wherry.native import Library, library

Array = NDArray[Any]

_MOST = 2**31 - 1  # MPI counts with a C int


def alltoall(send: Array | MPI.InPlaceType, receive: Array, comm: MPI.Comm) -> None:
    """Sends block d of `send` to rank d; block o of `receive` comes from rank o.

    send: one block for each rank, one after the other, all of send.size / ranks elements (may be 0; the same on all
    ranks).
    receive: as many elements of the same dtype.
    Standard: MPI 4.1, section 6.8, MPI_Alltoall.
    """
    ranks = _ranks(comm)
    unit = _unit(receive.dtype)
    arrays = {"receive": receive} if _is_in_place(send) else {"send": send, "receive": receive}
    _check_arrays(arrays, receive)
    for name, array in arrays.items():
        if array.size != receive.size:
            raise ValueError(f"{name} has {array.size} elements and receive {receive.size}; give both as many")
        if array.size % ranks:
            raise ValueError(
                f"{name} has {array.size} elements, which is no multiple of {ranks} ranks; give every rank as many"
            )
    count = _int(receive.size // ranks * unit.per_element)
    wherry = library()
    kind = wherry.handle(unit.type)
    wherry.call("alltoall", _address(send), count, kind, _address(receive), count, kind, wherry.handle(comm))


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
    ranks = _ranks(comm)
    unit = _unit(receive.dtype)
    in_place = _is_in_place(send)
    _check_arrays({"receive": receive} if in_place else {"send": send, "receive": receive}, receive)
    incoming = _blocks("receive", receive, receive_counts, receive_displacements, ranks, unit)
    outgoing = (None, None) if in_place else _blocks("send", send, send_counts, send_displacements, ranks, unit)
    wherry = library()
    kind = wherry.handle(unit.type)
    wherry.call("alltoallv", _address(send), *outgoing, kind, _address(receive), *incoming, kind, wherry.handle(comm))


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
    ranks = _ranks(comm)
    in_place = _is_in_place(send)
    for name, array in {"receive": receive}.items() if in_place else {"send": send, "receive": receive}.items():
        _check_array(name, array)
    wherry = library()
    incoming = _typed("receive", receive_types, ranks, wherry)
    outgoing = (None, None, None) if in_place else _typed("send", send_types, ranks, wherry)
    wherry.call("alltoallw", _address(send), *outgoing, _address(receive), *incoming, wherry.handle(comm))


def last_strategy() -> str:
    """What ran in this thread's last collective: a strategy's name, "native", or "" before the first."""
    return library().text("last_strategy")


@dataclass(frozen=True)
class _Unit:
    """MPI's elements for one element of an array. Data are moved, never converted, so that any dtype will do."""

    type: MPI.Datatype
    per_element: int


def _unit(dtype: np.dtype[Any]) -> _Unit:
    """The widest integers that make up an element: the fewer, the more fit into MPI's counts."""
    widths = ((8, MPI.UINT64_T), (4, MPI.UINT32_T), (2, MPI.UINT16_T), (1, MPI.BYTE))
    return next(_Unit(type, dtype.itemsize // width) for width, type in widths if dtype.itemsize % width == 0)


def _check_arrays(arrays: dict[str, Any], receive: Array) -> None:
    for name, array in arrays.items():
        _check_array(name, array)
        if array.dtype != receive.dtype:
            raise TypeError(f"{name} has dtype {array.dtype} and receive {receive.dtype}; convert one of them")


def _check_array(name: str, array: Any) -> None:
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} is a {type(array).__name__}, not a NumPy array; use numpy.asarray")
    if array.dtype.hasobject:
        raise TypeError(f"{name} holds Python objects, which MPI cannot move; use a numeric or structured dtype")
    if not array.flags.c_contiguous:
        raise ValueError(f"{name} is not C-contiguous; use numpy.ascontiguousarray, or alltoallw with subarray types")
    if name == "receive" and not array.flags.writeable:
        raise ValueError("receive is read-only; give an array that may be written to")


def _blocks(
    name: str,
    array: Any,
    counts: Sequence[int] | None,
    displacements: Sequence[int] | None,
    ranks: int,
    unit: _Unit,
) -> tuple[ctypes.Array[ctypes.c_int], ctypes.Array[ctypes.c_int]]:
    """Counts and displacements as MPI takes them; every block lies inside the array."""
    if counts is None:
        raise TypeError(f"{name}_counts is None, which is for MPI.IN_PLACE only; give a count for each rank")
    begins = [0, *accumulate(counts)][: len(counts)] if displacements is None else displacements
    for what, values in (("counts", counts), ("displacements", begins)):
        _check_length(f"{name}_{what}", len(values), ranks)
    for rank, (count, begin) in enumerate(zip(counts, begins, strict=True)):
        if count < 0 or begin < 0 or (count > 0 and begin + count > array.size):
            raise ValueError(
                f"the {name} block of rank {rank} has {count} elements from {begin} on, but there are {array.size}; "
                "enlarge the array or correct the counts"
            )
    integers = ctypes.c_int * ranks
    return integers(*(_int(n * unit.per_element) for n in counts)), integers(
        *(_int(n * unit.per_element) for n in begins)
    )


def _typed(
    name: str, types: Sequence[MPI.Datatype] | None, ranks: int, wherry: Library
) -> tuple[ctypes.Array[ctypes.c_int], ctypes.Array[ctypes.c_int], ctypes.Array[Any]]:
    if types is None:
        raise TypeError(f"{name}_types is None, which is for MPI.IN_PLACE only; give a type for each rank")
    _check_length(f"{name}_types", len(types), ranks)
    integers = ctypes.c_int * ranks
    return integers(*[1] * ranks), integers(), wherry.handles(types)


def _check_length(name: str, length: int, ranks: int) -> None:
    if length != ranks:
        raise ValueError(f"{name} has {length} entries, but there are {ranks} ranks; give one for each")


def _ranks(comm: MPI.Comm) -> int:
    """How many ranks this one sends to."""
    if not isinstance(comm, MPI.Comm):
        raise TypeError(
            f"comm is a {type(comm).__name__}, not an mpi4py communicator; use MPI.COMM_WORLD or one made of it"
        )
    return int(comm.Get_remote_size() if isinstance(comm, MPI.Intercomm) else comm.Get_size())


def _is_in_place(send: object) -> bool:
    return isinstance(send, MPI.InPlaceType)


def _address(buffer: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(int(buffer) if _is_in_place(buffer) else buffer.ctypes.data)


def _int(number: int) -> int:
    """ctypes would cut off what an int cannot hold."""
    if number > _MOST:
        raise ValueError(f"a block begins at or has {number} MPI elements, more than {_MOST}; send in several calls")
    return number
