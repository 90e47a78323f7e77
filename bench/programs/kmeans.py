"""k-means by Lloyd's iteration: sums and counts of the clusters by allreduce, the centres everywhere.

    mpiexec -n 2 python kmeans.py [--points 20000] [--clusters 32] [--iterations 60]

Points are per rank. Prints "loop SECONDS" and "inertia NUMBER".
"""

import argparse

import numpy as np
from mpi4py import MPI

DIMENSIONS = 16


def assign(points: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, float]:
    """The nearest centre of each point, and the sum of squared distances."""
    distances = (points**2).sum(axis=1)[:, None] - 2 * points @ centres.T + (centres**2).sum(axis=1)
    nearest = distances.argmin(axis=1)
    return nearest, float(distances[np.arange(len(points)), nearest].sum())


def sums(points: np.ndarray, nearest: np.ndarray, clusters: int) -> np.ndarray:
    """A row for each cluster: the sum of its points, and their number."""
    found = np.zeros((clusters, DIMENSIONS + 1))
    for axis in range(DIMENSIONS):
        found[:, axis] = np.bincount(nearest, weights=points[:, axis], minlength=clusters)
    found[:, -1] = np.bincount(nearest, minlength=clusters)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, default=20000)
    parser.add_argument("--clusters", type=int, default=32)
    parser.add_argument("--iterations", type=int, default=60)
    options = parser.parse_args()
    comm = MPI.COMM_WORLD
    points = np.random.default_rng(50 + comm.rank).standard_normal((options.points, DIMENSIONS))
    centres = np.random.default_rng(5).standard_normal((options.clusters, DIMENSIONS))
    inertia = 0.0
    begin = MPI.Wtime()
    for _ in range(options.iterations):
        nearest, inertia = assign(points, centres)
        total = np.empty((options.clusters, DIMENSIONS + 1))
        comm.Allreduce(sums(points, nearest, options.clusters), total)
        centres = total[:, :-1] / np.maximum(total[:, -1:], 1)
    seconds = comm.allreduce(MPI.Wtime() - begin, MPI.MAX)
    inertia = comm.allreduce(inertia)
    if comm.rank == 0:
        print(f"loop {seconds:.6f}\ninertia {inertia:.8g}")


if __name__ == "__main__":
    main()
