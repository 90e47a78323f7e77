"""Reads through a cached window, and one that is not, from mpi4py; each rank prints what their info says, in JSON."""

import array
import json
import sys

from mpi4py import MPI

READS = 5

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
following = (rank + 1) % size


def read(window: MPI.Win, count: int) -> array.array:
    into = array.array("i", [-1] * count)
    window.Get([into, MPI.INT], following)
    window.Flush(following)
    return into


def told(window: MPI.Win) -> dict[str, str]:
    info = window.Get_info()
    return {key: info[key] for key in info if key.startswith("wherry_cache")}


mine = array.array("i", range(100 * rank, 100 * rank + 16))
window = MPI.Win.Create(mine, 4, MPI.Info.Create({"wherry_cache": "user", "wherry_cache_bypass": "0"}), world)
window.Lock_all()
read(window, 8)
for _ in range(READS - 1):
    assert read(window, 16)[:8] == array.array("i", range(100 * following, 100 * following + 8))
window.Unlock_all()
cached = told(window)
window.Free()

shared = MPI.Win.Allocate_shared(16, 4, MPI.INFO_NULL, world)
shared.Lock_all()
read(shared, 4)
shared.Unlock_all()
uncached = told(shared)
shared.Free()

# Nothing but unlocks completes these.
locked = MPI.Win.Create(mine, 4, MPI.Info.Create({"wherry_cache": "user", "wherry_cache_bypass": "0"}), world)
for _ in range(READS):
    locked.Lock_all()
    locked.Get([array.array("i", [0]), MPI.INT], following)
    locked.Unlock_all()
saved_s = told(locked)["wherry_cache_seconds_saved"]
locked.Free()

# What a window tells of itself may be given to another, and back; values that mean nothing there make it forget.
again = MPI.Win.Create(mine, 4, MPI.Info.Create({**cached, "wherry_cache_bypass": "0"}), world)
again.Lock_all()
read(again, 8)
for value in ("user", "Invalidate", "off"):
    again.Set_info(MPI.Info.Create({"wherry_cache": value}))
    read(again, 8)
again.Unlock_all()
obeyed = {key: told(again)[f"wherry_cache_{key}"] for key in ("hits", "misses")}
again.Free()

other_key = MPI.Win.Create(mine, 4, MPI.Info.Create({"wherry_cache": "usr"}), world)
unknown = told(other_key)
other_key.Free()

# One write: the pieces of a print would mix with the other rank's where output is not buffered.
sys.stdout.write(
    json.dumps({"cached": cached, "shared": uncached, "unknown_key": unknown, "saved_s": saved_s, "obeyed": obeyed})
    + "\n"
)
sys.stdout.flush()
