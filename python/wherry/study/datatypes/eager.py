"""How to tell each MPI library that it may send a message of any size at once, without waiting for its receiver."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from wherry.run.mpis import Family, Mpi

DEFAULT, UNLIMITED = "default", "unlimited"
#: More than any message of the study, and within what 32 bits hold.
_ANY = str(1 << 30)
#: Open MPI reserves pieces of shared memory of that size: a piece for the largest message, and room for some.
_PIECE, _PIECES = str(1 << 27), str(1 << 30)

Variables = Mapping[str, str]


def _shared_memory(component: str) -> Variables:
    """Of Open MPI: one piece at a time, lest eight be reserved at the start."""
    values = {"eager_limit": _PIECE, "max_send_size": _PIECE, "segment_size": _PIECES}
    values |= {"free_list_num": "1", "free_list_inc": "1"}
    return {f"OMPI_MCA_btl_{component}_{name}": value for name, value in values.items()}


_TCP = {"OMPI_MCA_btl_tcp_eager_limit": _ANY, "OMPI_MCA_btl_tcp_max_send_size": _ANY}


@dataclass(frozen=True)
class _Limits:
    """Of a library from a major version on. Empty: it has no such setting."""

    family: Family
    version: int
    on_node: Variables
    between_nodes: Variables


#: Newest first.
_LIMITS = (
    _Limits("openmpi", 5, _shared_memory("sm"), _TCP),
    _Limits("openmpi", 4, _shared_memory("vader"), _TCP),
    # Within a node: from which size on the receiver copies out of the sender's memory.
    _Limits("mpich", 5, {"MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD": _ANY}, {"MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD": "-1"}),
    _Limits("mpich", 4, {}, {"UCX_RNDV_THRESH": "inf"}),
    _Limits("intel", 2021, {"I_MPI_SHM_EAGER_THRESHOLD": _ANY}, {}),
)


def settings(mpi: Mpi, eager: str, between_nodes: bool) -> dict[str, str]:
    """The variables for a limit; none for the native one, or where it has no setting."""
    if eager == DEFAULT:
        return {}
    found = next((row for row in _LIMITS if row.family == mpi.family and row.version <= _major(mpi.version)), None)
    if found is None:
        return {}
    return dict(found.between_nodes if between_nodes else found.on_node)


def _major(version: str) -> int:
    number = re.match(r"\d+", version)
    return int(number[0]) if number else 0
