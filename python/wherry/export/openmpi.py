"""Open MPI's dynamic rules: the text that every version reads, and the JSON that Open MPI 6 introduces.

Both count bytes as the component `tuned` does, which is not a block: see _TOTAL. A rule holds for its exact number of
ranks only; elsewhere algorithm 0 leaves the decision to the component.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wherry.export.selection import WITHOUT_SIZES, Range, Rules
from wherry.tune.algorithms import OPENMPI_RULES_ON
from wherry.tune.results import Results

#: Number of the collective in the text. The JSON has names, and they are ours: Open MPI's schema spells reduce_scatter
#: differently, but its reader (mca_coll_base_name_to_colltype) takes the file only as here.
_NUMBERS = {
    "allgather": 0,
    "allgatherv": 1,
    "allreduce": 2,
    "alltoall": 3,
    "alltoallv": 4,
    "alltoallw": 5,
    "barrier": 6,
    "bcast": 7,
    "gather": 9,
    "reduce": 11,
    "reduce_scatter": 12,
    "reduce_scatter_block": 13,
    "scatter": 15,
}
#: The message size is that of the blocks of all ranks together. Of allgatherv it is their mean, not as the manual says.
_TOTAL = ("alltoall", "allgather", "reduce_scatter", "reduce_scatter_block")
_JSON_VERSION = 3


def text(results: Results, rules: Sequence[Rules]) -> str:
    """The classic format."""
    lines = [f"# Fastest algorithms of Open MPI, {results.provenance()}"]
    lines += [f"{len(_by_operation(rules))}  # collectives"]
    for operation, by_ranks in _by_operation(rules).items():
        steps = _steps_by_ranks(operation, by_ranks)
        lines += [f"{_NUMBERS[operation]}  # {operation}", f"{len(steps)}  # communicator sizes"]
        for ranks, sizes in steps:
            lines += [f"{ranks}  # ranks and more", f"{len(sizes)}  # message sizes"]
            lines += [f"{first} {algorithm} 0 0" for first, algorithm in sizes]
    return "\n".join(lines) + "\n"


def as_json(results: Results, rules: Sequence[Rules]) -> str:
    """Rule file version 3. The format allows no comments and no further fields, so the provenance is not in it."""
    collectives = {
        operation: [
            {"comm_size_min": ranks, "comm_size_max": ranks, "rules": [_rule(operation, ranks, r) for r in ranges]}
            for ranks, ranges in by_ranks.items()
        ]
        for operation, by_ranks in _by_operation(rules).items()
    }
    document = {"rule_file_version": _JSON_VERSION, "module": "tuned", "collectives": collectives}
    return json.dumps(document, indent=1) + "\n"


def variables(file: Path) -> dict[str, str]:
    """What must be set for the file to be read."""
    return {**OPENMPI_RULES_ON, "OMPI_MCA_coll_tuned_dynamic_rules_filename": str(file)}


def _by_operation(rules: Sequence[Rules]) -> dict[str, dict[int, tuple[Range, ...]]]:
    found: dict[str, dict[int, tuple[Range, ...]]] = defaultdict(dict)
    for row in rules:
        found[row.operation][row.ranks] = row.ranges
    return found


def _message_sizes(operation: str, ranks: int, part: Range) -> tuple[int, int]:
    factor = ranks if operation in _TOTAL else 1
    return part.first * factor, (part.last + 1) * factor - 1


def _rule(operation: str, ranks: int, part: Range) -> dict[str, Any]:
    rule: dict[str, Any] = {"alg": int(part.algorithm.id)}
    if operation not in WITHOUT_SIZES:
        rule["msg_size_min"], rule["msg_size_max"] = _message_sizes(operation, ranks, part)
    return rule


Steps = list[tuple[int, int]]  # from this size on, this algorithm


def _steps_by_ranks(operation: str, by_ranks: Mapping[int, tuple[Range, ...]]) -> list[tuple[int, Steps]]:
    """Each row holds from its number of ranks to the next row's: a row of zeros ends those without a neighbor."""
    zeros: Steps = [(0, 0)]
    table: dict[int, Steps] = {0: zeros}
    for ranks, parts in sorted(by_ranks.items()):
        table[ranks] = _steps(operation, ranks, parts)
        table[ranks + 1] = zeros
    return sorted(table.items())


def _steps(operation: str, ranks: int, parts: Sequence[Range]) -> Steps:
    """The same for message sizes, which must begin with 0."""
    if operation in WITHOUT_SIZES:
        return [(0, int(part.algorithm.id)) for part in parts]
    steps = {0: 0}
    for part in parts:
        first, last = _message_sizes(operation, ranks, part)
        steps[first] = int(part.algorithm.id)
        steps[last + 1] = 0
    return sorted(steps.items())
