"""An emulated cluster on one machine: hosts in network namespaces, joined by rate-limited links.

    with Cluster(hosts=4, rate="1gbit") as cluster:
        before = cluster.bytes_sent()
        cluster.run(mpi, 8, ["./app"])
        assert cluster.bytes_sent() > before  # the traffic did cross the links

Each host has an address, a hostname and a /dev/shm of its own, so that MPI takes it for a machine. An agent that
stands in for ssh lets the launchers of all MPI families start their daemons there. Needs root.

A cluster has a number k, which no other has: its namespaces are wh<k>h1, wh<k>h2, ..., its bridge is wh<k>br, its
network is 10.78.<k>.0/24 and its state is a folder k. A cluster belongs to the process that made it and is removed when
that process ends, however it ends: a reaper waits for that, and whoever makes the next cluster looks for leftovers too.
"""

from wherry.netlab.cluster import Cluster
from wherry.netlab.launchers import why_not_on_cluster
from wherry.netlab.state import STATE, State, clusters, remove, remove_leftovers
from wherry.netlab.system import NetlabError, why_unavailable

__all__ = [
    "STATE",
    "Cluster",
    "NetlabError",
    "State",
    "clusters",
    "remove",
    "remove_leftovers",
    "why_not_on_cluster",
    "why_unavailable",
]
