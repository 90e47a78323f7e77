"""Rows that diffuse: halo rows by Sendrecv, NumPy's temporaries of 0.1 to 2.5 MB in every step.

halo.py [N [STEPS [barrier]]]        prints a line of each rank, as work_arrays.c does
"""

import resource
import sys
import time

import numpy as np
from mpi4py import MPI


def usage() -> tuple[int, int]:
    now = resource.getrusage(resource.RUSAGE_SELF)
    return now.ru_minflt, now.ru_maxrss


n = int(sys.argv[1]) if len(sys.argv) > 1 else 800
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 300
comm = MPI.COMM_WORLD
rows = n // comm.size
above = comm.rank - 1 if comm.rank else MPI.PROC_NULL
below = comm.rank + 1 if comm.rank < comm.size - 1 else MPI.PROC_NULL
u = np.zeros((rows + 2, n))
u[1:-1] = np.random.RandomState(comm.rank).rand(rows, n)
if "barrier" in sys.argv:
    comm.Barrier()
first, half = usage()[0], 0
start = time.perf_counter()
for step in range(steps):
    if step == steps // 2:
        half = usage()[0]
    comm.Sendrecv(u[1], above, recvbuf=u[-1], source=below)
    comm.Sendrecv(u[-2], below, recvbuf=u[0], source=above)
    v = u.copy()
    v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    if step % 10 == 0:
        change = comm.allreduce(float(abs(v - u).max()), MPI.MAX)
    u = v
last, peak = usage()
seconds = time.perf_counter() - start
total = comm.allreduce(float(u[1:-1].sum()))
print(
    f"rank {comm.rank} faults {last - first} later {last - half} peak {peak} sum {total:.12g} seconds {seconds:.4f}",
    flush=True,
)
