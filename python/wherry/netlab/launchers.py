"""What the launcher of each MPI family must be told about the hosts, and its ranks about the links."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wherry.netlab.system import NetlabError
from wherry.run.mpis import Mpi


@dataclass(frozen=True)
class Hosts:
    """A cluster as a launcher sees it."""

    addresses: Sequence[str]
    network: str
    bridge: str
    agent: Path  # the program that stands in for ssh
    hostfile: Path  # the hosts as Open MPI reads them


def options(mpi: Mpi, hosts: Hosts, n: int) -> list[str]:
    """What the launcher of `mpi` must be told to spread n ranks evenly over the hosts, in blocks."""
    if (reason := why_not_on_cluster(mpi)) is not None:
        raise NetlabError(reason)
    return _OPTIONS[_dialect(mpi)](hosts, -(-n // len(hosts.addresses)))


def environment(mpi: Mpi) -> dict[str, str]:
    """What the ranks must be told so that they use the links."""
    return {**mpi.variables, **_FABRIC[_dialect(mpi)]}


def why_not_on_cluster(mpi: Mpi) -> str | None:
    """Why programs of this MPI cannot run on emulated hosts; None if they can."""
    if mpi.family == "mpich" and mpi.version.startswith("4.0"):
        # Seen with gdb: some ranks wait in UCX for others that are already in the last barrier of the launcher.
        return f"{mpi.name} {mpi.version} often hangs in MPI_Finalize over TCP; use mpich instead"
    return None


def _dialect(mpi: Mpi) -> str:
    return f"openmpi{mpi.version.split('.')[0]}" if mpi.family == "openmpi" else mpi.family


# How each launcher is told about hosts. Open MPI's --oversubscribe would pack all ranks onto the first host.


def _openmpi5_options(hosts: Hosts, per_host: int) -> list[str]:
    daemons = ["--prtemca", "plm_ssh_agent", str(hosts.agent), "--prtemca", "prte_if_include", hosts.network]
    mapping = _openmpi_mapping(hosts, f"ppr:{per_host}:node:oversubscribe")
    return [*daemons, *mapping, *_openmpi_transport(hosts, "sm")]


def _openmpi4_options(hosts: Hosts, per_host: int) -> list[str]:
    daemons = ["--mca", "plm_rsh_agent", str(hosts.agent), "--mca", "oob_tcp_if_include", hosts.network]
    mapping = [*_openmpi_mapping(hosts, f"ppr:{per_host}:node"), "--oversubscribe"]
    return [*daemons, *mapping, *_openmpi_transport(hosts, "vader")]


def _openmpi_mapping(hosts: Hosts, by: str) -> list[str]:
    return ["--hostfile", str(hosts.hostfile), "--map-by", by, "--bind-to", "none"]


def _openmpi_transport(hosts: Hosts, shared_memory: str) -> list[str]:
    transport = ["--mca", "pml", "ob1", "--mca", "btl", f"self,{shared_memory},tcp"]
    # All hosts share this machine's cores, so a rank that waits must let the others run.
    return [*transport, "--mca", "btl_tcp_if_include", hosts.network, "--mca", "mpi_yield_when_idle", "1"]


def _hydra_options(hosts: Hosts, per_host: int) -> list[str]:
    launcher = ["-launcher", "ssh", "-launcher-exec", str(hosts.agent), "-iface", hosts.bridge]
    return [*launcher, "-hosts", ",".join(hosts.addresses), "-ppn", str(per_host)]


_OPTIONS: dict[str, Callable[[Hosts, int], list[str]]] = {
    "openmpi4": _openmpi4_options,
    "openmpi5": _openmpi5_options,
    "mpich": _hydra_options,
    "intel": _hydra_options,
}

# Without these MPICH finds that all hosts are one machine and uses its memory as the network.
_MPICH_FABRIC = {
    "FI_PROVIDER": "tcp",
    "FI_TCP_IFACE": "eth0",
    "UCX_TLS": "self,tcp",
    "UCX_NET_DEVICES": "eth0",
    "MPIR_CVAR_CH4_NETMOD": "ofi",
}
_FABRIC: dict[str, dict[str, str]] = {
    "openmpi4": {},
    "openmpi5": {},
    "mpich": _MPICH_FABRIC,
    "intel": {"I_MPI_FABRICS": "shm:ofi", "FI_PROVIDER": "tcp", "FI_TCP_IFACE": "eth0"},
}
