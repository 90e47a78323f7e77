"""The WHERRY_ variables as src/base/settings.cpp reads them; a test holds the two lists together."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from wherry import paths
from wherry.collective_names import NEIGHBORHOODS, OPERATIONS
from wherry.errors import did_you_mean, unknown

#: How a sparse exchange can run, besides by a strategy of all-to-alls.
SPARSE_ALGORITHMS = ("auto", "nbx", "census", "native")


@dataclass(frozen=True)
class Names:
    """What a variable takes that says how something runs: the strategies of an operation, and words of its own."""

    operation: str
    besides: tuple[str, ...] = ("auto", "native")


@dataclass(frozen=True)
class Variable:
    default: str
    meaning: str
    names: Names | None = None  # None: it names no strategy
    values: tuple[str, ...] = ()  # that it takes, if these are all


def mpi_name(operation: str) -> str:
    """MPI's name of it: MPI_Alltoall."""
    return f"MPI_{operation.capitalize()}"


def _strategy_for(collective: str) -> Variable:
    return Variable("auto", f"strategy for {mpi_name(collective)}: a name, native or auto", Names(collective))


VARIABLES = {
    "WHERRY_DISABLE": Variable("0", "1: Wherry does nothing at all"),
    "WHERRY_NO_PROFILE": Variable("0", "1: record no calls, sizes or times"),
    "WHERRY_NO_COLLECTIVES": Variable("0", "1: every collective is native"),
    "WHERRY_NONBLOCKING": Variable("0", "1: perform nonblocking and persistent collectives too"),
    "WHERRY_PROGRESS": Variable(
        "calls", "what progresses these: calls (of MPI), or a thread as well", values=("calls", "thread")
    ),
    "WHERRY_NO_LEARNING": Variable("0", "1: follow the cost model and the tuning file, try nothing out"),
    "WHERRY_NO_TRIAL": Variable("0", "1: no native stretches to compare with, and no gain claimed"),
    "WHERRY_NO_TUNING": Variable("0", "1: neither read nor write the tuning file"),
    "WHERRY_OUTPUT": Variable("", "directory for the record of each rank; `wherry run` sets it"),
    "WHERRY_TUNING_FILE": Variable("", "what was learned; default wherry/tuning in the user's cache directory"),
    "WHERRY_STAGING_MAX": Variable("256M", "most bytes of staging per collective, with K, M or G"),
    **{f"WHERRY_{name.upper()}": _strategy_for(name) for name in (*OPERATIONS, *NEIGHBORHOODS)},
    "WHERRY_SPARSE_EXCHANGE": Variable(
        "auto",
        "how sparse exchanges run: nbx, census, a strategy, native or auto",
        Names("alltoall", SPARSE_ALGORITHMS),
    ),
    "WHERRY_CACHE": Variable(
        "transparent",
        "how long windows remember what was read: transparent, always, user or off",
        values=("transparent", "always", "user", "off"),
    ),
    "WHERRY_CACHE_CURVE": Variable(
        "0", "ranges of a cached window that are followed for its miss-ratio curve; 1024 with --report"
    ),
    "WHERRY_CACHE_CEILING": Variable("64M", "most memory of a cached window, with K, M or G"),
    "WHERRY_CACHE_NODE": Variable("0", "memory that the ranks of a node share for a cached window; 0: none"),
    "WHERRY_LAYOUT": Variable(
        "auto",
        "who packs derived datatypes: native (the MPI library), wherry, or auto (whoever is faster)",
        values=("auto", "native", "wherry"),
    ),
    "WHERRY_MEMORY": Variable(
        "auto", "memory that the program frees: auto, keep or leave", values=("auto", "keep", "leave")
    ),
    "WHERRY_REPRODUCIBLE": Variable("0", "1: native reductions wherever the result depends on the order"),
    "WHERRY_WAIT": Variable(
        "auto",
        "how blocking calls wait: spin (in the library), yield (poll, give the core away), or auto",
        values=("auto", "spin", "yield"),
    ),
    "WHERRY_RANKS_PER_NODE": Variable("0", "assume nodes of so many consecutive ranks; 0: ask MPI"),
    "WHERRY_VERBOSE": Variable("0", "0: silent; 1: say what was found; 2: say every decision"),
}

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
    for name, variable in VARIABLES.items():
        value = given.get(name, "")
        fallback = str(paths.tuning_file() or "") if name == "WHERRY_TUNING_FILE" else variable.default
        found.append(Setting(name, value or fallback, "environment" if value else "default", variable.meaning))
    return found


def is_on(value: str) -> bool:
    """Whether a switch with this value is on, as the runtime understands it."""
    return value in _ON


def problems(environment: Mapping[str, str] | None = None) -> list[str]:
    """What is set and has no effect: variables that look like Wherry's, and strategies that there are not."""
    given = os.environ if environment is None else environment
    wrong = [name for name in given if name.startswith("WHERRY_") and name not in VARIABLES]
    variables = [f"unknown variable '{name}'{did_you_mean(name, VARIABLES)}" for name in sorted(wrong)]
    return variables + _unknown_strategies(given)


def unknown_values(environment: Mapping[str, str] | None = None) -> list[str]:
    """Of variables that take a few words only. In a run the library itself says so."""
    given = os.environ if environment is None else environment
    return [
        f"{name}: {variable.default} is used instead of the {unknown('value', value, variable.values)}"
        for name, variable in VARIABLES.items()
        if variable.values and (value := given.get(name, "")) not in ("", *variable.values)
    ]


def _unknown_strategies(given: Mapping[str, str]) -> list[str]:
    asked = {
        name: (value, variable.names)
        for name, variable in VARIABLES.items()
        if variable.names and (value := given.get(name, "")) not in ("", *variable.names.besides)
    }
    if not asked or not paths.plan_program().exists():
        return []
    from wherry.schedule import plan  # here: most runs name no strategy

    strategies = plan.names_by_operation()
    return [
        f"{name}: unknown strategy '{value}', so the native collective runs instead{did_you_mean(value, known)}"
        for name, (value, names) in asked.items()
        if value not in (known := [*names.besides, *strategies.get(names.operation, [])])
    ]
