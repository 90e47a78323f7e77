"""Sparse exchanges on NumPy arrays and mpi4py communicators: no rank has to know who sends to it.

    for source, rows in wherry.sparse_exchange([(3, rows_for_3), (7, rows_for_7)], comm, dtype=rows_for_3.dtype):
        ...

What wherry.api.collectives says of collectives holds here too: settings, order, threads, errors.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from operator import index
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import DTypeLike

from wherry.api.arrays import Array, check_array, ranks_of
from wherry.api.library import Library, library

__all__ = ["sparse_exchange"]

_MOST = 2**31 - 1  # messages, which C counts with an int


class _Message(ctypes.Structure):
    """wherry_message."""

    _fields_ = (("peer", ctypes.c_int), ("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t))


def sparse_exchange(
    messages: Iterable[tuple[int, Array]], comm: MPI.Comm, *, dtype: DTypeLike = "u1"
) -> list[tuple[int, Array]]:
    """Sends each (destination, array) and returns the (source, array) that other ranks send here.

    messages: any number, in any order; several may have one destination, which may be this rank. Arrays may be empty;
    they are C-contiguous, of this dtype and any shape.
    dtype: of all arrays, the same on all ranks; by default bytes.
    Returns flat arrays of the caller's own, in ascending order of sources; from one source as it sent them.
    Collective over comm; returns when all that is sent here has arrived. TypeError and ValueError are local. They come
    before any message, but for the ValueError where what a rank sent is no array of this dtype: that one, as
    mpi4py.MPI.Exception, comes when the exchange is over. For a destination that comm does not have (MPI.ERR_RANK) the
    exception is this rank's alone, and no other rank waits.
    """
    kind = np.dtype(dtype)
    if kind.hasobject or kind.itemsize == 0:
        raise TypeError(f"elements of dtype {kind} are not bytes that MPI can move; use a numeric or structured dtype")
    ranks = ranks_of(comm)
    sends = [(_rank(peer, ranks), _checked(array, kind)) for peer, array in messages]
    if len(sends) > _MOST:
        raise ValueError(f"{len(sends)} messages are more than {_MOST}; exchange them in several calls")
    listed = (_Message * len(sends))(*(_Message(peer, a.ctypes.data, a.nbytes) for peer, a in sends))
    inbox = ctypes.c_void_p()
    wherry = library()
    wherry.use("sparse_exchange", listed, len(sends), wherry.handle(comm), ctypes.byref(inbox))
    try:
        return _arrivals(wherry, inbox, kind)
    finally:
        wherry.ask("inbox_free", None, ctypes.byref(inbox))


def _rank(peer: Any, ranks: int) -> int:
    """ctypes would cut off what an int cannot hold, and the rest might be a rank."""
    number = index(peer)
    if not -_MOST <= number <= _MOST:
        raise ValueError(f"destination {number} is no rank; give one from 0 to {ranks - 1}")
    return number


def _checked(array: Any, kind: np.dtype[Any]) -> Array:
    check_array("a message", array)
    if array.dtype != kind:
        raise TypeError(f"a message has dtype {array.dtype}, but this exchange has {kind}; pass dtype=, or convert it")
    checked: Array = array
    return checked


def _arrivals(wherry: Library, inbox: ctypes.c_void_p, kind: np.dtype[Any]) -> list[tuple[int, Array]]:
    count: int = wherry.ask("inbox_count", ctypes.c_int, inbox)
    first = wherry.ask("inbox_messages", ctypes.POINTER(_Message), inbox)
    return [(first[i].peer, _copied(first[i], kind)) for i in range(count)]


def _copied(message: _Message, kind: np.dtype[Any]) -> Array:
    """The inbox and its memory go; ctypes.string_at would make one copy more."""
    if message.bytes % kind.itemsize:
        raise ValueError(
            f"rank {message.peer} sent {message.bytes} bytes, which is no multiple of the {kind.itemsize} of dtype"
            f" {kind}; pass the same dtype= on all ranks"
        )
    array = np.empty(message.bytes // kind.itemsize, kind)
    ctypes.memmove(array.ctypes.data, message.data, array.nbytes)
    return array
