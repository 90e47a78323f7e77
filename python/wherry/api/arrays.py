"""NumPy arrays and communicators as arguments of MPI, and what is checked of them before any message."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

Array = NDArray[Any]

_MOST = 2**31 - 1  # MPI counts with a C int


@dataclass(frozen=True)
class Unit:
    """MPI's elements for one element of an array that is moved. Data are not converted, so that any dtype will do."""

    type: MPI.Datatype
    per_element: int


def unit_of(dtype: np.dtype[Any]) -> Unit:
    """The widest integers that make up an element: the fewer, the more fit into MPI's counts."""
    widths = ((8, MPI.UINT64_T), (4, MPI.UINT32_T), (2, MPI.UINT16_T), (1, MPI.BYTE))
    return next(Unit(type, dtype.itemsize // width) for width, type in widths if dtype.itemsize % width == 0)


@dataclass(frozen=True)
class Part:
    """What this rank does in a collective with a root.

    In an intercommunicator the root has no block of its own, and the others of its group have no part (MPI 4.1, 6.2.3).
    """

    is_root: bool
    has_block: bool  # one of those that are collected, spread or reduced


def part_of(comm: MPI.Comm, root: int) -> Part:
    ranks = ranks_of(comm)
    if isinstance(comm, MPI.Intercomm):
        return Part(root == MPI.ROOT, root not in (MPI.ROOT, MPI.PROC_NULL))
    if not 0 <= root < ranks:
        raise ValueError(f"root is {root}, but there are {ranks} ranks; give one from 0 to {ranks - 1}")
    return Part(root == comm.Get_rank(), True)


def ranks_of(comm: MPI.Comm) -> int:
    """How many ranks this one sends to."""
    if not isinstance(comm, MPI.Comm):
        raise TypeError(
            f"comm is a {type(comm).__name__}, not an mpi4py communicator; use MPI.COMM_WORLD or one made of it"
        )
    return int(comm.Get_remote_size() if isinstance(comm, MPI.Intercomm) else comm.Get_size())


def degrees_of(comm: MPI.Comm) -> tuple[int, int]:
    """How many neighbors this rank sends to, and receives from, in the topology of comm."""
    if not isinstance(comm, MPI.Topocomm):
        raise TypeError(
            f"comm is a {type(comm).__name__}, whose ranks have no neighbors; use one of Create_cart, Create_graph or"
            " Create_dist_graph_adjacent"
        )
    return comm.outdegree, comm.indegree


def check_arrays(arrays: dict[str, Any]) -> None:
    """Each can be an argument, and all have one dtype. In place, one of them is missing."""
    for name, array in arrays.items():
        check_array(name, array)
    for (name, array), (other, like) in pairwise(arrays.items()):
        if array.dtype != like.dtype:
            raise TypeError(f"{name} has dtype {array.dtype} and {other} {like.dtype}; convert one of them")
    if "receive" in arrays:
        check_writable("receive", arrays["receive"])


def check_array(name: str, array: Any) -> None:
    if is_in_place(array):
        raise TypeError(f"{name} is MPI.IN_PLACE, which this argument cannot be on this rank; give an array")
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} is a {type(array).__name__}, not a NumPy array; use numpy.asarray")
    if array.dtype.hasobject:
        raise TypeError(f"{name} holds Python objects, which MPI cannot move; use a numeric or structured dtype")
    if not array.flags.c_contiguous:
        raise ValueError(f"{name} is not C-contiguous; use numpy.ascontiguousarray, or alltoallw with subarray types")


def check_writable(name: str, array: Array) -> None:
    if not array.flags.writeable:
        raise ValueError(f"{name} is read-only; give an array that may be written to")


def check_as_many(name: str, array: Array, receive: Array) -> None:
    if array.size != receive.size:
        raise ValueError(f"{name} has {array.size} elements and receive {receive.size}; give both as many")


def check_all_blocks(name: str, array: Array, block: Array, ranks: int, peers: str = "ranks") -> None:
    """`array` has room for a `block` of each rank. peers: what they are called."""
    if array.size != block.size * ranks:
        raise ValueError(
            f"{name} has {array.size} elements, but blocks of {block.size} on {ranks} {peers} are "
            f"{block.size * ranks}; give it as many"
        )


def block_size(name: str, array: Array, ranks: int, peers: str = "ranks") -> int:
    """Elements per rank of an array that holds one block for each; of no ranks, none. peers: what they are called."""
    if array.size % ranks if ranks else array.size:
        raise ValueError(
            f"{name} has {array.size} elements, which is no multiple of {ranks} {peers}; give every one as many"
        )
    return array.size // max(ranks, 1)


def check_length(name: str, length: int, ranks: int, peers: str = "ranks") -> None:
    if length != ranks:
        raise ValueError(f"{name} has {length} entries, but there are {ranks} {peers}; give one for each")


def is_in_place(buffer: object) -> bool:
    return isinstance(buffer, MPI.InPlaceType)


def address(buffer: Any) -> ctypes.c_void_p:
    """Where an array begins; MPI's constant in place; nothing for None."""
    if buffer is None:
        return ctypes.c_void_p()
    return ctypes.c_void_p(int(buffer) if is_in_place(buffer) else buffer.ctypes.data)


def mpi_int(number: int) -> int:
    """ctypes would cut off what an int cannot hold."""
    if number > _MOST:
        raise ValueError(f"a block begins at or has {number} MPI elements, more than {_MOST}; send in several calls")
    return number
