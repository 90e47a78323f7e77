"""What of Wherry can be left out on its own: a table. A new lever is a row."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from wherry.run.settings import VARIABLES, is_on


@dataclass(frozen=True)
class Lever:
    name: str
    off: Mapping[str, str]  # the environment that leaves it out
    unless_off: str = ""  # a switch that is off unless the caller sets it: without it there is nothing to leave out
    functions: Collection[str] = ()  # of MPI; a program must call one of them for this to matter
    choices: Collection[str] = ()  # or one of these, where Wherry had a choice: most calls of them have none

    def matters(self, given: Mapping[str, str], called: Collection[str] | None, chosen: Collection[str]) -> bool:
        """given: the caller's settings. called: what the program calls, None if nobody knows. chosen: where there was a
        choice.
        """
        if not self.off.keys() <= VARIABLES.keys() or all(given.get(name) == value for name, value in self.off.items()):
            return False
        if self.unless_off and not is_on(given.get(self.unless_off, "")):
            return False
        if called is None or not self.functions:
            return True
        return any(name in called for name in self.functions) or any(name in chosen for name in self.choices)


def _operations() -> dict[str, str]:
    """The variable of each collective whose algorithm Wherry may choose, by MPI's name of it."""
    return {
        f"MPI_{variable.names.operation.capitalize()}": name
        for name, variable in VARIABLES.items()
        if variable.names and name == f"WHERRY_{variable.names.operation.upper()}"
    }


#: Calls that may move derived types by Wherry's kernels.
_MESSAGES = (
    "MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Bsend", "MPI_Recv", "MPI_Mrecv", "MPI_Sendrecv", "MPI_Sendrecv_replace",
    "MPI_Isend", "MPI_Issend", "MPI_Irsend", "MPI_Ibsend", "MPI_Irecv", "MPI_Imrecv", "MPI_Start", "MPI_Startall",
    "MPI_Neighbor_alltoallw", "MPI_Ineighbor_alltoallw",
)  # fmt: skip
OPERATIONS = tuple(
    Lever(function, {variable: "native"}, functions=(function,)) for function, variable in _operations().items()
)
ALGORITHMS = Lever("all algorithms", dict.fromkeys(_operations().values(), "native"))
LEVERS: Sequence[Lever] = (
    Lever("profiling", {"WHERRY_NO_PROFILE": "1"}),
    Lever("collectives", {"WHERRY_NO_COLLECTIVES": "1"}),
    ALGORITHMS,
    *OPERATIONS,
    Lever("nonblocking", {"WHERRY_NONBLOCKING": "0"}, unless_off="WHERRY_NONBLOCKING"),
    Lever(
        "cache", {"WHERRY_CACHE": "off"}, functions=("MPI_Get", "MPI_Rget", "MPI_Get_accumulate", "MPI_Fetch_and_op")
    ),
    Lever("waiting", {"WHERRY_WAIT": "spin"}),
    Lever(
        "layout",
        {"WHERRY_LAYOUT": "native"},
        functions=("MPI_Pack", "MPI_Unpack", "MPI_Alltoallw"),
        choices=_MESSAGES,
    ),
    Lever("memory", {"WHERRY_MEMORY": "leave"}),
)


def levers(
    given: Mapping[str, str], called: Collection[str] | None, chosen: Collection[str] = frozenset()
) -> list[Lever]:
    """The levers of this build that could matter for a program; all algorithms only where there are several."""
    found = [lever for lever in LEVERS if lever.matters(given, called, chosen)]
    several = sum(lever in OPERATIONS for lever in found) > 1
    return [lever for lever in found if several or lever is not ALGORITHMS]
