"""The WHERRY_ variables as src/base/settings.cpp reads them; a test holds the two lists together."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from wherry import paths, plan
from wherry.errors import unknown

#: Name, default and meaning.
VARIABLES: dict[str, tuple[str, str]] = {
    "WHERRY_DISABLE": ("0", "1: Wherry does nothing at all"),
    "WHERRY_NO_PROFILE": ("0", "1: record no calls, sizes or times"),
    "WHERRY_NO_COLLECTIVES": ("0", "1: leave every collective to the MPI library"),
    "WHERRY_NONBLOCKING": ("0", "1: perform non-blocking collectives too"),
    "WHERRY_NO_LEARNING": ("0", "1: follow the cost model and the tuning file, try nothing out"),
    "WHERRY_NO_TUNING": ("0", "1: neither read nor write the tuning file"),
    "WHERRY_OUTPUT": ("", "directory for the record of each rank; `wherry run` sets it"),
    "WHERRY_TUNING_FILE": ("", "what was learned; default wherry/tuning in the user's cache directory"),
    "WHERRY_STAGING_MAX": ("256M", "most bytes of staging per collective, with K, M or G"),
    "WHERRY_ALLTOALL": ("auto", "strategy for MPI_Alltoall: a name, native or auto"),
    "WHERRY_ALLTOALLV": ("auto", "strategy for MPI_Alltoallv"),
    "WHERRY_ALLTOALLW": ("auto", "strategy for MPI_Alltoallw"),
    "WHERRY_ALLGATHER": ("auto", "strategy for MPI_Allgather"),
    "WHERRY_ALLGATHERV": ("auto", "strategy for MPI_Allgatherv"),
    "WHERRY_BCAST": ("auto", "strategy for MPI_Bcast"),
    "WHERRY_GATHER": ("auto", "strategy for MPI_Gather"),
    "WHERRY_SCATTER": ("auto", "strategy for MPI_Scatter"),
    "WHERRY_REDUCE": ("auto", "strategy for MPI_Reduce"),
    "WHERRY_ALLREDUCE": ("auto", "strategy for MPI_Allreduce"),
    "WHERRY_REDUCE_SCATTER_BLOCK": ("auto", "strategy for MPI_Reduce_scatter_block"),
    "WHERRY_REDUCE_SCATTER": ("auto", "strategy for MPI_Reduce_scatter"),
    "WHERRY_BARRIER": ("auto", "strategy for MPI_Barrier"),
    "WHERRY_SPARSE_EXCHANGE": ("auto", "how sparse exchanges run: nbx, census, a strategy, native or auto"),
    "WHERRY_REPRODUCIBLE": ("0", "1: leave reductions to the library whose result depends on the order"),
    "WHERRY_RANKS_PER_NODE": ("0", "assume nodes of so many consecutive ranks; 0: ask MPI"),
    "WHERRY_VERBOSE": ("0", "0: quiet; 1: say what was found; 2: say every decision"),
}


#: The variables that name a strategy, and the operations that they name it for.
_STRATEGIES = {
    name: name.removeprefix("WHERRY_").lower()
    for name, (_, meaning) in VARIABLES.items()
    if meaning.startswith("strategy for MPI_")
}
_NO_STRATEGY = ("auto", "native")
_ON = ("1", "yes", "true", "on")


@dataclass(frozen=True)
class Setting:
    name: str
    value: str
    source: str  # "environment" or "default"
    meaning: str


def settings(environment: Mapping[str, str] | None = None) -> list[Setting]:
    """Every variable with its value and where that came from. Set to nothing counts as not set."""
    given = os.environ if environment is None else environment
    found = []
    for name, (default, meaning) in VARIABLES.items():
        value = given.get(name, "")
        fallback = str(paths.tuning_file() or "") if name == "WHERRY_TUNING_FILE" else default
        found.append(Setting(name, value or fallback, "environment" if value else "default", meaning))
    return found


def is_on(value: str) -> bool:
    """Whether a switch with this value is on, as the runtime understands it."""
    return value in _ON


def problems(environment: Mapping[str, str] | None = None) -> list[str]:
    """What is set and has no effect: variables that look like Wherry's, and strategies that there are not."""
    given = os.environ if environment is None else environment
    wrong = [name for name in given if name.startswith("WHERRY_") and name not in VARIABLES]
    return [_unknown("variable", name, VARIABLES) for name in sorted(wrong)] + _unknown_strategies(given)


def _unknown_strategies(given: Mapping[str, str]) -> list[str]:
    asked = {name: value for name in _STRATEGIES if (value := given.get(name, "")) not in ("", *_NO_STRATEGY)}
    if not asked or not paths.plan_program().exists():
        return []
    names = plan.names_by_operation()
    return [
        f"{name}: {_unknown('strategy', value, known)}; the library's own collective runs instead"
        for name, value in asked.items()
        if value not in (known := [*_NO_STRATEGY, *names.get(_STRATEGIES[name], [])])
    ]


def _unknown(what: str, name: str, known: Collection[str]) -> str:
    """The nearest name, without the list of all."""
    return f"{unknown(what, name, known)}".replace(f" (have: {', '.join(known)})", "")
