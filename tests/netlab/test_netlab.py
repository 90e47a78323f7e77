"""The emulated cluster: made, used, limited and removed; by root only."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT, Launcher

from wherry import netlab
from wherry.netlab import Cluster, NetlabError
from wherry.netlab.state import reserve

REASON = netlab.why_unavailable()
needs_cluster = pytest.mark.skipif(REASON is not None, reason=REASON or "")

BLOCK = 65536
ALLTOALL = f"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char** argv) {{
  MPI_Init(&argc, &argv);
  int rank, size, on_node, length;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char *send = malloc((size_t)size * {BLOCK}), *got = malloc((size_t)size * {BLOCK});
  memset(send, rank, (size_t)size * {BLOCK});
  MPI_Alltoall(send, {BLOCK}, MPI_CHAR, got, {BLOCK}, MPI_CHAR, MPI_COMM_WORLD);
  for (int origin = 0; origin < size; ++origin)
    if (got[(size_t)origin * {BLOCK}] != origin) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &on_node);
  char name[MPI_MAX_PROCESSOR_NAME] = "", names[64][MPI_MAX_PROCESSOR_NAME];
  MPI_Get_processor_name(name, &length);
  MPI_Gather(name, sizeof name, MPI_CHAR, names, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank == 0) {{
    printf("%d", on_node);
    for (int i = 0; i < size; ++i) printf(" %s", names[i]);
  }}
  MPI_Comm_free(&node);
  MPI_Finalize();
  return 0;
}}
"""


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(hosts=3, rate="1gbit") as made:
        yield made


