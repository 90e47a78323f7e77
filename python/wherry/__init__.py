"""Wherry: see where an MPI program's communication goes, and get its collectives faster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wherry.collectives import alltoall, alltoallv, alltoallw, last_strategy

__version__ = "0.1.0"
__all__ = ["alltoall", "alltoallv", "alltoallw", "last_strategy"]


def __getattr__(name: str) -> Any:
    """The collectives load mpi4py, which starts MPI; the command line must not."""
    if name not in __all__:
        raise AttributeError(f"module 'wherry' has no attribute '{name}'")
    from wherry import collectives

    return getattr(collectives, name)
