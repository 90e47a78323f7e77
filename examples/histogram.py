"""Python: a histogram of samples that are spread over the ranks, and whose bins are spread over the ranks as well.

Every rank counts its samples in all bins; reduce_scatter_block adds the counts up and leaves each rank its own bins.

mpiexec -n 4 python histogram.py
"""

from __future__ import annotations

import sys

import numpy as np
from mpi4py import MPI

import wherry

comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()
bins_per_rank, samples, steps = 8, 1000, 40

random = np.random.default_rng(rank)
edges = np.linspace(-4, 4, ranks * bins_per_rank + 1)
mine = np.zeros(bins_per_rank, dtype="i8")
taken = 0
for _ in range(steps):
    counts, _ = np.histogram(np.clip(random.normal(size=samples), -4, 4), edges)
    arrived = np.empty_like(mine)
    wherry.reduce_scatter_block(counts.astype("i8"), arrived, "sum", comm)
    mine += arrived
    taken += samples

# Nothing is lost: all ranks' bins together hold all ranks' samples.
whole = np.empty(ranks * bins_per_rank, dtype="i8") if rank == 0 else None
wherry.gather(mine, whole, 0, comm)
total = np.array([taken], dtype="i8")
wherry.allreduce(MPI.IN_PLACE, total, MPI.SUM, comm)
right = np.array([whole is None or int(whole.sum()) == int(total[0])])
wherry.bcast(right, 0, comm)
if rank == 0:
    print(f"histogram: {'right' if right[0] else 'WRONG'}, {total[0]} samples, last by {wherry.last_strategy()}")
sys.exit(0 if right[0] else 1)
