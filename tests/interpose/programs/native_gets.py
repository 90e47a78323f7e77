"""Gets that no cache serves: of the rank's own memory, by MPI_Rget, and of a window of one rank."""

import array

from mpi4py import MPI

world = MPI.COMM_WORLD
mine, into = array.array("i", range(100)), array.array("i", [-1] * 10)
window = MPI.Win.Create(mine, 4, MPI.Info.Create({"wherry_cache": "user", "wherry_cache_bypass": "0"}), world)
window.Lock_all()
for _ in range(3):
    window.Get([into, MPI.INT], world.rank)
    window.Flush(world.rank)
window.Rget([into, MPI.INT], (world.rank + 1) % world.size).Wait()
window.Get([into, MPI.INT], (world.rank + 1) % world.size)
window.Unlock_all()
assert into == mine[:10]
window.Free()
alone = MPI.Win.Create(mine, 4, MPI.INFO_NULL, MPI.COMM_SELF)
alone.Lock_all()
alone.Get([into, MPI.INT], 0)
alone.Unlock_all()
alone.Free()
