"""Threads exchange data at once, each on a communicator of its own. Exits with 1 if anything arrives wrong."""

from __future__ import annotations

import sys
import threading

import numpy as np
from mpi4py import MPI

THREADS = 3
LENGTHS = (1, 300, 40, 1, 1000, 8)
REPEATS = 6


def expected(size: int, rank: int, length: int, salt: int) -> np.ndarray:
    return np.repeat(np.arange(size) * 1000 + rank + salt, length)


def exchange(comm: MPI.Intracomm, length: int, salt: int) -> bool:
    rank, size = comm.rank, comm.size
    out = np.repeat(rank * 1000 + np.arange(size) + salt, length)
    alike, varied, in_place = np.empty_like(out), np.empty_like(out), out.copy()
    counts = [length] * size
    comm.Alltoall(out, alike)
    comm.Alltoallv([out, counts], [varied, counts])
    comm.Alltoall(MPI.IN_PLACE, in_place)
    want = expected(size, rank, length, salt)
    return all(np.array_equal(got, want) for got in (alike, varied, in_place))


def work(comm: MPI.Intracomm, salt: int, wrong: list[int]) -> None:
    for _ in range(REPEATS):
        wrong += [length for length in LENGTHS if not exchange(comm, length, salt)]


def main() -> int:
    world = MPI.COMM_WORLD
    if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
        print("no MPI_THREAD_MULTIPLE")
        return 0
    comms = [world.Dup() for _ in range(THREADS)]
    wrong: list[int] = []
    workers = [threading.Thread(target=work, args=(comm, i, wrong)) for i, comm in enumerate(comms)]
    for i in range(THREADS):
        workers[(i + world.rank) % THREADS].start()
    for worker in workers:
        worker.join()
    comms[0].Free()  # the others end with MPI
    print(f"{len(wrong)} wrong exchanges on rank {world.rank}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
