"""MPICH's selection file: a tree of conditions as JSON, with an algorithm at each leaf.

A file replaces the selection that is built into the library, so it must answer for every collective: it is the
built-in one with new branches. Sizes are compared with `<=` only: MPICH 4 and 5 take `comm_size<N` for `<=` too.
"""

from __future__ import annotations

import copy
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wherry.errors import WherryError
from wherry.export.selection import WITHOUT_SIZES, Range, Rules
from wherry.tune.algorithms import Algorithm
from wherry.tune.results import Results

Tree = dict[str, Any]

#: (condition that leaves the choice to the library, condition of a new branch): what the algorithms take for granted.
_REQUIREMENTS: dict[str, tuple[tuple[str, str], ...]] = {
    "alltoall": (("is_sendbuf_inplace=yes", "is_sendbuf_inplace=no"),),
    "alltoallv": (("is_sendbuf_inplace=yes", "is_sendbuf_inplace=no"),),
    "alltoallw": (("is_sendbuf_inplace=yes", "is_sendbuf_inplace=no"),),
    "allreduce": (
        ("is_commutative=no", "is_commutative=yes"),
        ("is_op_built_in=no", "is_op_built_in=yes"),
        ("count<pow2", "count=any"),
    ),
    "reduce": (
        ("is_commutative=no", "is_commutative=yes"),
        ("is_op_built_in=no", "is_op_built_in=yes"),
        ("count<pow2", "count=any"),
    ),
    "reduce_scatter": (
        ("is_commutative=no", "is_commutative=yes"),
        ("is_block_regular=no", "is_block_regular=yes"),
    ),
    "reduce_scatter_block": (("is_commutative=no", "is_commutative=yes"),),
}
#: What the sizes of an operation are called; a total is that of the blocks of all ranks.
_SIZES = {
    "alltoall": "avg_msg_size",
    "allreduce": "avg_msg_size",
    "bcast": "avg_msg_size",
    "reduce": "avg_msg_size",
    "allgather": "total_msg_size",
    "allgatherv": "total_msg_size",
    "reduce_scatter": "total_msg_size",
    "reduce_scatter_block": "total_msg_size",
}
_MOST_BYTES = 2**31 - 1  # sizes are ints in MPICH


def text(results: Results, rules: Sequence[Rules]) -> str:
    return json.dumps(tree(results.selection or {}, rules), indent=1) + "\n"


def forcing(built_in: Tree, operation: str, algorithm: Algorithm | None) -> str:
    """A file that selects one algorithm for an operation wherever that is possible; None: the native choice."""
    selection = copy.deepcopy(built_in)
    if algorithm is not None:
        own = _own(selection, operation)
        selection[f"collective={operation}"]["comm_type=intra"] = _required(operation, own, _leaf(algorithm))
    return json.dumps(selection, indent=1) + "\n"


def variables(operations: Sequence[str], file: Path) -> dict[str, str]:
    """What must be set for the file to be read, and for the operations to reach it: not all of them do by default."""
    devices = {f"MPIR_CVAR_{name.upper()}_DEVICE_COLLECTIVE": "0" for name in dict.fromkeys(operations)}
    return {
        "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": str(file),
        "MPIR_CVAR_DEVICE_COLLECTIVES": "percoll",
        **devices,
    }


def tree(built_in: Tree, rules: Sequence[Rules]) -> Tree:
    selection = copy.deepcopy(built_in)
    by_operation: dict[str, dict[int, tuple[Range, ...]]] = defaultdict(dict)
    for row in rules:
        by_operation[row.operation][row.ranks] = row.ranges
    for operation, by_ranks in by_operation.items():
        own = _own(selection, operation)
        chosen = _by_ranks(operation, own, by_ranks)
        selection[f"collective={operation}"]["comm_type=intra"] = _required(operation, own, chosen)
    return selection


def _own(selection: Tree, operation: str) -> Tree:
    try:
        own: Tree = selection[f"collective={operation}"]["comm_type=intra"]
    except (KeyError, TypeError) as error:
        raise WherryError(f"this MPICH's own selection has no branch for {operation}; leave it out") from error
    return own


def _leaf(algorithm: Algorithm) -> Tree:
    return {f"algorithm={algorithm.id}": {}}


def _required(operation: str, own: Tree, chosen: Tree) -> Tree:
    for exempt, required in reversed(_REQUIREMENTS.get(operation, ())):
        chosen = {exempt: own, required: chosen}
    return chosen


def _by_ranks(operation: str, own: Tree, by_ranks: Mapping[int, tuple[Range, ...]]) -> Tree:
    branches: Tree = {}
    for ranks, parts in sorted(by_ranks.items()):
        branches.setdefault(f"comm_size<={ranks - 1}", own)
        branches[f"comm_size<={ranks}"] = _by_size(operation, ranks, own, parts)
    return {**branches, "comm_size=any": own}


def _by_size(operation: str, ranks: int, own: Tree, parts: Sequence[Range]) -> Tree:
    if operation in WITHOUT_SIZES:
        return _leaf(parts[0].algorithm)
    name = _SIZES[operation]
    factor = ranks if name == "total_msg_size" else 1
    branches: Tree = {}
    for part in parts:
        if part.first > 0:
            branches.setdefault(f"{name}<={min(part.first * factor - 1, _MOST_BYTES)}", own)
        branches[f"{name}<={min((part.last + 1) * factor - 1, _MOST_BYTES)}"] = _leaf(part.algorithm)
    return {**branches, f"{name}=any": own}
