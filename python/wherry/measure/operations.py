"""The collectives that Wherry performs, as the command line names them: the one table for `wherry tune` and `export`.

Those of neighborhoods are not among them: what is learned about them is of one graph, which nobody knows ahead.

src/base/collective.hpp has them in C++; bench/operations.hpp calls them.
"""

from __future__ import annotations

from collections.abc import Sequence

from wherry.errors import unknown

OPERATIONS = (
    "alltoall",
    "alltoallv",
    "alltoallw",
    "allgather",
    "allgatherv",
    "bcast",
    "gather",
    "scatter",
    "reduce",
    "allreduce",
    "reduce_scatter",
    "reduce_scatter_block",
    "barrier",
)
#: Without data, one size stands for all.
SIZELESS = ("barrier",)


def check_operations(names: Sequence[str]) -> Sequence[str]:
    """The names themselves. Raises UsageError for one that is unknown."""
    for name in names:
        if name not in OPERATIONS:
            raise unknown("operation", name, OPERATIONS)
    return names


def sizes_of(operation: str, sizes: tuple[int, ...]) -> tuple[int, ...]:
    return (0,) if operation in SIZELESS else sizes
