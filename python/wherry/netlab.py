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

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType

from wherry.mpis import Mpi, find_mpi, find_mpis, run_to_end, why_missing

STATE = Path("/run/wherry-netlab")
MOST_CLUSTERS = 250
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


class NetlabError(Exception):
    """The emulated cluster cannot be made or used: what, why and what to do."""


@dataclass(frozen=True)
class State:
    """What is known of a cluster beyond the process that made it."""

    number: int
    hosts: int
    rate: str
    owner: int | None  # process; None: stays until `netlab down`
    owner_start: int  # when that process started, in clock ticks: process numbers come again

    @property
    def folder(self) -> Path:
        return STATE / str(self.number)

    def orphaned(self) -> bool:
        return self.owner is not None and _start_of(self.owner) != self.owner_start


class Cluster:
    """Hosts 1..hosts, each link limited to `rate` in both directions ("1gbit", "100mbit"; "": not limited).

    As a context manager it makes the cluster and removes it. Rates are as tc(8) writes them.
    """

    def __init__(self, hosts: int = 4, rate: str = "1gbit") -> None:
        if not 1 <= hosts <= MOST_HOSTS:
            raise NetlabError(f"{hosts} hosts are not possible; give 1 to {MOST_HOSTS}")
        self.hosts = hosts
        self.rate = rate
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
        self._number = _reserve(self.hosts, self.rate, None if keep else os.getpid())
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
            if (state := _read_state(STATE / str(self._number))) is not None:
                _remove(state)
            self._number = None
        if self._reaper is not None:
            self._reaper.communicate()
            self._reaper = None

    def set_rate(self, rate: str) -> None:
        """Changes the limit of every link, also while programs run."""
        for host in self._each():
            _limit(["tc"], f"wh{self.number}v{host}", rate)
            _limit(["tc", "-n", self._host(host)], "eth0", rate)
        self.rate = rate

    def bytes_by_host(self) -> list[int]:
        """Bytes that each host has put on its link so far."""
        return [_transmitted(self._host(host)) for host in self._each()]

    def bytes_sent(self) -> int:
        """Bytes that crossed the links so far, each counted once."""
        return sum(self.bytes_by_host())

    def options(self, mpi: Mpi, n: int) -> list[str]:
        """What the launcher of `mpi` must be told to spread n ranks evenly over the hosts, in blocks."""
        if (reason := why_not_on_cluster(mpi)) is not None:
            raise NetlabError(reason)
        per_host = -(-n // self.hosts)
        return OPTIONS[_dialect(mpi)](self, per_host)

    def environment(self, mpi: Mpi) -> dict[str, str]:
        """What the ranks must be told so that they use the links."""
        return {**mpi.variables, **FABRIC[_dialect(mpi)]}

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
            _end_processes(name)

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


# How each launcher is told about hosts. Open MPI's --oversubscribe would pack all ranks onto the first host.


def _openmpi5_options(cluster: Cluster, per_host: int) -> list[str]:
    daemons = ["--prtemca", "plm_ssh_agent", str(cluster.agent), "--prtemca", "prte_if_include", cluster.network]
    mapping = [
        "--hostfile",
        str(cluster.hostfile),
        "--map-by",
        f"ppr:{per_host}:node:oversubscribe",
        "--bind-to",
        "none",
    ]
    return [*daemons, *mapping, *_openmpi_transport(cluster, "sm")]


def _openmpi4_options(cluster: Cluster, per_host: int) -> list[str]:
    daemons = ["--mca", "plm_rsh_agent", str(cluster.agent), "--mca", "oob_tcp_if_include", cluster.network]
    mapping = [
        "--hostfile",
        str(cluster.hostfile),
        "--map-by",
        f"ppr:{per_host}:node",
        "--oversubscribe",
        "--bind-to",
        "none",
    ]
    return [*daemons, *mapping, *_openmpi_transport(cluster, "vader")]


def _openmpi_transport(cluster: Cluster, shared_memory: str) -> list[str]:
    transport = ["--mca", "pml", "ob1", "--mca", "btl", f"self,{shared_memory},tcp"]
    # All hosts share this machine's cores, so a rank that waits must let the others run.
    return [*transport, "--mca", "btl_tcp_if_include", cluster.network, "--mca", "mpi_yield_when_idle", "1"]


def _hydra_options(cluster: Cluster, per_host: int) -> list[str]:
    launcher = ["-launcher", "ssh", "-launcher-exec", str(cluster.agent), "-iface", f"wh{cluster.number}br"]
    return [*launcher, "-hosts", ",".join(cluster.addresses), "-ppn", str(per_host)]


def _dialect(mpi: Mpi) -> str:
    return f"openmpi{mpi.version.split('.')[0]}" if mpi.family == "openmpi" else mpi.family


OPTIONS: dict[str, Callable[[Cluster, int], list[str]]] = {
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
FABRIC: dict[str, dict[str, str]] = {
    "openmpi4": {},
    "openmpi5": {},
    "mpich": _MPICH_FABRIC,
    "intel": {"I_MPI_FABRICS": "shm:ofi", "FI_PROVIDER": "tcp", "FI_TCP_IFACE": "eth0"},
}


def why_not_on_cluster(mpi: Mpi) -> str | None:
    """Why programs of this MPI cannot run on emulated hosts; None if they can."""
    if mpi.family == "mpich" and mpi.version.startswith("4.0"):
        # Seen with gdb: some ranks wait in UCX for others that are already in the last barrier of the launcher.
        return f"{mpi.name} {mpi.version} often hangs in MPI_Finalize over TCP; use mpich instead"
    return None


def why_unavailable() -> str | None:
    """Why no cluster can be made here, with what to do about it; None if one can."""
    if os.geteuid() != 0:
        return "the emulated cluster needs root (it makes network namespaces); run it as root"
    for command, package in (("ip", "iproute2"), ("tc", "iproute2"), ("unshare", "util-linux")):
        if shutil.which(command) is None:
            return f"the emulated cluster needs the command {command}; install {package}"
    trial = subprocess.run(["unshare", "-n", "-u", "-m", "true"], capture_output=True, text=True, check=False)
    if trial.returncode != 0:
        return f"the emulated cluster needs namespaces, which this system refuses: {trial.stderr.strip()}"
    return None


def clusters() -> list[State]:
    """All clusters that are up or were left behind."""
    return [state for state in map(_read_state, sorted(STATE.glob("[0-9]*"))) if state is not None]


def remove_leftovers() -> list[int]:
    """Removes clusters whose owner has ended; returns their numbers."""
    orphans = [state for state in clusters() if state.orphaned()]
    for state in orphans:
        _remove(state)
    return [state.number for state in orphans]


def _reserve(hosts: int, rate: str, owner: int | None) -> int:
    """Takes the first free number, atomically: a full folder cannot be renamed onto another."""
    STATE.mkdir(mode=0o755, exist_ok=True)
    start = 0 if owner is None else _start_of(owner) or 0
    for number in range(1, MOST_CLUSTERS + 1):
        # A bridge without a state here belongs to a container that shares this machine's network.
        if (STATE / str(number)).exists() or Path(f"/sys/class/net/wh{number}br").exists():
            continue
        draft = Path(tempfile.mkdtemp(prefix=".new-", dir=STATE))
        draft.chmod(0o755)
        (draft / "state.json").write_text(json.dumps(asdict(State(number, hosts, rate, owner, start))))
        try:
            draft.rename(STATE / str(number))
        except OSError:
            shutil.rmtree(draft, ignore_errors=True)
            continue
        return number
    raise NetlabError(f"{MOST_CLUSTERS} clusters are up already; remove some: tools/netlab down --all")


def _read_state(folder: Path) -> State | None:
    try:
        return State(**json.loads((folder / "state.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None


def _remove(state: State) -> None:
    """Removes whatever there is of a cluster; what is gone already is no error. The state goes last.

    Several may try: its owner, its reaper and whoever makes the next one. Only one removes it, and nobody removes
    a newer cluster that has its number.
    """
    with (STATE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _read_state(state.folder) != state:
            return
        for name in _namespaces(state.number):
            _end_processes(name)
            _try("ip", "netns", "del", name)
        for link in _links(state.number):
            _try("ip", "link", "del", link)
        shutil.rmtree(state.folder, ignore_errors=True)


def _namespaces(number: int) -> list[str]:
    folder = Path("/run/netns")
    return sorted(path.name for path in folder.glob(f"wh{number}h[0-9]*"))


def _links(number: int) -> list[str]:
    folder = Path("/sys/class/net")
    return sorted(path.name for path in (*folder.glob(f"wh{number}v[0-9]*"), *folder.glob(f"wh{number}br")))


def _end_processes(namespace: str) -> None:
    """Kills what runs in a namespace, which only this cluster can have started, and waits until it is gone."""
    deadline = time.monotonic() + 5
    while pids := _try("ip", "netns", "pids", namespace).split():
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        if time.monotonic() > deadline:
            return
        time.sleep(0.01)


def _start_of(pid: int) -> int | None:
    """When a process started, in clock ticks since the machine did; None if there is no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # the name before it may hold anything
    return None if fields[0] == "Z" else int(fields[19])


def _start_reaper(number: int) -> subprocess.Popen[bytes]:
    """A process that removes the cluster when the pipe from this one closes, in a session of its own."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    command = [sys.executable, "-m", "wherry.netlab", "reap", str(number)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, start_new_session=True, cwd="/")


def _limit(tc: Sequence[str], device: str, rate: str) -> None:
    if rate:
        shaping = ["tbf", "rate", rate, "burst", BURST, "latency", QUEUE]
        _must(*tc, "qdisc", "replace", "dev", device, "root", *shaping)
    else:
        _try(*tc, "qdisc", "del", "dev", device, "root")


def _transmitted(namespace: str) -> int:
    links = json.loads(_must("ip", "-n", namespace, "-s", "-j", "link", "show", "eth0"))
    return int(links[0]["stats64"]["tx"]["bytes"])


def _ip(*words: str) -> None:
    _must("ip", *words)


def _must(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NetlabError(f"`{shlex.join(command)}` failed: {done.stderr.strip() or done.returncode}")
    return done.stdout


def _try(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


# The command line: tools/netlab


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    # A polite request to end lets `with` clean up.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        return int(arguments.act(arguments))
    except NetlabError as error:
        print(f"netlab: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tools/netlab", description="An emulated cluster on this machine (root).")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    up = commands.add_parser("up", help="make a cluster that stays until `down`")
    down = commands.add_parser("down", help="remove the clusters that stay, and leftovers")
    status = commands.add_parser("status", help="list the clusters and the bytes that crossed their links")
    run = commands.add_parser("run", help="run a program on the cluster that is up, or on one made for it")
    reap = commands.add_parser("reap", help="remove cluster NUMBER when standard input closes (for internal use)")

    for command in (up, run):
        command.add_argument("-H", "--hosts", type=int, default=4, help="how many hosts (4)")
        command.add_argument("--rate", default="1gbit", help="limit of each link, as tc writes it (1gbit)")
    run.add_argument("--mpi", default="openmpi", help="which MPI (openmpi); `wherry info` lists them")
    run.add_argument("-n", type=int, default=8, help="how many ranks (8)")
    run.add_argument("-x", metavar="NAME=VALUE", action="append", default=[], help="a variable for the ranks")
    run.add_argument("program", nargs="+", help="the program and its arguments, after --")
    down.add_argument("--all", action="store_true", help="also clusters that running processes own")
    reap.add_argument("number", type=int)
    for command, act in ((up, _up), (down, _down), (status, _status), (run, _run), (reap, _reap)):
        command.set_defaults(act=act)
    return parser


def _up(arguments: argparse.Namespace) -> int:
    cluster = Cluster(arguments.hosts, arguments.rate)
    cluster.up(keep=True)
    print(f"cluster {cluster.number}: {cluster.hosts} hosts, {cluster.network}, {cluster.rate or 'no limit'}")
    return 0


def _down(arguments: argparse.Namespace) -> int:
    if reason := why_unavailable():
        raise NetlabError(reason)
    for state in clusters():
        if arguments.all or state.owner is None or state.orphaned():
            _remove(state)
            print(f"cluster {state.number}: removed")
    return 0


def _status(arguments: argparse.Namespace) -> int:
    for state in clusters():
        owner = "stays until `down`" if state.owner is None else f"owned by process {state.owner}"
        owner = "left behind" if state.orphaned() else owner
        traffic = f"{Cluster.attach(state).bytes_sent():,} bytes sent" if os.geteuid() == 0 else ""
        print(f"cluster {state.number}: {state.hosts} hosts, {state.rate or 'no limit'}, {owner}; {traffic}")
    return 0


def _run(arguments: argparse.Namespace) -> int:
    mpi = find_mpi(arguments.mpi)
    if mpi is None:
        have = ", ".join(known.name for known in find_mpis()) or "none"
        raise NetlabError(f"{why_missing(arguments.mpi)} (have: {have})")
    variables = dict(word.partition("=")[::2] for word in arguments.x)
    with _standing_or_new(arguments.hosts, arguments.rate) as cluster:
        before = cluster.bytes_sent()
        command = cluster.command(mpi, arguments.n, arguments.program, variables)
        code = subprocess.run(command, env={**os.environ, **mpi.environment()}, check=False).returncode
        print(f"netlab: {cluster.bytes_sent() - before:,} bytes crossed the links", file=sys.stderr)
    return code


@contextlib.contextmanager
def _standing_or_new(hosts: int, rate: str) -> Iterator[Cluster]:
    standing = next((state for state in clusters() if state.owner is None), None)
    if standing is not None:
        yield Cluster.attach(standing)
        return
    with Cluster(hosts, rate) as cluster:
        yield cluster


def _reap(arguments: argparse.Namespace) -> int:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    state = _read_state(STATE / str(arguments.number))
    sys.stdin.buffer.read()
    if state is not None and state.orphaned():
        _remove(state)
    return 0


if __name__ == "__main__":
    sys.exit(main())