@needs_cluster
def test_up_makes_hosts_and_down_leaves_nothing() -> None:
    before = leftovers()
    with Cluster(hosts=3) as cluster:
        number = cluster.number
        assert len(names(number)) == 3 + 3 + 1  # namespaces, links and the bridge
        hostname = subprocess.run(
            [str(cluster.agent), "-x", "-o", "Some=option", cluster.addresses[1], "hostname;", "echo", "$0"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert hostname.stdout.split() == [cluster.hostnames[1], "/bin/bash"]
    assert names(number) == []
    assert leftovers() == before


@needs_cluster
def test_hosts_see_a_fresh_environment_and_their_own_shared_memory(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHERRY_LEAK", "1")
    done = subprocess.run(
        [str(cluster.agent), cluster.addresses[0], "echo [$WHERRY_LEAK] $(ls -A /dev/shm | wc -l)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[] 0"


@needs_cluster
def test_two_clusters_live_side_by_side(cluster: Cluster) -> None:
    with Cluster(hosts=2, rate="") as other:
        assert other.number != cluster.number
        assert set(other.addresses).isdisjoint(cluster.addresses)
    assert len(names(cluster.number)) == 7


@needs_cluster
@pytest.mark.parametrize("hosts", [4, 6])
def test_traffic_crosses_the_links(mpi: Launcher, hosts: int, tmp_path: Path) -> None:
    if reason := netlab.why_not_on_cluster(mpi.mpi):
        pytest.skip(reason)
    program = compiled(mpi, ALLTOALL, tmp_path)
    ranks = 2 * hosts
    with Cluster(hosts) as cluster:
        before = cluster.bytes_by_host()
        done = cluster.run(mpi.mpi, ranks, [str(program)])
        assert done.returncode == 0, done.stderr
        sent = [after - start for after, start in zip(cluster.bytes_by_host(), before, strict=True)]
        # Two ranks a host, each host with a name of its own.
        assert done.stdout.split() == ["2", *(name for name in cluster.hostnames for _ in range(2))]
    # Each rank sends a block to every rank on another host.
    assert min(sent) >= 2 * (ranks - 2) * BLOCK, sent


@needs_cluster
def test_wherry_run_reaches_the_ranks(mpi: Launcher, tmp_path: Path) -> None:
    if reason := netlab.why_not_on_cluster(mpi.mpi):
        pytest.skip(reason)
    hosts, ranks = 3, 6
    started = [mpi.mpi.mpiexec[0], "-n", str(ranks), str(compiled(mpi, ALLTOALL, tmp_path))]
    options = ["--netlab", "--hosts", str(hosts), "--report", str(tmp_path / "out")]
    command = [sys.executable, "-m", "wherry", "run", *options, "--", *started]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    on_node, *names_of_ranks = done.stdout.split()
    assert on_node == "2"
    assert len(set(names_of_ranks)) == hosts
    assert f"{ranks} ranks on {hosts} hosts" in done.stderr
    assert "MPI_Alltoall" in done.stderr
    assert (tmp_path / "out/report.html").is_file()


@needs_cluster
def test_wherry_run_says_what_it_needs_there() -> None:
    command = [sys.executable, "-m", "wherry", "run", "--netlab", "--", "true"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "--netlab needs a launcher" in done.stderr


@needs_cluster
def test_rate_can_be_changed_and_is_respected(cluster: Cluster) -> None:
    # The queue lets nothing pass faster than the rate, however slow this machine is; so only the upper
    # bound says something, and the ratio is generous because of the burst.
    for rate, bits_per_s in (("20mbit", 20e6), ("5mbit", 5e6)):
        cluster.set_rate(rate)
        assert f"rate {rate.replace('mbit', 'Mbit')}" in shaping(cluster)
        assert throughput(cluster) <= 1.3 * bits_per_s / 8


@pytest.mark.parametrize("rate", ["fast", " ", "-1gbit", "0gbit", "1bit", "50%", "1gbit2", "1e3"])
def test_bad_rate_is_refused_before_anything_is_made(rate: str) -> None:
    for words in (["up", f"--rate={rate}"], ["run", f"--rate={rate}", "--", "true"], ["rate", "--", rate]):
        done = tool(*words, check=False)
        assert done.returncode == 2
        assert done.stderr == (
            f"netlab: '{rate}' is no rate of a link; write a number with kbit, mbit or gbit, such as 100mbit"
            " (at least 1kbit)\n"
        )


@needs_cluster
@pytest.mark.parametrize("rate", ["1kbit", "2.5gbit", "125MBps", "1mibit", "64000", ""])
def test_rates_that_are_taken_are_those_of_tc(rate: str) -> None:
    with Cluster(hosts=1, rate=rate) as cluster:
        assert ("tbf" in shaping(cluster)) == bool(rate)


@needs_cluster
def test_rate_of_a_cluster_in_use_is_changed_by_its_number(cluster: Cluster) -> None:
    done = tool("rate", "20mbit", "--cluster", str(cluster.number))
    assert done.stdout == f"cluster {cluster.number}: 20mbit instead of 1gbit\n"
    assert "rate 20Mbit" in shaping(cluster)
    assert f"cluster {cluster.number}: 3 hosts, 20mbit" in tool("status").stdout
    refused = tool("rate", "20mbit", "--cluster", "999", check=False)
    assert refused.returncode == 2 and "there is no cluster 999" in refused.stderr


@needs_cluster
def test_a_bad_rate_for_a_cluster_that_is_up_changes_nothing(cluster: Cluster) -> None:
    with pytest.raises(NetlabError, match="no rate of a link"):
        cluster.set_rate("fast")
    assert cluster.rate == "1gbit" and "rate 1Gbit" in shaping(cluster)


@pytest.mark.parametrize(
    ("words", "message"),
    [(["-n", "0"], "give 1 or more"), (["-n", "x"], "give 1 or more"), (["-x", "NAME"], "write NAME=VALUE")],
)
def test_bad_arguments_are_usage_errors(words: list[str], message: str) -> None:
    done = tool("run", *words, "--", "true", check=False)
    assert done.returncode == 2 and message in done.stderr


def test_absurd_numbers_of_hosts_are_refused() -> None:
    for hosts in (0, -1, 251):
        with pytest.raises(NetlabError, match="hosts are not possible; give 1 to 250"):
            Cluster(hosts=hosts)


OWNER = """
import sys, time
from wherry.netlab import Cluster
cluster = Cluster(hosts=2)
cluster.up()
{change}
print(cluster.number, flush=True)
time.sleep(600)
"""


@needs_cluster
@pytest.mark.parametrize("change", ["", "cluster.set_rate('20mbit')"])
def test_removed_when_the_owner_is_killed(change: str) -> None:
    process, number = start_owner(change)
    assert names(number)
    process.send_signal(signal.SIGKILL)
    process.wait()
    wait_until(lambda: not names(number) and not (netlab.STATE / str(number)).exists())


@needs_cluster
def test_an_owner_that_is_still_ending_is_waited_for() -> None:
    """The kernel closes the files of a process that ends before it counts as ended."""
    with subprocess.Popen(["sleep", "600"]) as owner:
        try:
            number = reserve(1, "", owner.pid)
            reaper = subprocess.Popen([ROOT / "tools/netlab", "reap", str(number)], stdin=subprocess.DEVNULL)
            with pytest.raises(subprocess.TimeoutExpired):
                reaper.wait(2)
        finally:
            owner.kill()
    assert reaper.wait(60) == 0
    assert not (netlab.STATE / str(number)).exists()


@needs_cluster
def test_leftovers_are_removed_by_the_next_one() -> None:
    process, number = start_owner()
    reaper = next(pid for pid in children(process.pid) if "reap" in command_line(pid))
    os.kill(reaper, signal.SIGKILL)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert names(number)
    assert number in netlab.remove_leftovers()
    assert names(number) == []


@needs_cluster
def test_programs_end_with_the_cluster() -> None:
    with Cluster(hosts=2) as cluster:
        process = subprocess.Popen([str(cluster.agent), cluster.addresses[0], "sleep 600"])
        wait_until(lambda: bool(pids_in(cluster.hostnames[0])))
    process.wait(timeout=10)
    assert process.returncode != 0


@needs_cluster
def test_kept_cluster_is_listed_used_and_taken_down() -> None:
    if any(state.owner is None for state in netlab.clusters()):
        pytest.skip("a cluster made with `netlab up` is in use on this machine")
    assert "2 hosts" in tool("up", "-H", "2", "--rate", "100mbit").stdout
    try:
        assert "100mbit, stays until `down`" in tool("status").stdout
        done = tool("run", "--rate", "1gbit", "--", "true", check=False)
        assert done.returncode == 2 and "is up and would be used, so -H and --rate have no effect" in done.stderr
        assert tool("rate", "50mbit").stdout.endswith(": 50mbit instead of 100mbit\n")
        assert "50mbit, stays until `down`" in tool("status").stdout
    finally:
        removed = tool("down").stdout
    assert "removed" in removed
    assert "stays" not in tool("status").stdout


@needs_cluster
def test_removing_an_old_cluster_spares_a_new_one_of_the_same_number() -> None:
    with Cluster(hosts=1) as old:
        state = next(state for state in netlab.clusters() if state.number == old.number)
    with Cluster(hosts=2) as new:
        assert new.number == state.number
        netlab.remove(state)
        assert len(names(new.number)) == 5


def test_unknown_mpi_is_a_clear_error() -> None:
    done = tool("run", "--mpi", "lam", "--", "true", check=False)
    assert done.returncode == 2
    assert "unknown MPI 'lam'" in done.stderr and "(have: " in done.stderr


def test_refused_when_not_root() -> None:
    # Root is given up after the imports: other users may not read this folder.
    code = (
        "import os, sys; from wherry.netlab.cli import main; os.geteuid() or os.setuid(65534); sys.exit(main(['up']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/", check=False)
    assert done.returncode == 2, done.stderr
    assert done.stderr == "netlab: the emulated cluster needs root (it makes network namespaces); run it as root\n"


def compiled(mpi: Launcher, source: str, folder: Path) -> Path:
    if mpi.mpicc is None:
        pytest.skip(f"no C compiler wrapper for {mpi.name}")
    (folder / "program.c").write_text(source)
    command = [str(mpi.mpicc), "-O1", "-o", str(folder / "program"), str(folder / "program.c")]
    subprocess.run(command, env=mpi.env, check=True, capture_output=True)
    return folder / "program"


def tool(*words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(ROOT / "tools/netlab"), *words], capture_output=True, text=True, check=check)


def start_owner(change: str = "") -> tuple[subprocess.Popen[str], int]:
    """change: what it does once its cluster is up."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    command = [sys.executable, "-c", OWNER.format(change=change)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def names(number: int) -> list[str]:
    """Everything in the kernel that has the name of a cluster."""
    spaces = [path.name for path in Path("/run/netns").glob(f"wh{number}h*")]
    links = [path.name for path in Path("/sys/class/net").glob(f"wh{number}[vb]*")]
    return [*spaces, *links]


def leftovers() -> tuple[set[str], set[str]]:
    """Network devices and namespaces of Wherry, of all clusters."""
    spaces = {path.name for path in Path("/run/netns").glob("wh*")}
    return spaces, {path.name for path in Path("/sys/class/net").glob("wh*")}


def shaping(cluster: Cluster) -> str:
    command = ["tc", "-n", cluster.hostnames[0], "qdisc", "show", "dev", "eth0"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


SENDER = """
import socket, sys, time
target = socket.create_connection((sys.argv[1], 4000))
for _ in range(12): target.sendall(bytes(65536))
target.shutdown(socket.SHUT_WR)
target.recv(1)
"""
RECEIVER = """
import json, socket, time
server = socket.create_server(("0.0.0.0", 4000))
print("ready", flush=True)
peer, _ = server.accept()
total = len(peer.recv(65536))
start = time.monotonic()
while part := len(peer.recv(65536)): total += part
print(json.dumps([total, time.monotonic() - start]), flush=True)
"""


def throughput(cluster: Cluster) -> float:
    """Bytes per second from the first host to the second."""
    python = str(Path(sys.executable).resolve())
    enter = ["ip", "netns", "exec"]
    command = [*enter, cluster.hostnames[1], python, "-c", RECEIVER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as receiver:
        assert receiver.stdout is not None and receiver.stdout.readline() == "ready\n"
        sender = [*enter, cluster.hostnames[0], python, "-c", SENDER, cluster.addresses[1]]
        subprocess.run(sender, check=True, timeout=60)
        total, seconds = json.loads(receiver.stdout.readline())
    assert total == 12 * 65536
    return total / seconds


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def command_line(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")


def pids_in(namespace: str) -> list[str]:
    return subprocess.run(
        ["ip", "netns", "pids", namespace], capture_output=True, text=True, check=False
    ).stdout.split()


def wait_until(condition: object, patience_s: float = 60) -> None:
    """Waits for something that another process does; the patience only ends a test that has failed."""
    assert callable(condition)
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
