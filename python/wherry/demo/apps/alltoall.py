"""MPI_Alltoall of blocks of a few sizes through mpi4py, each checked.

Run by the Python of an MPI environment under its mpiexec. Rank 0 prints one line of JSON: for each block size the time
of each batch of calls per call (the slowest rank's), and a digest of all that arrived on all ranks.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from typing import Any

import numpy as np
from mpi4py import MPI


def main() -> int:
    options = _options()
    comm = MPI.COMM_WORLD
    seconds, digests = {}, {}
    for size in options.sizes:
        seconds[str(size)], digests[str(size)] = _exchange(comm, size, options.batches, options.calls)
    if comm.rank == 0:
        print(json.dumps({"seconds": seconds, "answer": digests}), flush=True)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[64, 1024, 16384])
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--calls", type=int, default=10)
    return parser.parse_args()


def _exchange(comm: Any, size: int, batches: int, calls: int) -> tuple[list[float], str]:
    send = _blocks(comm.rank, comm.size, size)
    received = np.zeros_like(send)
    times = np.zeros(batches)
    for i in range(batches):
        begin = MPI.Wtime()
        for _ in range(calls):
            comm.Alltoall(send, received)
        times[i] = (MPI.Wtime() - begin) / calls
    slowest = np.empty_like(times)
    comm.Reduce(times, slowest, op=MPI.MAX)
    parts = comm.gather(hashlib.sha256(received.tobytes()).hexdigest())
    whole = hashlib.sha256("".join(parts).encode()).hexdigest() if comm.rank == 0 else ""
    return [float(f"{t:.9f}") for t in slowest], whole


def _blocks(rank: int, ranks: int, size: int) -> Any:
    """Other bytes for each pair of ranks."""
    return np.random.default_rng([4711, rank, size]).integers(0, 256, (ranks, size), dtype=np.uint8)


if __name__ == "__main__":
    sys.exit(main())
