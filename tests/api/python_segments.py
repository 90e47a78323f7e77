"""wherry.allgather, wherry.reduce and their like against mpi4py's own, on random arrays; and what is refused.

Run under mpiexec. Prints "ran COLLECTIVE NAME".
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import reduce as fold
from typing import Any

import numpy as np
from mpi4py import MPI

import wherry

CALLS = 6
SEED = int(os.environ.get("WHERRY_TEST_SEED", "20261122"))
Array = np.ndarray[Any, Any]

comm = MPI.COMM_WORLD.Dup()
rank, ranks = comm.Get_rank(), comm.Get_size()
random = np.random.default_rng(SEED + rank)
particle = np.dtype([("position", "f8", 3), ("charge", "i2")])
line = np.dtype([("a", "u8"), ("b", "u8")])
ran: set[str] = set()


def drawn(elements: int, dtype: Any) -> Array:
    dtype = np.dtype(dtype)
    return random.integers(0, 2, elements * dtype.itemsize, dtype="u1").view(dtype)


def numbers(elements: int, dtype: Any) -> Array:
    return random.integers(0, 3, elements).astype(dtype)


def as_bytes(array: Array) -> list[Any]:
    return [array.view("u1"), MPI.BYTE]


def same(collective: str, ours: Array, expected: Array) -> None:
    ran.add(f"{collective} {wherry.last_strategy()}")
    if ours.dtype == "g":  # has unused bytes
        ours, expected = ours.astype("f8"), expected.astype("f8")
    assert ours.tobytes() == expected.tobytes(), (collective, ours.dtype, ours.size, SEED)


def own(blocks: Array) -> Array:
    """This rank's block; writing to it writes to all."""
    return blocks.reshape(ranks, -1)[rank]


def check_allgather(dtype: Any, count: int) -> None:
    send = drawn(count, dtype)
    expected, ours, replaced = (np.zeros(ranks * count, dtype) for _ in range(3))
    comm.Allgather(as_bytes(send), as_bytes(expected))
    wherry.allgather(send, ours, comm)
    same("allgather", ours, expected)
    own(replaced)[:] = send
    wherry.allgather(MPI.IN_PLACE, replaced, comm)
    same("allgather", replaced, expected)


def check_bcast(dtype: Any, count: int, root: int) -> None:
    ours = drawn(count, dtype)
    expected = ours.copy()
    comm.Bcast(as_bytes(expected), root)
    ours.flags.writeable = rank != root
    wherry.bcast(ours, root, comm)
    same("bcast", ours, expected)


def check_gather(dtype: Any, count: int, root: int) -> None:
    is_root = rank == root
    send = drawn(count, dtype)
    expected, ours, replaced = (np.zeros(ranks * count if is_root else 0, dtype) for _ in range(3))
    comm.Gather(as_bytes(send), as_bytes(expected) if is_root else None, root)
    wherry.gather(send, ours if is_root else None, root, comm)
    same("gather", ours, expected)
    if is_root:
        own(replaced)[:] = send
    wherry.gather(MPI.IN_PLACE if is_root else send, replaced, root, comm)
    same("gather", replaced, expected)


def check_scatter(dtype: Any, count: int, root: int) -> None:
    is_root = rank == root
    send = drawn(ranks * count, dtype) if is_root else None
    expected, ours = np.zeros(count, dtype), np.zeros(count, dtype)
    comm.Scatter(None if send is None else as_bytes(send), as_bytes(expected), root)
    wherry.scatter(send, ours, root, comm)
    same("scatter", ours, expected)
    wherry.scatter(send, MPI.IN_PLACE if is_root else ours, root, comm)
    same("scatter", own(send) if send is not None else ours, expected)


def check_reductions(dtype: Any, op: MPI.Op | str, mpi_op: MPI.Op, root: int) -> None:
    send = numbers(ranks * 3, dtype)
    everything, block = np.zeros_like(send), np.zeros(3, dtype)
    comm.Allreduce(send, everything, mpi_op)
    comm.Reduce_scatter_block(send, block, mpi_op)
    check_forms(send, everything, block, op, root)


