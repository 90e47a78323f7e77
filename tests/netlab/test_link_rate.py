"""`wherry tune --model` finds the rate of the links. By root only; by the clock, where the links set it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Launcher, clean_environment, on

from wherry import netlab, paths
from wherry.netlab import Cluster
from wherry.run.mpis import Mpi
from wherry.schedule import plan
from wherry.tune import store

HOSTS, RANKS = 4, 8
#: So slow that a byte's time is the link's and not the processor's, whatever else runs there.
SLOW, SLOW_BYTES_PER_S = "100mbit", 100e6 / 8
#: What --netlab gives: a busy processor makes such links look slower, but nothing makes them look faster.
FAST_BYTES_PER_S = 1e9 / 8
#: Frames, IP and TCP add 5% to the bytes of messages.
LEAST, MOST = 0.95, 1.2


@on("openmpi", "mpich")
def test_rate_of_slow_links_is_found(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    skip_without_cluster(mpi.mpi)
    with Cluster(HOSTS, SLOW) as cluster:
        constants = fitted(mpi, tmp_path / "tuning", "--", *cluster.command(mpi.mpi, RANKS, []))
    assert LEAST < constants["beta_between"] * SLOW_BYTES_PER_S < MOST, constants


@on("openmpi", "mpich")
def test_no_link_of_the_cluster_is_found_too_fast(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    skip_without_cluster(mpi.mpi)
    constants = fitted(mpi, tmp_path / "tuning", "--netlab")
    assert constants["beta_between"] * FAST_BYTES_PER_S > LEAST, constants


def skip_without_cluster(mpi: Mpi) -> None:
    if reason := netlab.why_unavailable() or netlab.why_not_on_cluster(mpi):
        pytest.skip(reason)
    if not paths.bench_program(mpi.name, "model").exists():
        pytest.skip(f"bench_model is not built for {mpi.name}; run: make build")


def fitted(mpi: Launcher, tuning: Path, *words: str) -> dict[str, float]:
    """The constants in the tuning file: all but perhaps the rendezvous, which not every MPI shows."""
    command = [sys.executable, "-m", "wherry", "tune", "--model", "--quick", "--mpi", mpi.name, *words]
    # Whose launcher is given must do what it needs to start: Open MPI's asks root for a word.
    env = {**clean_environment(), **mpi.mpi.environment(), "WHERRY_TUNING_FILE": str(tuning)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert f"{RANKS} ranks on {HOSTS} nodes" in " ".join(done.stdout.split())
    names = [row["name"] for row in json.loads(plan.ask(["fit"], "exchange within 8 1 1e-6"))]
    row = next(row for row in tuning.read_text().splitlines() if row.startswith("machine "))
    values = dict(zip(names, row.split(" ")[3:], strict=True))
    assert "-" not in {value for name, value in values.items() if name != "rendezvous"}, values
    assert len(store.fitted_with(tuning)) == 1
    return {name: float(value) for name, value in values.items() if value != "-"}
