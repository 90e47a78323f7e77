"""Neighborhood all-to-alls from mpi4py, on a periodic grid and on a graph; each rank prints what arrived.

The ring of the grid has two ranks where the number of ranks is even: both neighbors are the same one then.
"""

import array
import sys

from mpi4py import MPI

ROUNDS = 20

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
arrived = array.array("i")

grid = world.Create_cart(MPI.Compute_dims(size, 2), periods=[True, True])
for turn in range(ROUNDS):
    sent = array.array("i", range(100 * rank + turn, 100 * rank + turn + 8))
    got = array.array("i", [-1] * 8)
    grid.Neighbor_alltoall(sent, got)
    arrived.extend(got)

targets = [(rank + step) % size for step in (1, 1, 0, 3)]
sources = [(rank - step) % size for step in (1, 1, 0, 3)]
graph = world.Create_dist_graph_adjacent(sources, targets)
for turn in range(ROUNDS):
    out, into = [1, 3, 0, 2 + turn % 3], [1, 3, 0, 2 + turn % 3]
    sent = array.array("i", range(100 * rank + turn, 100 * rank + turn + sum(out)))
    got = array.array("i", [-1] * sum(into))
    graph.Neighbor_alltoallv([sent, out], [got, into])
    arrived.extend(got)

sys.stdout.write(f"rank {rank}: {arrived.tolist()}\n")
