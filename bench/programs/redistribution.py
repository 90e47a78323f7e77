"""The redistributions of mpi4py-fft alone: from slabs of one axis to slabs of another and back.

They are calls of MPI_Alltoallw with subarrays.

    wherry compare --time '"total": ([0-9.e-]+)' --answer '"sum": (\\S+)}' -n 10 -- \\
        mpiexec -n 2 python bench/programs/redistribution.py --points 64 --repeat 300

Rank 0 prints one line of JSON: the time of all round trips but the first tenth (the slowest rank's), in which Wherry
learns, and the sum of what came there. A round trip that does not return the field ends the program with code 1.
"""

from __future__ import annotations

import argparse
import json
import sys

import numpy as np
from mpi4py import MPI
from mpi4py_fft.pencil import Pencil, Subcomm


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=64)
    parser.add_argument("--repeat", type=int, default=300)
    options = parser.parse_args()
    comm = MPI.COMM_WORLD
    there = Pencil(Subcomm(comm, [0, 1, 1]), [options.points] * 3, axis=1)
    here = there.pencil(0)
    transfer = there.transfer(here, complex)
    field, moved, back = (np.zeros(shape, complex) for shape in (there.subshape, here.subshape, there.subshape))
    field[:] = np.arange(field.size).reshape(field.shape) + 1j * comm.rank
    begin = 0.0
    for i in range(options.repeat):
        if i == options.repeat // 10:
            comm.Barrier()
            begin = MPI.Wtime()
        transfer.forward(field, moved)
        transfer.backward(moved, back)
    total = comm.allreduce(MPI.Wtime() - begin, op=MPI.MAX)
    right = comm.allreduce(bool(np.array_equal(field, back)), op=MPI.LAND)
    checksum = comm.allreduce(float(np.abs(moved).sum()))
    if comm.rank == 0:
        print(json.dumps({"total": total, "sum": checksum}), flush=True)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
