"""How to tell each MPI library that it may send a message of any size at once, without waiting for its receiver."""

from __future__ import annotations

from collections.abc import Mapping

from wherry.run.mpis import Family, Mpi

DEFAULT, UNLIMITED = "default", "unlimited"
#: More than any message of the study, and within what 32 bits hold.
_ANY = str(1 << 30)

#: Of libraries by family: within a node, and between nodes. Variables that a version does not know do nothing.
_ON_NODE: Mapping[Family, Mapping[str, str]] = {
    "openmpi": {},
    # Above it the receiver copies out of the sender's memory.
    "mpich": {"MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD": _ANY, "MPIR_CVAR_CH4_IPC_XPMEM_P2P_THRESHOLD": _ANY},
    "intel": {"I_MPI_EAGER_THRESHOLD": _ANY, "I_MPI_SHM_EAGER_THRESHOLD": _ANY},
}
_BETWEEN_NODES: Mapping[Family, Mapping[str, str]] = {
    "openmpi": {"OMPI_MCA_btl_tcp_eager_limit": _ANY, "OMPI_MCA_btl_tcp_max_send_size": _ANY},
    "mpich": {"MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD": "-1", "UCX_RNDV_THRESH": "inf"},
    "intel": {"I_MPI_EAGER_THRESHOLD": _ANY},
}


def settings(mpi: Mpi, eager: str, between_nodes: bool) -> dict[str, str]:
    """The variables for a limit; none for the library's own, or where it has no setting."""
    if eager == DEFAULT:
        return {}
    return dict((_BETWEEN_NODES if between_nodes else _ON_NODE)[mpi.family])
