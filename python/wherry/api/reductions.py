"""MPI's reductions on NumPy arrays, as wherry.api.collectives describes its functions.

op is an operation of mpi4py (MPI.SUM, or one made by MPI.Op.Create) or the name of one of MPI's: "sum". An operation
that does not commute is applied in the order of ranks. MPI's own take the dtypes that MPI defines them on; one of the
program's gets the elements of other dtypes as so many bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from operator import index
from typing import Any

import numpy as np
from mpi4py import MPI

from wherry.api.arrays import (
    Array,
    address,
    block_size,
    check_all_blocks,
    check_arrays,
    check_as_many,
    is_in_place,
    mpi_int,
    part_of,
    ranks_of,
)
from wherry.api.library import is_making, library

# Kinds of dtypes by the operations that take them (MPI 4.1, 6.9.2).
_NUMBERS, _ORDERED, _TRUTH, _BITS = "iufc", "iuf", "biu", "iu"

#: What stands for an array that MPI ignores: MPICH 4.0 wants an address, and not that of another argument.
_NOTHING = np.empty(1, "u1")

#: MPI's operations: name, object, kinds of dtypes.
_OPERATIONS = (
    ("sum", MPI.SUM, _NUMBERS),
    ("prod", MPI.PROD, _NUMBERS),
    ("max", MPI.MAX, _ORDERED),
    ("min", MPI.MIN, _ORDERED),
    ("land", MPI.LAND, _TRUTH),
    ("lor", MPI.LOR, _TRUTH),
    ("lxor", MPI.LXOR, _TRUTH),
    ("band", MPI.BAND, _BITS),
    ("bor", MPI.BOR, _BITS),
    ("bxor", MPI.BXOR, _BITS),
)

#: MPI's types by the kind and size of a dtype.
_TYPES = {
    ("b", 1): MPI.C_BOOL,
    ("i", 1): MPI.INT8_T,
    ("i", 2): MPI.INT16_T,
    ("i", 4): MPI.INT32_T,
    ("i", 8): MPI.INT64_T,
    ("u", 1): MPI.UINT8_T,
    ("u", 2): MPI.UINT16_T,
    ("u", 4): MPI.UINT32_T,
    ("u", 8): MPI.UINT64_T,
    ("f", 4): MPI.FLOAT,
    ("f", 8): MPI.DOUBLE,
    ("f", np.dtype("g").itemsize): MPI.LONG_DOUBLE,
    ("c", 8): MPI.C_FLOAT_COMPLEX,
    ("c", 16): MPI.C_DOUBLE_COMPLEX,
    ("c", np.dtype("G").itemsize): MPI.C_LONG_DOUBLE_COMPLEX,
}


def reduce(send: Array | MPI.InPlaceType, receive: Array | None, op: MPI.Op | str, root: int, comm: MPI.Comm) -> None:
    """Reduces `send` of all ranks to `receive` at the root, element by element.

    send: as many elements on all ranks. MPI.IN_PLACE at the root: its elements are in `receive`.
    receive: at the root as many elements of the same dtype; elsewhere ignored, and may be None.
    Standard: MPI 4.1, section 6.9.1, MPI_Reduce.
    """
    root = index(root)
    part = part_of(comm, root)
    arrays: dict[str, Any] = {}
    if part.has_block and not (part.is_root and is_in_place(send)):
        arrays["send"] = send
    if part.is_root:
        arrays["receive"] = receive
    check_arrays(arrays)
    if len(arrays) == 2:
        check_as_many("send", arrays["send"], arrays["receive"])
    outgoing = arrays.get("send", send if is_in_place(send) else _NOTHING)
    _call("reduce", outgoing, arrays.get("receive"), next(iter(arrays.values()), None), op, comm, root)


def allreduce(send: Array | MPI.InPlaceType, receive: Array, op: MPI.Op | str, comm: MPI.Comm) -> None:
    """Reduces `send` of all ranks to `receive` of all ranks, element by element.

    send: as many elements on all ranks. MPI.IN_PLACE on all ranks: they are in `receive`.
    receive: as many elements of the same dtype. All ranks get the same bits.
    Standard: MPI 4.1, section 6.9.6, MPI_Allreduce.
    """
    ranks_of(comm)
    check_arrays({"receive": receive} if is_in_place(send) else {"send": send, "receive": receive})
    if not is_in_place(send):
        check_as_many("send", send, receive)
    _call("allreduce", send, receive, receive, op, comm)


def reduce_scatter_block(send: Array | MPI.InPlaceType, receive: Array, op: MPI.Op | str, comm: MPI.Comm) -> None:
    """Reduces blocks, one for each rank: `receive` of rank d is block d of the reduced `send`.

    send: one block for each rank, one after the other. MPI.IN_PLACE on all ranks: they are in `receive`, whose first
    block the result replaces; the others are undefined then.
    receive: one block of the same dtype, of as many elements on all ranks.
    Standard: MPI 4.1, section 6.10.1, MPI_Reduce_scatter_block.
    """
    ranks_of(comm)
    check_arrays({"receive": receive} if is_in_place(send) else {"send": send, "receive": receive})
    block = receive.reshape(-1)
    if is_in_place(send):
        block = block[: block_size("receive", receive, comm.Get_size())]
    else:
        check_all_blocks("send", send, receive, comm.Get_size())
    _call("reduce_scatter_block", send, receive, block, op, comm)


def _call(
    function: str,
    send: Any,
    receive: Array | None,
    like: Array | None,
    op: MPI.Op | str,
    comm: MPI.Comm,
    *root: int,
) -> None:
    """Calls the function for the number of elements, and their type, that `like` has."""
    operation = _operation(op)
    if like is None:
        like = np.empty(0, "u1")
    wherry = library()
    with _type_for(operation, like.dtype) as kind:
        wherry.call(
            function,
            address(send),
            address(receive),
            mpi_int(like.size),
            wherry.handle(kind),
            wherry.handle(operation),
            *root,
            wherry.handle(comm),
        )


def _operation(op: MPI.Op | str) -> MPI.Op:
    if isinstance(op, MPI.Op):
        return op
    names = {name: operation for name, operation, _ in _OPERATIONS}
    if not isinstance(op, str):
        raise TypeError(f"op is a {type(op).__name__}, not an mpi4py operation; use MPI.SUM, or a name such as 'sum'")
    if op not in names:
        raise ValueError(f"op '{op}' is no operation (have: {', '.join(names)}); use one of these or an MPI.Op")
    return names[op]


@contextmanager
def _type_for(op: MPI.Op, dtype: np.dtype[Any]) -> Iterator[MPI.Datatype]:
    """MPI's type for one element. What MPI has none for is made of bytes, for an operation of the program's own."""
    known = _TYPES.get((dtype.kind, dtype.itemsize)) if dtype.isnative else None
    if op.is_predefined:
        _check_takes(op, dtype, known)
    if known is not None:
        yield known
        return
    if is_making():
        raise TypeError(f"a plan cannot reduce dtype {dtype}, for which MPI has no type; call the reduction itself")
    made = MPI.BYTE.Create_contiguous(dtype.itemsize).Commit()
    try:
        yield made
    finally:
        made.Free()


def _check_takes(op: MPI.Op, dtype: np.dtype[Any], known: MPI.Datatype | None) -> None:
    found = [(name, kinds) for name, operation, kinds in _OPERATIONS if operation == op]
    if not found:
        raise ValueError(
            f"op is none of {', '.join(name for name, *_ in _OPERATIONS)} and not the program's own; "
            "use mpi4py's methods for MPI's other operations"
        )
    ((name, kinds),) = found
    if known is None or dtype.kind not in kinds:
        raise TypeError(f"MPI has no {name} of dtype {dtype}; convert the arrays or make an operation by MPI.Op.Create")
