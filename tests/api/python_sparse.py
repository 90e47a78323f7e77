"""wherry.sparse_exchange: what every rank knows that it must get; and what is refused. Run under mpiexec."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

import wherry

SEED = int(os.environ.get("WHERRY_TEST_SEED", "20261122"))
STEPS = 12

comm = MPI.COMM_WORLD.Dup()
rank, ranks = comm.Get_rank(), comm.Get_size()
particle = np.dtype([("position", "f8", 3), ("charge", "i2")])

Sent = list[tuple[int, NDArray[Any]]]


def drawn(step: int, sender: int, dtype: np.dtype[Any]) -> Sent:
    random = np.random.default_rng([SEED, step, sender])
    arrays = [random.integers(0, 256, int(n) * dtype.itemsize, "u1").view(dtype) for n in random.integers(0, 300, 4)]
    return [(int(random.integers(ranks)), array) for array in arrays[: int(random.integers(5))]]


def due(step: int, dtype: np.dtype[Any]) -> Sent:
    return [(source, array) for source in range(ranks) for to, array in drawn(step, source, dtype) if to == rank]


def same(got: Sent, expected: Sent) -> bool:
    pairs = zip(got, expected, strict=False)
    return len(got) == len(expected) and all(a[0] == b[0] and a[1].tobytes() == b[1].tobytes() for a, b in pairs)


def check_exchanges() -> None:
    for step in range(STEPS):
        for name in ("u1", "f8", particle):
            dtype = np.dtype(name)
            got = wherry.sparse_exchange(drawn(step, rank, dtype), comm, dtype=dtype)
            assert same(got, due(step, dtype)), (step, dtype, SEED)
            assert all(array.dtype == dtype and array.flags.owndata for _, array in got)


def refuses(kind: type[Exception], text: str, messages: Any, **options: Any) -> None:
    try:
        wherry.sparse_exchange(messages, options.pop("on", comm), **options)
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"no {kind.__name__} with '{text}'")


def check_refusals() -> None:
    bytes_ = np.zeros(4, "u1")
    refuses(TypeError, "not a NumPy array", [(0, [1, 2])])
    refuses(TypeError, "pass dtype=", [(0, np.zeros(2))])
    refuses(TypeError, "not bytes that MPI can move", [], dtype=object)
    refuses(TypeError, "not bytes that MPI can move", [], dtype="V0")
    refuses(TypeError, "not an mpi4py communicator", [], on=0)
    refuses(ValueError, "not C-contiguous", [(0, bytes_[::2])])
    refuses(ValueError, f"give one from 0 to {ranks - 1}", [(2**32, bytes_)])
    refuses(TypeError, "'float' object cannot be interpreted as an integer", [(0.5, bytes_)])
    refuses(TypeError, "MPI.IN_PLACE", [(0, MPI.IN_PLACE)])


def check_no_such_rank() -> None:
    """Rank 0 alone hears of it, when all have what they are due."""
    mine = np.full(3, rank, "u1")
    messages = [(0, mine), (ranks - 1, mine)] + ([(ranks, mine)] if rank == 0 else [])
    try:
        got = wherry.sparse_exchange(messages, comm)
    except MPI.Exception as error:
        assert rank == 0 and error.Get_error_class() == MPI.ERR_RANK
    else:
        assert rank != 0
        assert [source for source, _ in got] == (list(range(ranks)) if rank == ranks - 1 else [])


def check_other_dtype() -> None:
    """The last rank alone hears of it, when the exchange is over."""
    if ranks == 1:
        return
    if rank == ranks - 1:
        text = "rank 0 sent 12 bytes, which is no multiple of the 8 of dtype float64; pass the same dtype= on all ranks"
        refuses(ValueError, text, [], dtype="f8")
    else:
        sent = [(ranks - 1, np.zeros(3, "f4"))] if rank == 0 else []
        assert wherry.sparse_exchange(sent, comm, dtype="f4") == []


check_refusals()
check_exchanges()
check_no_such_rank()
check_other_dtype()
if rank == 0:
    print(f"ran {wherry.last_strategy()}")
comm.Free()
