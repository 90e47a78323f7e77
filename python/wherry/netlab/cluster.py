"""Making a cluster, using it, and removing it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from wherry.netlab import launchers
from wherry.netlab.launchers import Hosts
from wherry.netlab.rates import checked
from wherry.netlab.state import STATE, State, end_processes, note_rate, read_state, remove, remove_leftovers, reserve
from wherry.netlab.system import NetlabError, attempt, must, why_unavailable
from wherry.run.mpis import Mpi, run_to_end

MOST_HOSTS = 250
# A burst above 16 KiB would let a 16 KiB exchange finish faster than the wire allows.
BURST = "16kb"
QUEUE = "50ms"

# Stands in for ssh: agent [-options] HOST COMMAND... As with ssh, the words are joined and read by a shell,
# and the command meets a fresh environment, not that of the launcher.
AGENT = r"""#!/bin/bash
while [[ "$1" == -* ]]; do
  case "$1" in -[lopiF]) shift 2 ;; *) shift ;; esac
done
host=$1; shift
name=wh@CLUSTER@h${host##*.}
root=({OMPI,PRTE}_ALLOW_RUN_AS_ROOT{,_CONFIRM}=1)
exec env -i HOME="$HOME" USER="${USER:-root}" PATH="$PATH" TMPDIR="${TMPDIR:-/tmp}" "${root[@]}" \
  ip netns exec "$name" unshare -u -m -i /bin/bash -c "hostname $name; mount -t tmpfs none /dev/shm; $*"
"""


class Cluster:
    """Hosts 1..hosts, each link limited to `rate` in both directions ("1gbit", "100mbit"; "": not limited).

    As a context manager it makes the cluster and removes it. Rates are as tc(8) writes them.
    """

    def __init__(self, hosts: int = 4, rate: str = "1gbit") -> None:
        if not 1 <= hosts <= MOST_HOSTS:
            raise NetlabError(f"{hosts} hosts are not possible; give 1 to {MOST_HOSTS}")
        self.hosts = hosts
        self.rate = checked(rate)
        self._number: int | None = None
        self._reaper: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Cluster:
        self.up()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.down()

    @classmethod
    def attach(cls, state: State) -> Cluster:
        """A cluster that another process keeps up."""
        cluster = cls(state.hosts, state.rate)
        cluster._number = state.number
        return cluster

    @property
    def number(self) -> int:
        if self._number is None:
            raise NetlabError("the cluster is not up; enter it with `with` or call up()")
        return self._number

    @property
    def network(self) -> str:
        return f"10.78.{self.number}.0/24"

    @property
    def addresses(self) -> list[str]:
        return [f"10.78.{self.number}.{host}" for host in self._each()]

    @property
    def hostnames(self) -> list[str]:
        return [self._host(host) for host in self._each()]

    @property
    def agent(self) -> Path:
        """The program that stands in for ssh."""
        return STATE / str(self.number) / "agent"

    @property
    def hostfile(self) -> Path:
        """The hosts as Open MPI reads them, without a number of slots: see options()."""
        return STATE / str(self.number) / "hosts"

    def up(self, keep: bool = False) -> None:
        """Makes the cluster. keep: it outlives this process, until `netlab down`."""
        reason = why_unavailable()
        if reason is not None:
            raise NetlabError(reason)
        remove_leftovers()
        self._number = reserve(self.hosts, self.rate, None if keep else os.getpid())
        try:
            if not keep:
                self._reaper = _start_reaper(self._number)
            self._write_files()
            self._make_links()
        except BaseException:
            self.down()
            raise

    def down(self) -> None:
        """Removes the cluster and ends what runs in it. Does nothing if it is not up."""
        if self._number is not None:
            if (state := read_state(STATE / str(self._number))) is not None:
                remove(state)
            self._number = None
        if self._reaper is not None:
            self._reaper.communicate()
            self._reaper = None

    def set_rate(self, rate: str) -> None:
        """Changes the limit of every link, also while programs run."""
        checked(rate)
        for host in self._each():
            _limit(["tc"], f"wh{self.number}v{host}", rate)
            _limit(["tc", "-n", self._host(host)], "eth0", rate)
        self.rate = rate
        note_rate(self.number, rate)

    def bytes_by_host(self) -> list[int]:
        """Bytes that each host has put on its link so far."""
        return [_transmitted(self._host(host)) for host in self._each()]

    def bytes_sent(self) -> int:
        """Bytes that crossed the links so far, each counted once."""
        return sum(self.bytes_by_host())

    def options(self, mpi: Mpi, n: int) -> list[str]:
        """What the launcher of `mpi` must be told to spread n ranks evenly over the hosts, in blocks."""
        bridge, addresses = f"wh{self.number}br", self.addresses
        return launchers.options(mpi, Hosts(addresses, self.network, bridge, self.agent, self.hostfile), n)

    def environment(self, mpi: Mpi) -> dict[str, str]:
        """What the ranks must be told so that they use the links."""
        return launchers.environment(mpi)

    def command(self, mpi: Mpi, n: int, args: Sequence[str], env: Mapping[str, str] | None = None) -> list[str]:
        """The command line that runs `args` on n ranks over the hosts."""
        return mpi.command(n, args, {**self.environment(mpi), **(env or {})}, self.options(mpi, n))

    def run(
        self, mpi: Mpi, n: int, args: Sequence[str], env: Mapping[str, str] | None = None, timeout_s: float = 120
    ) -> subprocess.CompletedProcess[str]:
        """Runs `args` on n ranks and returns what they printed; a run that takes too long is ended."""
        try:
            return run_to_end(self.command(mpi, n, args, env), {**os.environ, **mpi.environment()}, timeout_s)
        except subprocess.TimeoutExpired:
            self.end_processes()
            raise

    def end_processes(self) -> None:
        """Kills everything that runs on the hosts."""
        for name in self.hostnames:
            end_processes(name)

    def _each(self) -> range:
        return range(1, self.hosts + 1)

    def _host(self, host: int) -> str:
        return f"wh{self.number}h{host}"

    def _write_files(self) -> None:
        self.agent.write_text(AGENT.replace("@CLUSTER@", str(self.number)))
        self.agent.chmod(0o755)
        self.hostfile.write_text("".join(f"{address} slots=1\n" for address in self.addresses))

    def _make_links(self) -> None:
        bridge = f"wh{self.number}br"
        _ip("link", "add", bridge, "type", "bridge")
        _ip("addr", "add", f"10.78.{self.number}.254/24", "dev", bridge)
        _ip("link", "set", bridge, "up")
        for host, address in zip(self._each(), self.addresses, strict=True):
            name, link = self._host(host), f"wh{self.number}v{host}"
            _ip("netns", "add", name)
            _ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name)
            _ip("link", "set", link, "master", bridge, "up")
            _ip("-n", name, "addr", "add", f"{address}/24", "dev", "eth0")
            _ip("-n", name, "link", "set", "eth0", "up")
            _ip("-n", name, "link", "set", "lo", "up")
        self.set_rate(self.rate)


def _start_reaper(number: int) -> subprocess.Popen[bytes]:
    """A process that removes the cluster when the pipe from this one closes; no signal of a terminal reaches it."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    command = [sys.executable, "-m", "wherry.netlab", "reap", str(number)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, start_new_session=True, cwd="/")


def _limit(tc: Sequence[str], device: str, rate: str) -> None:
    if rate:
        shaping = ["tbf", "rate", rate, "burst", BURST, "latency", QUEUE]
        must(*tc, "qdisc", "replace", "dev", device, "root", *shaping)
    else:
        attempt(*tc, "qdisc", "del", "dev", device, "root")


def _transmitted(namespace: str) -> int:
    links = json.loads(must("ip", "-n", namespace, "-s", "-j", "link", "show", "eth0"))
    return int(links[0]["stats64"]["tx"]["bytes"])


def _ip(*words: str) -> None:
    must("ip", *words)
