"""Python: a field spread by rows becomes one spread by columns; subarray types say where the blocks are.

mpiexec -n 4 python redistribute.py
"""

from __future__ import annotations

import sys

import numpy as np
from mpi4py import MPI

import wherry

comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()
rows, columns = 3, 2  # of the block that each rank sends to each other

# Rank r has rows r * rows ... of a field whose elements are numbered.
width = ranks * columns
field = np.arange(ranks * rows * width, dtype="f8").reshape(ranks * rows, width)
by_rows = field[rank * rows : (rank + 1) * rows].copy()
by_columns = np.empty((ranks * rows, columns))


def block(shape: tuple[int, ...], start: tuple[int, int]) -> MPI.Datatype:
    return MPI.DOUBLE.Create_subarray(list(shape), [rows, columns], list(start)).Commit()


out = [block(by_rows.shape, (0, r * columns)) for r in range(ranks)]
into = [block(by_columns.shape, (r * rows, 0)) for r in range(ranks)]

for _ in range(20):
    wherry.alltoallw(by_rows, out, by_columns, into, comm)

for datatype in out + into:
    datatype.Free()
right = comm.allreduce(np.array_equal(by_columns, field[:, rank * columns : (rank + 1) * columns]), MPI.LAND)
if rank == 0:
    print(f"redistribute: {'right' if right else 'WRONG'}, last by {wherry.last_strategy()}")
sys.exit(0 if right else 1)
