"""Wherry: measure and reduce the time that an MPI program spends in communication."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wherry.api.collectives import (
        allgather,
        alltoall,
        alltoallv,
        alltoallw,
        barrier,
        bcast,
        gather,
        last_strategy,
        scatter,
    )
    from wherry.api.neighborhood import (
        neighbor_allgather,
        neighbor_allgatherv,
        neighbor_alltoall,
        neighbor_alltoallv,
        neighbor_alltoallw,
    )
    from wherry.api.persistent import Plan
    from wherry.api.reductions import allreduce, reduce, reduce_scatter_block
    from wherry.api.sparse import sparse_exchange

__version__ = "0.1.0"
__all__ = [
    "Plan",
    "allgather",
    "allreduce",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "barrier",
    "bcast",
    "gather",
    "last_strategy",
    "neighbor_allgather",
    "neighbor_allgatherv",
    "neighbor_alltoall",
    "neighbor_alltoallv",
    "neighbor_alltoallw",
    "reduce",
    "reduce_scatter_block",
    "scatter",
    "sparse_exchange",
]


def __getattr__(name: str) -> Any:
    """The collectives load mpi4py, which starts MPI; the command line must not."""
    if name not in __all__:
        raise AttributeError(f"module 'wherry' has no attribute '{name}'")
    from wherry.api import collectives, neighborhood, persistent, reductions, sparse

    modules = (sparse, persistent, reductions, neighborhood, collectives)
    return next(getattr(module, name) for module in modules if hasattr(module, name))
