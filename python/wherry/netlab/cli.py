"""The command line: tools/netlab."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

from wherry.errors import UsageError, unknown
from wherry.netlab.cluster import Cluster
from wherry.netlab.rates import checked
from wherry.netlab.state import STATE, State, clusters, read_state, remove
from wherry.netlab.system import NetlabError, why_unavailable
from wherry.run.mpis import MPI_NAMES, find_mpi, find_mpis, why_missing

_HOSTS, _RATE = 4, "1gbit"  # of a cluster, if the user says nothing


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
    rate = commands.add_parser("rate", help="change the limit of each link, also while programs run")
    status = commands.add_parser("status", help="list the clusters and the bytes that crossed their links")
    run = commands.add_parser("run", help="run a program on the cluster that is up, or on one made for it")
    reap = commands.add_parser("reap", help="remove cluster NUMBER when standard input closes (for internal use)")

    for command in (up, run):
        command.add_argument("-H", "--hosts", type=int, help=f"how many hosts ({_HOSTS})")
        command.add_argument("--rate", help=f"limit of each link, as tc writes it ({_RATE})")
    run.add_argument("--mpi", default="openmpi", help="which MPI (openmpi); `wherry info` lists them")
    run.add_argument("-n", type=_ranks, default=8, help="how many ranks (8)")
    run.add_argument(
        "-x", type=_variable, metavar="NAME=VALUE", action="append", default=[], help="a variable for the ranks"
    )
    run.add_argument("program", nargs="+", help="the program and its arguments, after --")
    rate.add_argument("rate", help="as tc writes it; '' for no limit")
    rate.add_argument("--cluster", type=int, metavar="NUMBER", help="its number in `status` (the one that stays)")
    down.add_argument("--all", action="store_true", help="also clusters that running processes own")
    reap.add_argument("number", type=int)
    for command, act in ((up, _up), (down, _down), (rate, _rate), (status, _status), (run, _run), (reap, _reap)):
        command.set_defaults(act=act)
    return parser


def _ranks(word: str) -> int:
    if not word.isdigit() or int(word) == 0:
        raise argparse.ArgumentTypeError(f"'{word}' is no number of ranks; give 1 or more")
    return int(word)


def _variable(word: str) -> tuple[str, str]:
    name, sign, value = word.partition("=")
    if not name or not sign:
        raise argparse.ArgumentTypeError(f"'{word}' sets nothing; write NAME=VALUE")
    return name, value


def _new(arguments: argparse.Namespace) -> Cluster:
    hosts = _HOSTS if arguments.hosts is None else arguments.hosts
    return Cluster(hosts, _RATE if arguments.rate is None else arguments.rate)


def _up(arguments: argparse.Namespace) -> int:
    cluster = _new(arguments)
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


def _rate(arguments: argparse.Namespace) -> int:
    checked(arguments.rate)
    if reason := why_unavailable():
        raise NetlabError(reason)
    cluster = Cluster.attach(_named(arguments.cluster))
    before = cluster.rate
    cluster.set_rate(arguments.rate)
    print(f"cluster {cluster.number}: {cluster.rate or 'no limit'} instead of {before or 'no limit'}")
    return 0


def _named(number: int | None) -> State:
    """The cluster of that number; without one, the one that stays."""
    up = clusters()
    found = next((state for state in up if (state.owner is None if number is None else state.number == number)), None)
    if found is None:
        have = ", ".join(str(state.number) for state in up) or "none"
        what = "no cluster stays" if number is None else f"there is no cluster {number}"
        raise NetlabError(f"{what} (up: {have}); make one with tools/netlab up, or name one with --cluster")
    return found


def _run(arguments: argparse.Namespace) -> int:
    mpi = find_mpi(arguments.mpi)
    if mpi is None:
        if arguments.mpi not in MPI_NAMES:
            raise unknown("MPI", arguments.mpi, MPI_NAMES)
        have = ", ".join(known.name for known in find_mpis()) or "none"
        raise NetlabError(f"{why_missing(arguments.mpi)} (have: {have})")
    with _standing_or_new(arguments) as cluster:
        before = cluster.bytes_sent()
        command = cluster.command(mpi, arguments.n, arguments.program, dict(arguments.x))
        code = subprocess.run(command, env={**os.environ, **mpi.environment()}, check=False).returncode
        print(f"netlab: {cluster.bytes_sent() - before:,} bytes crossed the links", file=sys.stderr)
    return code


@contextlib.contextmanager
def _standing_or_new(arguments: argparse.Namespace) -> Iterator[Cluster]:
    standing = next((state for state in clusters() if state.owner is None), None)
    if standing is not None:
        if arguments.hosts is not None or arguments.rate is not None:
            raise UsageError(
                f"cluster {standing.number} is up and would be used, so -H and --rate have no effect;"
                " leave them out, or remove it first: tools/netlab down"
            )
        yield Cluster.attach(standing)
        return
    with _new(arguments) as cluster:
        yield cluster


def _reap(arguments: argparse.Namespace) -> int:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    state = read_state(STATE / str(arguments.number))
    sys.stdin.buffer.read()
    if state is None:
        return 0
    while state.is_there() and not state.orphaned():  # a process that ends closes its files first
        time.sleep(0.02)
    remove(state)
    return 0
