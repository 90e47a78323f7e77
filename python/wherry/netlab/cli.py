"""The command line: tools/netlab."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence

from wherry.errors import UsageError, unknown
from wherry.mpis import MPI_NAMES, find_mpi, find_mpis, why_missing
from wherry.netlab.cluster import Cluster
from wherry.netlab.state import STATE, clusters, read_state, remove
from wherry.netlab.system import NetlabError, why_unavailable


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    # A polite request to end lets `with` clean up.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        return int(arguments.act(arguments))
    except (NetlabError, UsageError) as error:
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
            remove(state)
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
        if arguments.mpi not in MPI_NAMES:
            raise unknown("MPI", arguments.mpi, MPI_NAMES)
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
    state = read_state(STATE / str(arguments.number))
    sys.stdin.buffer.read()
    if state is not None and state.orphaned():
        remove(state)
    return 0
