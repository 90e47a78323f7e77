"""Plans in Python, started many times, against results worked out by NumPy alone. Prints "ran NAME WHAT"."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI

import wherry
from wherry.api import persistent
from wherry.collective_names import IN_LIBRARY

ROUNDS = 5
comm = MPI.COMM_WORLD.Dup()
rank, ranks = comm.Get_rank(), comm.Get_size()
Array = np.ndarray[Any, np.dtype[Any]]
checks = 0


def blocks(turn: int, origin: int, count: int) -> Array:
    """What a rank sends: a block of `count` for each rank."""
    return np.arange(ranks * count, dtype="i8") + 10000 * origin + 1000000 * turn


def that(holds: object, what: str) -> None:
    global checks
    checks += 1
    if not holds:
        print(f"rank {rank}: {what}", file=sys.stderr)
        comm.Abort(1)


def run(
    name: str, plan: wherry.Plan, fill: Callable[[int], None], result: Array, expected: Callable[[int], Array]
) -> None:
    with plan:
        if rank == 0:
            print(f"ran {name} {plan.strategy}")
        for turn in range(ROUNDS):
            fill(turn)
            plan.start()
            if turn % 2 == 0:
                plan.wait()
            while not plan.test():
                pass
            that(np.array_equal(result, expected(turn)), f"{name}, turn {turn}: {result} is not {expected(turn)}")


def mine(all_blocks: Array, count: int) -> Array:
    return all_blocks[rank * count : (rank + 1) * count]


def check_moves(count: int) -> None:
    send, receive = np.empty(ranks * count, "i8"), np.empty(ranks * count, "i8")
    block = np.empty(count, "i8")

    def fill(turn: int) -> None:
        send[:] = blocks(turn, rank, count)
        block[:] = blocks(turn, rank, count)[:count]
        receive[:] = -1

    def turned(turn: int) -> Array:
        return np.concatenate([mine(blocks(turn, origin, count), count) for origin in range(ranks)])

    def gathered(turn: int) -> Array:
        return np.concatenate([blocks(turn, origin, count)[:count] for origin in range(ranks)])

    counts = [count] * ranks
    run("alltoall", wherry.Plan(wherry.alltoall, send, receive, comm), fill, receive, turned)
    run("alltoallv", wherry.Plan(wherry.alltoallv, send, counts, receive, counts, comm), fill, receive, turned)
    run("allgather", wherry.Plan(wherry.allgather, block, receive, comm), fill, receive, gathered)

    def fill_root(turn: int) -> None:
        block[:] = blocks(turn, 0, count)[:count] if rank == 0 else -1

    run(
        "bcast",
        wherry.Plan(wherry.bcast, block, 0, comm),
        fill_root,
        block,
        lambda turn: blocks(turn, 0, count)[:count],
    )


def check_reductions(count: int) -> None:
    send, receive, block = np.empty(ranks * count, "i8"), np.empty(ranks * count, "i8"), np.empty(count, "i8")

    def fill(turn: int) -> None:
        send[:] = blocks(turn, rank, count)

    def total(turn: int) -> Array:
        return np.sum([blocks(turn, origin, count) for origin in range(ranks)], axis=0)

    run("allreduce", wherry.Plan(wherry.allreduce, send, receive, "sum", comm), fill, receive, total)
    scattered = wherry.Plan(wherry.reduce_scatter_block, send, block, MPI.SUM, comm)
    run("reduce_scatter_block", scattered, fill, block, lambda turn: mine(total(turn), count))


def check_names() -> None:
    in_plans = sorted(collective.__name__ for collective in persistent._COLLECTIVES)
    that(in_plans == sorted(IN_LIBRARY), f"plans are of {in_plans}, the C library has {sorted(IN_LIBRARY)}")
    that(set(IN_LIBRARY) <= set(wherry.__all__), f"wherry lacks {set(IN_LIBRARY) - set(wherry.__all__)}")


def check_misuse() -> None:
    for wrong in (lambda: wherry.Plan(print), lambda: wherry.Plan(wherry.sparse_exchange, [], comm)):
        try:
            wrong()
            that(False, "a plan of what is no collective was made")
        except TypeError as error:
            that("a plan is of a collective of wherry" in str(error), str(error))
    plan = wherry.Plan(wherry.barrier, comm)
    plan.start()
    try:
        plan.start()
        that(False, "a plan was started twice")
    except MPI.Exception as error:
        that(error.Get_error_class() == MPI.ERR_REQUEST, str(error))
    plan.wait()
    plan.free()
    plan.free()
    try:
        plan.start()
        that(False, "a plan was started that had been freed")
    except wherry.errors.WherryError as error:
        that("has been freed" in str(error), str(error))


def check_forgotten() -> None:
    """MPI writes to the arrays, whoever has forgotten the plan."""
    wherry.Plan(wherry.allreduce, np.ones(1000), np.empty(1000), "sum", comm).start()
    gc.collect()
    (plan,) = persistent._under_way
    plan.wait()
    that(not persistent._under_way, "a plan is kept when its execution is over")
    (arguments, _) = plan._kept
    that(np.array_equal(arguments[1], np.full(1000, comm.Get_size())), "a forgotten plan was not performed")
    plan.free()


for size in (1, 300):
    check_moves(size)
    check_reductions(size)
check_names()
check_misuse()
check_forgotten()
wherry.barrier(comm)  # plans leave nothing behind: the collectives themselves run as before
that(wherry.last_strategy() != "", "the collective did not run")
comm.Free()
that(checks == 2 * 6 * ROUNDS + 9, f"{checks} checks")
