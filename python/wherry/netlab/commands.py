"""A user's own command on the emulated cluster: what its launcher must be told, found by the launcher's path."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from wherry.errors import UsageError
from wherry.netlab.cluster import Cluster
from wherry.netlab.launchers import why_not_on_cluster
from wherry.netlab.system import why_unavailable
from wherry.run.launch import Launcher
from wherry.run.mpis import Mpi, find_mpis

_COUNTS = ("-n", "-np", "--n", "--np", "-c")


def check(command: Sequence[str], launcher: Launcher | None) -> None:
    """Raises UsageError if the command cannot run there."""
    if (reason := why_unavailable()) is not None:
        raise UsageError(f"--netlab: {reason}")
    _mpi_of(launcher)
    assert launcher is not None
    _ranks_of(command, launcher)


def spread(command: Sequence[str], launcher: Launcher | None, cluster: Cluster) -> tuple[list[str], dict[str, str]]:
    """The same command, its ranks spread evenly over the hosts, and what the ranks must be told. It was checked."""
    mpi = _mpi_of(launcher)
    assert launcher is not None
    at = launcher.index + 1
    options = cluster.options(mpi, _ranks_of(command, launcher))
    return [*command[:at], *options, *command[at:]], cluster.environment(mpi)


def _ranks_of(command: Sequence[str], launcher: Launcher) -> int:
    """The number of ranks that the command asks for. Raises UsageError if it cannot be told."""
    words = command[launcher.index + 1 :]
    for option, value in pairwise(words):
        if option in _COUNTS and value.isdigit() and int(value) > 0:
            return int(value)
    raise UsageError("--netlab spreads the ranks over hosts and must know how many: write `mpiexec -n NUMBER ...`")


def _mpi_of(launcher: Launcher | None) -> Mpi:
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
