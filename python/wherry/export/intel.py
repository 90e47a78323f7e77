"""Intel MPI's I_MPI_ADJUST variables.

Version 2021.18 differs from its manual: conditions are looked up in order by their upper bounds, the last entry serves
whatever no other does, and as soon as a number of ranks is named (`@8-8`), sizes are ignored. So the sizes are tiled
without gaps, 0 (the library's "basic logic") comes last, and one file serves one number of ranks. Nothing in a list
stands for what the library does without the variable.
"""

from __future__ import annotations

from collections.abc import Sequence

from wherry.errors import UsageError
from wherry.export.selection import WITHOUT_SIZES, Range, Rules
from wherry.tune.results import Results

OWN = "0"


def text(results: Results, rules: Sequence[Rules]) -> str:
    """Lines for a shell. Raises UsageError if the rules are for several numbers of ranks."""
    ranks = sorted({row.ranks for row in rules})
    if len(ranks) > 1:
        have = ", ".join(map(str, ranks))
        raise UsageError(
            f"Intel's settings cannot tell {have} ranks apart; write one file for each, with -n {ranks[-1]}"
        )
    head = [f"# Fastest presets of Intel MPI, {results.provenance()}"]
    head += [f"# For programs on {n} ranks." for n in ranks]
    return "\n".join(head + [f'export {name}="{value}"' for name, value in variables(rules).items()]) + "\n"


def variables(rules: Sequence[Rules]) -> dict[str, str]:
    return {f"I_MPI_ADJUST_{row.operation.upper()}": _value(row) for row in rules}


def _value(rules: Rules) -> str:
    if rules.operation in WITHOUT_SIZES:
        return rules.ranges[0].algorithm.id
    return ";".join([*_tiles(rules.ranges), OWN])


def _tiles(parts: Sequence[Range]) -> list[str]:
    tiles, begin = [], 0
    for part in parts:
        if part.first > begin:
            tiles.append(f"{OWN}:{begin}-{part.first - 1}")
        tiles.append(f"{part.algorithm.id}:{part.first}-{part.last}")
        begin = part.last + 1
    return tiles
