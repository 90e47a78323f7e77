"""A user's own command on the emulated cluster: what its launcher must be told, found by the launcher's path."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from wherry.compare.launching import Started
from wherry.errors import UsageError
from wherry.netlab import Cluster, why_not_on_cluster
from wherry.run.launch import Launcher
from wherry.run.mpis import Mpi, find_mpis

_COUNTS = ("-n", "-np", "--n", "--np", "-c")


def ranks_of(command: Sequence[str], launcher: Launcher) -> int:
    """The number of ranks that the command asks for. Raises UsageError if it cannot be told."""
    words = command[launcher.index + 1 :]
    for option, value in pairwise(words):
        if option in _COUNTS and value.isdigit() and int(value) > 0:
            return int(value)
    raise UsageError("--netlab spreads the ranks over hosts and must know how many: write `mpiexec -n NUMBER ...`")


def mpi_of(launcher: Launcher | None) -> Mpi:
    """The installation whose launcher it is. Raises UsageError if there is none, or it cannot run there."""
    if launcher is None:
        raise UsageError("--netlab needs a launcher to spread the ranks over hosts: write `mpiexec -n NUMBER ...`")
    path = Path(launcher.path).resolve()
    found = [mpi for mpi in find_mpis() if Path(mpi.mpiexec[0]).resolve() == path]
    if not found:
        known = ", ".join(mpi.mpiexec[0] for mpi in find_mpis())
        raise UsageError(f"--netlab does not know how {launcher.path} is told about hosts; use one of {known}")
    if (reason := why_not_on_cluster(found[0])) is not None:
        raise UsageError(reason)
    return found[0]


def on_cluster(started: Started, cluster: Cluster) -> Started:
    """The same command, its ranks spread evenly over the hosts."""
    mpi = mpi_of(started.launcher)
    assert started.launcher is not None
    at = started.launcher.index + 1
    options = cluster.options(mpi, ranks_of(started.command, started.launcher))
    command = [*started.command[:at], *options, *started.command[at:]]
    return Started(command, started.launcher, {**started.variables, **cluster.environment(mpi)})
