"""All ranks but the last read 16 ranges of the last one's memory, rank 0 first; each prints its window's info."""

import array
import sys

from mpi4py import MPI

RANGES, LENGTH = 16, 16

world = MPI.COMM_WORLD
rank, last = world.rank, world.size - 1


def read(window: MPI.Win) -> None:
    into = array.array("i", [-1] * LENGTH)
    for at in range(RANGES):
        window.Get([into, MPI.INT], last, at * LENGTH)
        window.Flush(last)
        assert into == array.array("i", range(at * LENGTH, (at + 1) * LENGTH))


mine = array.array("i", range(RANGES * LENGTH))
window = MPI.Win.Create(mine, 4, MPI.INFO_NULL, world)
window.Lock_all()
if rank == 0:
    read(window)
world.Barrier()
if 0 < rank < last:
    read(window)
window.Unlock_all()
info = window.Get_info()
words = [f"rank {rank}", *(f"{key}={info[key]}" for key in info if key.startswith("wherry_cache"))]
# One write: the pieces of a print would mix with other ranks' where output is not buffered.
sys.stdout.write(" ".join(words) + "\n")
sys.stdout.flush()
window.Free()
