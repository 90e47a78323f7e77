"""Python: particles move in a ring of cells; those that leave a rank's cells are sent to whoever owns them now.

mpiexec -n 4 python migrate.py
"""

from __future__ import annotations

import sys

import numpy as np
from mpi4py import MPI

import wherry

comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()
random = np.random.default_rng(rank)
particle = np.dtype([("x", "f8"), ("speed", "f8"), ("id", "i8")])

# Rank r owns x in [r, r + 1); the ends of the line meet.
mine = np.zeros(200, particle)
mine["x"] = rank + random.random(200)
mine["speed"] = random.normal(0, 0.3, 200)
mine["id"] = 200 * rank + np.arange(200)

moved = 0
for _ in range(20):
    mine["x"] = (mine["x"] + mine["speed"]) % ranks
    owner = np.minimum(mine["x"].astype(int), ranks - 1)
    leaving = [(int(to), mine[owner == to]) for to in np.unique(owner[owner != rank])]
    coming = [particles for _, particles in wherry.sparse_exchange(leaving, comm, dtype=particle)]
    moved += sum(len(particles) for particles in coming)
    mine = np.concatenate([mine[owner == rank], *coming])

ids = comm.allreduce(int(mine["id"].sum()), MPI.SUM)
total = 200 * ranks
right = ids == total * (total - 1) // 2 and comm.allreduce(len(mine), MPI.SUM) == total
at_home = comm.allreduce(bool(np.all(np.minimum(mine["x"].astype(int), ranks - 1) == rank)), MPI.LAND)
moved = comm.allreduce(moved, MPI.SUM)
if rank == 0:
    verdict = "right" if right and at_home else "WRONG"
    print(f"migrate: {verdict}, {moved} particles moved, last by {wherry.last_strategy()}")
sys.exit(0 if right and at_home else 1)
