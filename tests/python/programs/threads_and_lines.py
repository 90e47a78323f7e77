"""Two threads call MPI from lines of their own while a third makes and drops functions, frames and code."""

import gc
import threading

import numpy as np
from mpi4py import MPI

comms = [MPI.COMM_WORLD.Dup(), MPI.COMM_WORLD.Dup()]
done = threading.Event()


def first() -> None:
    x, y = np.ones(10), np.empty(10)
    for _ in range(300):
        comms[0].Allreduce(x, y)  # first


def generated(depth: int):
    x = np.ones(10)
    yield from generated(depth - 1) if depth > 0 else ()
    for _ in range(75):
        yield comms[1].Bcast(x)  # second


def second() -> None:
    for _ in generated(3):
        pass


def churn() -> None:
    while not done.is_set():
        space: dict = {}
        exec("def f(n):\n    return n if n == 0 else f(n - 1)\n", space)
        space["f"](50)
        gc.collect(0)


if MPI.Query_thread() == MPI.THREAD_MULTIPLE:
    threads = [threading.Thread(target=work) for work in (first, second)]
else:
    threads = []
churning = threading.Thread(target=churn)
churning.start()
for thread in threads:
    thread.start()
if not threads:
    first()
    second()
for thread in threads:
    thread.join()
done.set()
churning.join()
