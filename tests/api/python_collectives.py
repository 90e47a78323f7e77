"""wherry.alltoall and its like against mpi4py's own, on random arrays; and what is refused. Run under mpiexec."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI

import wherry

CALLS = 12
SEED = int(os.environ.get("WHERRY_TEST_SEED", "20261122"))

comm = MPI.COMM_WORLD.Dup()
rank, ranks = comm.Get_rank(), comm.Get_size()
random = np.random.default_rng(SEED + rank)
particle = np.dtype([("position", "f8", 3), ("charge", "i2")])


def drawn(elements: int, dtype: Any) -> np.ndarray[Any, Any]:
    dtype = np.dtype(dtype)
    return random.integers(0, 2, elements * dtype.itemsize, dtype="u1").view(dtype)


def as_bytes(array: np.ndarray[Any, Any]) -> bytes:
    return array.tobytes()


def check_alltoall(dtype: Any, count: int) -> None:
    send = drawn(ranks * count, dtype)
    ours, expected = np.zeros_like(send), np.zeros_like(send)
    comm.Alltoall([send.view("u1"), MPI.BYTE], [expected.view("u1"), MPI.BYTE])
    wherry.alltoall(send, ours, comm)
    assert as_bytes(ours) == as_bytes(expected), (dtype, count, SEED)
    wherry.alltoall(MPI.IN_PLACE, send, comm)
    assert as_bytes(send) == as_bytes(expected), (dtype, count, SEED)


def check_alltoallv(gap: int) -> None:
    counts = random.integers(0, 50, ranks, dtype="i4") * random.integers(0, 2, ranks, dtype="i4")
    incoming = np.zeros_like(counts)
    comm.Alltoall(counts, incoming)
    begins, arrivals = ([int(sum(c[:r]) + r * gap) for r in range(ranks)] for c in (counts, incoming))
    send = random.random(int(sum(counts)) + ranks * gap)
    expected = np.zeros(int(sum(incoming)) + ranks * gap)
    ours = np.zeros_like(expected)
    comm.Alltoallv([send, (counts, begins)], [expected, (incoming, arrivals)])
    where = {"send_displacements": begins, "receive_displacements": arrivals} if gap else {}
    bytes_of = (counts.astype("u1"), incoming.astype("u1"))  # their sum is more than a byte
    wherry.alltoallv(send, bytes_of[0], ours, bytes_of[1], comm, **where)  # type: ignore[arg-type]
    assert np.array_equal(ours, expected), (gap, SEED)


def check_alltoallv_in_place() -> None:
    counts = [(rank + other) % 3 for other in range(ranks)]
    send = random.random(sum(counts))
    expected = np.zeros_like(send)
    comm.Alltoallv([send, counts], [expected, counts])
    wherry.alltoallv(MPI.IN_PLACE, None, send, counts, comm)
    assert np.array_equal(send, expected), SEED


def check_alltoallw() -> None:
    """Columns of a matrix become rows."""
    rows = 4
    send = random.random((rows, ranks))
    expected, ours = np.zeros((ranks, rows)), np.zeros((ranks, rows))
    out = [MPI.DOUBLE.Create_subarray([rows, ranks], [rows, 1], [0, r]).Commit() for r in range(ranks)]
    into = [MPI.DOUBLE.Create_subarray([ranks, rows], [1, rows], [r, 0]).Commit() for r in range(ranks)]
    ones, zeros = [1] * ranks, [0] * ranks
    comm.Alltoallw([send, (ones, zeros), out], [expected, (ones, zeros), into])
    wherry.alltoallw(send, out, ours, into, comm)
    assert np.array_equal(ours, expected), SEED
    for datatype in out + into:
        datatype.Free()


def refuses(kind: type[Exception], text: str, call: Callable[..., None], *arguments: Any) -> None:
    try:
        call(*arguments)
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"{call.__name__}: no {kind.__name__} with '{text}'")


def check_refusals() -> None:
    good = np.zeros(ranks * 2)
    frozen = good.copy()
    frozen.flags.writeable = False
    refuses(TypeError, "dtype", wherry.alltoall, good.astype("f4"), good, comm)
    refuses(TypeError, "Python objects", wherry.alltoall, good.astype(object), good, comm)
    refuses(TypeError, "not a NumPy array", wherry.alltoall, [1, 2], good, comm)
    refuses(TypeError, "not an mpi4py communicator", wherry.alltoall, good, good, 0)
    refuses(ValueError, "not C-contiguous", wherry.alltoall, np.zeros(ranks * 4)[::2], good, comm)
    refuses(ValueError, "read-only", wherry.alltoall, good, frozen, comm)
    refuses(ValueError, "give both as many", wherry.alltoall, np.zeros(ranks * 3), good, comm)
    if ranks > 1:
        refuses(ValueError, "no multiple of", wherry.alltoall, np.zeros(ranks + 1), np.zeros(ranks + 1), comm)
    ones = [1] * ranks
    refuses(ValueError, "one for each", wherry.alltoallv, good, [*ones, 1], good, ones, comm)
    refuses(ValueError, "enlarge the array", wherry.alltoallv, good, ones, good, [3] * ranks, comm)
    refuses(TypeError, "IN_PLACE only", wherry.alltoallv, good, None, good, ones, comm)
    refuses(MPI.Exception, "", wherry.alltoallw, good, [MPI.DATATYPE_NULL] * ranks, good, [MPI.DOUBLE] * ranks, comm)


def main() -> None:
    assert wherry.last_strategy() == ""
    ran = set()
    check_refusals()
    for _ in range(CALLS):
        for dtype in ("f8", "i4", "?", "c16", "f2", "S3", "M8[s]", particle):
            check_alltoall(dtype, 3)
            ran.add(wherry.last_strategy())
        check_alltoall("u1", 0)
        check_alltoallv(0)
        check_alltoallv(2)
        check_alltoallv_in_place()
        check_alltoallw()
    comm.Free()
    if rank == 0:
        print("\n".join(f"ran {name}" for name in sorted(ran)))


main()
