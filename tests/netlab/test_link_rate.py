"""`wherry tune --model` finds the rate of the links. By root only; by the clock, where the links set it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import Launcher, on

from wherry import netlab, paths
from wherry.bench.frame import Setup
from wherry.mpis import Mpi
from wherry.netlab import Cluster
from wherry.tune import model

HOSTS, RANKS = 4, 8
FAST_BYTES_PER_S = 1e9 / 8
#: So slow that a byte's time is the link's and not the processor's, whatever else runs there.
SLOW, SLOW_BYTES_PER_S = "100mbit", 100e6 / 8
#: Frames, IP and TCP add 5% to the bytes of messages.
LEAST, MOST = 0.95, 1.2


@pytest.fixture
def tuning(mpi: Launcher, build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that is fitted into, where `mpi` can measure a cluster."""
    if reason := why_not_here(mpi.mpi):
        pytest.skip(reason)
    for name, value in mpi.mpi.environment().items():
        monkeypatch.setenv(name, value)
    file = tmp_path / "tuning"
    monkeypatch.setenv("WHERRY_TUNING_FILE", str(file))
    return file


def why_not_here(mpi: Mpi) -> str | None:
    if reason := netlab.why_unavailable() or netlab.why_not_on_cluster(mpi):
        return reason
    built = paths.bench_program(mpi.name, "model").exists()
    return None if built else f"bench_model is not built for {mpi.name}; run: make build"


@on("openmpi", "mpich")
def test_rate_of_slow_links_is_found(mpi: Launcher, tuning: Path) -> None:
    with Cluster(HOSTS, SLOW) as cluster:
        constants = fitted(Setup(mpi=mpi.mpi, quick=True), cluster.command(mpi.mpi, RANKS, []))
    assert LEAST < constants["beta_between"] * SLOW_BYTES_PER_S < MOST, constants
    assert tuning.exists()


@on("openmpi", "mpich")
def test_cluster_shows_every_constant_and_no_link_is_too_fast(mpi: Launcher, tuning: Path) -> None:
    constants = fitted(Setup(mpi=mpi.mpi, quick=True, netlab=True, hosts=HOSTS), [])
    assert constants["beta_between"] * FAST_BYTES_PER_S > LEAST, constants
    assert tuning.exists()


def fitted(setup: Setup, launcher: Sequence[str]) -> dict[str, float]:
    """What was measured of a cluster: all but perhaps the rendezvous, which not every MPI shows."""
    found = model.fit(setup, RANKS, launcher)
    assert (found.measured.ranks, found.measured.nodes) == (RANKS, HOSTS)
    seen = {row.name: row.value for row in found.constants if row.origin == "measured"}
    assert {row.name for row in found.constants} - set(seen) <= {"rendezvous"}
    return seen