def check_forms(send: Array, everything: Array, block: Array, op: MPI.Op | str, root: int) -> None:
    ours, mine = np.zeros_like(send), np.zeros_like(block)
    wherry.allreduce(send, ours, op, comm)
    same("allreduce", ours, everything)
    wherry.reduce_scatter_block(send, mine, op, comm)
    same("reduce_scatter_block", mine, block)
    ours[:] = 0
    wherry.reduce(send, ours if rank == root else None, op, root, comm)
    same("reduce", ours, everything if rank == root else np.zeros_like(send))
    ours[:] = send
    wherry.allreduce(MPI.IN_PLACE, ours, op, comm)
    same("allreduce", ours, everything)
    ours[:] = send
    wherry.reduce(MPI.IN_PLACE if rank == root else ours, ours, op, root, comm)
    same("reduce", ours, everything if rank == root else send)
    ours[:] = send
    wherry.reduce_scatter_block(MPI.IN_PLACE, ours, op, comm)
    same("reduce_scatter_block", ours[: block.size], block)


def composed(first: Array, second: Array) -> Array:
    """x -> a x + b, one after the other: associative, and does not commute."""
    both = np.empty_like(first)
    both["a"] = first["a"] * second["a"]
    both["b"] = first["b"] * second["a"] + second["b"]
    return both


def compose(first: Any, second: Any, datatype: MPI.Datatype) -> None:
    assert datatype.Get_size() == line.itemsize
    into = np.frombuffer(second, line)
    into[:] = composed(np.frombuffer(first, line), into)


def check_own_operation(root: int) -> None:
    """Of a dtype that MPI does not know; the expected result is made here, rank by rank."""
    op = MPI.Op.Create(compose, commute=False)
    send = np.zeros(ranks * 2, line)
    send["a"], send["b"] = random.integers(1, 9, ranks * 2), random.integers(0, 9, ranks * 2)
    everything = fold(composed, comm.allgather(send))
    check_forms(send, everything, own(everything).copy(), op, root)
    op.Free()


OPERATIONS = (
    ("f8", "sum", MPI.SUM),
    ("c16", MPI.SUM, MPI.SUM),
    ("i8", "prod", MPI.PROD),
    ("f4", MPI.MAX, MPI.MAX),
    ("u2", "min", MPI.MIN),
    ("?", "land", MPI.LAND),
    ("i4", "lor", MPI.LOR),
    ("u1", "lxor", MPI.LXOR),
    ("i1", MPI.BAND, MPI.BAND),
    ("u4", "bor", MPI.BOR),
    ("u8", "bxor", MPI.BXOR),
    ("g", "sum", MPI.SUM),
)


def refuses(kind: type[Exception], text: str, call: Callable[..., None], *arguments: Any) -> None:
    try:
        call(*arguments)
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"{call.__name__}: no {kind.__name__} with '{text}'")


def check_refused_moves() -> None:
    one, two, every = np.zeros(1), np.zeros(2), np.zeros(ranks)
    frozen = one.copy()
    frozen.flags.writeable = False
    refuses(ValueError, "give it as many", wherry.allgather, two, every, comm)
    refuses(TypeError, "dtype", wherry.allgather, one.astype("f4"), every, comm)
    refuses(TypeError, "not an mpi4py communicator", wherry.barrier, 0)
    refuses(ValueError, f"give one from 0 to {ranks - 1}", wherry.bcast, one, ranks, comm)
    refuses(ValueError, "root is -1", wherry.bcast, one, -1, comm)
    refuses(TypeError, "IN_PLACE", wherry.bcast, MPI.IN_PLACE, rank, comm)
    refuses(TypeError, "not a NumPy array", wherry.gather, one, None, rank, comm)
    refuses(ValueError, "give it as many", wherry.gather, two, every, rank, comm)
    refuses(ValueError, "give it as many", wherry.scatter, every, two, rank, comm)
    refuses(ValueError, "read-only", wherry.scatter, every, frozen, rank, comm)
    if ranks > 1:
        other = (rank + 1) % ranks
        refuses(ValueError, "read-only", wherry.bcast, frozen, other, comm)
        refuses(TypeError, "IN_PLACE", wherry.gather, MPI.IN_PLACE, None, other, comm)
        refuses(TypeError, "IN_PLACE", wherry.scatter, None, MPI.IN_PLACE, other, comm)
        refuses(ValueError, "no multiple of", wherry.allgather, MPI.IN_PLACE, np.zeros(ranks + 1), comm)


