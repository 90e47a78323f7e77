"""Two reductions on two lines, one of them in a function; an exchange as a halo has it, and a call without numpy."""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
x, y = np.ones(1000), np.empty(1000)


def energy(values):
    comm.Allreduce(values, y)  # inner
    return y[0]


for _ in range(100):
    energy(x)  # outer
    comm.Allreduce(x, y)  # direct
    comm.Sendrecv(x, (comm.rank + 1) % comm.size, recvbuf=y, source=MPI.ANY_SOURCE)  # halo
requests = [comm.Irecv(y, source=MPI.ANY_SOURCE), comm.Isend(x, (comm.rank + 1) % comm.size)]
MPI.Request.Waitall(requests)  # wait
assert comm.allreduce(1) == comm.size  # pickled
