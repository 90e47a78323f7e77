"""The collectives that `wherry tune` measures and `wherry export` writes rules for, as the command line names them.

src/base/collective.hpp has them in C++; bench/operations.hpp calls them.
"""

from __future__ import annotations

from collections.abc import Sequence

from wherry.collective_names import OPERATIONS
from wherry.errors import unknown

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
