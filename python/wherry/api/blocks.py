"""Buffers of blocks, one for each rank or neighbor, as MPI takes them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from itertools import accumulate
from operator import index
from typing import Any

from mpi4py import MPI

from wherry.api.arrays import Array, Unit, address, block_size, check_length, is_in_place, mpi_int, unit_of
from wherry.api.library import Library


def arrays(send: Array | MPI.InPlaceType, receive: Array) -> dict[str, Any]:
    """By name, those of a call that are arrays."""
    return {"receive": receive} if is_in_place(send) else {"send": send, "receive": receive}


def side(name: str, array: Any, blocks: int, wherry: Library, peers: str = "ranks") -> tuple[Any, int, Any]:
    """A buffer of so many blocks as MPI takes it: where it begins, how many elements a block has, of which type.

    peers: whose blocks they are.
    """
    if array is None or is_in_place(array):
        return address(array), 0, wherry.handle(MPI.BYTE)
    unit = unit_of(array.dtype)
    elements = block_size(name, array, blocks, peers)
    return address(array), mpi_int(elements * unit.per_element), wherry.handle(unit.type)


def blocks(
    name: str,
    array: Any,
    counts: Sequence[int] | None,
    displacements: Sequence[int] | None,
    ranks: int,
    unit: Unit,
    peer: str = "rank",
) -> tuple[ctypes.Array[ctypes.c_int], ctypes.Array[ctypes.c_int]]:
    """Counts and displacements as MPI takes them; every block lies inside the array."""
    if counts is None:
        raise TypeError(f"{name}_counts is None, which is for MPI.IN_PLACE only; give a count for each rank")
    counts = [index(n) for n in counts]  # those of NumPy count modulo their own size
    begins = [0, *accumulate(counts)][: len(counts)] if displacements is None else [index(n) for n in displacements]
    for what, values in (("counts", counts), ("displacements", begins)):
        check_length(f"{name}_{what}", len(values), ranks, f"{peer}s")
    for rank, (count, begin) in enumerate(zip(counts, begins, strict=True)):
        if count < 0 or begin < 0 or (count > 0 and begin + count > array.size):
            raise ValueError(
                f"the {name} block of {peer} {rank} has {count} elements from {begin} on, but there are {array.size}; "
                "enlarge the array or correct the counts"
            )
    integers = ctypes.c_int * ranks
    return integers(*(mpi_int(n * unit.per_element) for n in counts)), integers(
        *(mpi_int(n * unit.per_element) for n in begins)
    )


def typed(
    name: str,
    types: Sequence[MPI.Datatype] | None,
    ranks: int,
    wherry: Library,
    displacement: type[Any] = ctypes.c_int,
    peers: str = "ranks",
) -> tuple[ctypes.Array[ctypes.c_int], ctypes.Array[Any], ctypes.Array[Any]]:
    """One element of each type at the beginning of the buffer, as MPI takes them. displacement: MPI's type for one."""
    if types is None:
        raise TypeError(f"{name}_types is None, which is for MPI.IN_PLACE only; give a type for each rank")
    check_length(f"{name}_types", len(types), ranks, peers)
    return (ctypes.c_int * ranks)(*[1] * ranks), (displacement * ranks)(), wherry.handles(types)