def check_refused_reductions() -> None:
    one, two = np.zeros(1), np.zeros(2)
    refuses(ValueError, "give both as many", wherry.allreduce, one, two, "sum", comm)
    refuses(ValueError, "give both as many", wherry.reduce, one, two, "sum", rank, comm)
    refuses(ValueError, "give it as many", wherry.reduce_scatter_block, np.zeros(ranks * 3), two, "sum", comm)
    refuses(ValueError, "'add' is no operation (have: sum, prod", wherry.allreduce, one, one.copy(), "add", comm)
    refuses(TypeError, "not an mpi4py operation", wherry.allreduce, one, one.copy(), np.add, comm)
    refuses(TypeError, "MPI has no band of dtype float64", wherry.allreduce, one, one.copy(), "band", comm)
    refuses(TypeError, "MPI has no sum of dtype float16", wherry.allreduce, *[one.astype("f2")] * 2, "sum", comm)
    refuses(TypeError, "MPI has no sum of dtype >f8", wherry.allreduce, *[one.astype(">f8")] * 2, MPI.SUM, comm)
    refuses(ValueError, "the program's own", wherry.allreduce, one, one.copy(), MPI.MAXLOC, comm)
    refuses(ValueError, "give one from 0 to", wherry.reduce, one, two, "sum", ranks, comm)
    if ranks > 1:
        refuses(TypeError, "IN_PLACE", wherry.reduce, MPI.IN_PLACE, one, "sum", (rank + 1) % ranks, comm)


def check_one_wrong_rank() -> None:
    """A rank that was refused can go on: nothing was sent."""
    send, receive = np.full(1, rank), np.zeros(1, int)
    if rank == 0:
        refuses(ValueError, "give both as many", wherry.allreduce, send, np.zeros(2, int), "sum", comm)
    wherry.allreduce(send, receive, "sum", comm)
    assert receive[0] == ranks * (ranks - 1) // 2


def check_intercommunicator() -> None:
    """The first two ranks and the others; what is collected comes from the other group."""
    low = rank < 2
    half = comm.Split(low, rank)
    inter = half.Create_intercomm(0, comm, 2 if low else 0)
    others = np.arange(2, ranks) if low else np.arange(2)
    mine, everything, total = np.array([rank]), np.zeros_like(others), np.zeros(1, int)
    wherry.allgather(mine, everything, inter)
    assert np.array_equal(everything, others)
    root = 0 if not low else MPI.ROOT if rank == 0 else MPI.PROC_NULL
    everything[:] = 0
    wherry.gather(mine, everything if root == MPI.ROOT else None, root, inter)
    assert root != MPI.ROOT or np.array_equal(everything, others)
    wherry.scatter(others if root == MPI.ROOT else None, total, root, inter)
    assert low or total[0] == rank
    wherry.bcast(total, root, inter)
    wherry.reduce(mine, total, "sum", root, inter)
    assert root != MPI.ROOT or total[0] == others.sum()
    inter.Free()
    half.Free()


def main() -> None:
    assert wherry.last_strategy() == ""
    check_refused_moves()
    check_refused_reductions()
    for call in range(CALLS):
        root = call % ranks
        check_one_wrong_rank()
        for dtype, count in (("f8", 3), ("?", 7), ("S3", 2), (particle, 2), ("f2", 0)):
            check_allgather(dtype, count)
            check_bcast(dtype, count, root)
            check_gather(dtype, count, root)
            check_scatter(dtype, count, root)
        for dtype, op, mpi_op in OPERATIONS[call % 2 :: 2]:
            check_reductions(dtype, op, mpi_op, root)
        check_own_operation(root)
        wherry.barrier(comm)
        ran.add(f"barrier {wherry.last_strategy()}")
    if ranks > 2:
        check_intercommunicator()
    comm.Free()
    if rank == 0:
        print("\n".join(f"ran {name}" for name in sorted(ran)))


main()
