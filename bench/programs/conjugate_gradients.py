"""Conjugate gradients for Poisson's equation on a square grid: two dot products by allreduce in every iteration.

    mpiexec -n 2 python conjugate_gradients.py [--points 256] [--iterations 400]

Rows of the grid are dealt out in slabs. Prints "loop SECONDS" and "residual NUMBER".
"""

import numpy as np
from mpi4py import MPI
from slab import neighbors, options


class Slab:
    """This rank's rows of the grid, and the products that need other ranks."""

    def __init__(self, comm: MPI.Intracomm, points: int) -> None:
        self.comm = comm
        self.rows = points // comm.size + (comm.rank < points % comm.size)
        self._padded = np.zeros((self.rows + 2, points + 2))
        self._up, self._down = neighbors(comm)
        self._sum = np.zeros(1)

    def laplace(self, x: np.ndarray) -> np.ndarray:
        """Five points, zero outside of the square."""
        p = self._padded
        p[1:-1, 1:-1] = x
        self.comm.Sendrecv(p[-2], self._down, recvbuf=p[0], source=self._up)
        self.comm.Sendrecv(p[1], self._up, recvbuf=p[-1], source=self._down)
        return 4 * x - p[:-2, 1:-1] - p[2:, 1:-1] - p[1:-1, :-2] - p[1:-1, 2:]

    def dot(self, x: np.ndarray, y: np.ndarray) -> float:
        self.comm.Allreduce(np.array([np.vdot(x, y)]), self._sum)
        return float(self._sum[0])


def solve(slab: Slab, b: np.ndarray, iterations: int) -> float:
    """The norm of the residual after so many iterations."""
    x, r = np.zeros_like(b), b.copy()
    p, square = r.copy(), slab.dot(r, r)
    for _ in range(iterations):
        q = slab.laplace(p)
        alpha = square / slab.dot(p, q)
        x += alpha * p
        r -= alpha * q
        before, square = square, slab.dot(r, r)
        p = r + square / before * p
    return float(np.sqrt(square))


def main() -> None:
    given = options(points=256, iterations=400)
    comm = MPI.COMM_WORLD
    slab = Slab(comm, given.points)
    b = np.random.default_rng(comm.rank).standard_normal((slab.rows, given.points))
    begin = MPI.Wtime()
    residual = solve(slab, b, given.iterations)
    seconds = comm.allreduce(MPI.Wtime() - begin, MPI.MAX)
    if comm.rank == 0:
        print(f"loop {seconds:.6f}\nresidual {residual:.3e}")


if __name__ == "__main__":
    main()
