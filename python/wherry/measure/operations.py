"""The collectives that `wherry tune` measures and `wherry export` writes rules for, as the command line names them.

src/base/collective.hpp has them in C++; bench/operations.hpp calls them.
"""

from __future__ import annotations

from collections.abc import Sequence

from wherry.collective_names import OPERATIONS
from wherry.errors import unknown

#: Without data, one size stands for all.
SIZELESS = ("barrier",)
#: Their buffers have no blocks.
WHOLE_BUFFERS = ("bcast", "reduce", "allreduce")
_CACHE_LINE = 64


def check_operations(names: Sequence[str]) -> Sequence[str]:
    """The names themselves. Raises UsageError for one that is unknown."""
    for name in names:
        if name not in OPERATIONS:
            raise unknown("operation", name, OPERATIONS)
    return names


def sizes_of(operation: str, sizes: tuple[int, ...]) -> tuple[int, ...]:
    return (0,) if operation in SIZELESS else sizes


def learned_sizes(operation: str, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """One of each size class, the last: what is learned of one holds for the others."""
    return tuple({_size_class(operation, size): size for size in sizes_of(operation, sizes)}.values())


def _size_class(operation: str, size: int) -> int:
    """As src/tuning/candidates.hpp has it."""
    least = _CACHE_LINE if operation in WHOLE_BUFFERS and size > 0 else size
    return (max(size, least, 1) - 1).bit_length()
