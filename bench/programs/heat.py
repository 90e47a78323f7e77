"""Explicit heat conduction on a square: a slab of rows for each rank, edge rows exchanged in every step.

    mpiexec -n 2 python heat.py [--rows 640] [--steps 200]

NumPy allocates and frees arrays of the size of a slab in every step, so what the C library does with freed memory
counts. Prints "loop SECONDS" and "energy NUMBER".
"""

import numpy as np
import slab
from mpi4py import MPI

CHECK_EVERY = 20  # steps between two looks at the largest change


def exchange_edges(comm: MPI.Intracomm, field: np.ndarray) -> None:
    """Fills the first and the last row with the neighbors' edges; at the ends they stay."""
    up, down = slab.neighbors(comm)
    comm.Sendrecv(field[-2], down, recvbuf=field[0], source=up)
    comm.Sendrecv(field[1], up, recvbuf=field[-1], source=down)


def step(field: np.ndarray) -> np.ndarray:
    new = field.copy()
    around = field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2]
    new[1:-1, 1:-1] += 0.2 * (around - 4 * field[1:-1, 1:-1])
    return new


def start(comm: MPI.Intracomm, rows: int) -> np.ndarray:
    """A warm block in the middle; the same field for any number of ranks that divides the rows."""
    own = rows // comm.size
    row, column = np.meshgrid(comm.rank * own + np.arange(own), np.arange(rows), indexing="ij")
    warm = (abs(row - rows / 2) < rows / 4) & (abs(column - rows / 2) < rows / 4)
    return np.pad(warm.astype(float), ((1, 1), (0, 0)))


def main() -> None:
    options = slab.options(rows=640, steps=200)
    comm = MPI.COMM_WORLD
    field = start(comm, options.rows)
    begin = MPI.Wtime()
    for number in range(options.steps):
        exchange_edges(comm, field)
        new = step(field)
        if number % CHECK_EVERY == 0:
            comm.allreduce(float(abs(new - field).max()), MPI.MAX)
        field = new
    seconds = comm.allreduce(MPI.Wtime() - begin, MPI.MAX)
    energy = comm.allreduce(float(field[1:-1].sum()))
    if comm.rank == 0:
        print(f"loop {seconds:.6f}\nenergy {energy:.10g}")


if __name__ == "__main__":
    main()
