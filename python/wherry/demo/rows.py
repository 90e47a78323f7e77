"""What the demo runs: programs of `wherry bench programs`, each on one MPI and in one place. A new row is one here."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Literal

from wherry.bench import programs
from wherry.bench.programs import CLUSTER_RANKS, ProgramSetting
from wherry.compare import Experiment
from wherry.measure.harness import Progress
from wherry.measure.record import Measurement
from wherry.netlab import Cluster, why_not_on_cluster
from wherry.provenance import commit, machine
from wherry.run.launch import TITLES
from wherry.run.mpis import Mpi, why_missing

Group = Literal["node", "cluster", "crowded"]

HOSTS, RATE = 4, "1gbit"
CORES = len(os.sched_getaffinity(0))
_MOST_RANKS = 16  # of a row; the programs' inputs are small
_PARTS = 1000  # of a row, for the progress


@dataclass(frozen=True)
class DemoRow:
    key: str  # for --only
    program: str  # of `wherry bench programs`
    title: str
    mpi: str
    place: Group = "node"

    @property
    def ranks(self) -> int:
        return {"node": min(max(CORES, 2), _MOST_RANKS), "cluster": CLUSTER_RANKS, "crowded": 2 * CORES}[self.place]

    @property
    def network(self) -> str:
        return f"{HOSTS} emulated hosts, {RATE}" if self.place == "cluster" else "shared memory"

    def where(self) -> str:
        """As people say it; more ranks than cores on one host are named so."""
        cores = "1 core" if CORES == 1 else f"{CORES} cores"
        if self.place == "cluster":
            return f"{self.ranks} ranks on {HOSTS} emulated hosts"
        return f"{self.ranks} ranks on {cores}" + (", more ranks than cores" if self.ranks > CORES else "")


ROWS = (
    DemoRow("lammps", "LAMMPS, salt", "LAMMPS", "mpich"),
    DemoRow("fft", "mpi4py-fft, pencils", "mpi4py-fft", "mpich"),
    DemoRow("heat", "heat", "heat conduction, NumPy", "openmpi"),
    DemoRow("kmeans", "k-means", "k-means, NumPy", "intel"),
    DemoRow("training", "train, 1 MB", "neural network training, NumPy", "intel"),
    DemoRow("training", "train, 58 KB", "neural network training, NumPy", "openmpi", "cluster"),
    DemoRow("lammps", "LAMMPS, salt", "LAMMPS", "mpich", "crowded"),
)


def measure(
    rows: Sequence[DemoRow], mpis: Mapping[str, Mpi], no_cluster: str | None, experiment: Experiment, progress: Progress
) -> list[Measurement]:
    """A record for each row. no_cluster: why there is no emulated cluster."""
    with ExitStack() as stack:
        wanted = no_cluster is None and any(row.place == "cluster" and row.mpi in mpis for row in rows)
        cluster = stack.enter_context(Cluster(HOSTS, RATE)) if wanted else None
        found = []
        for number, row in enumerate(rows):
            reason = _why_not(row, mpis, no_cluster)
            if reason is None:
                setting = ProgramSetting(
                    mpis[row.mpi], mpis, row.ranks, experiment, cluster if row.place == "cluster" else None
                )
                record = programs.measured(programs.program(row.program), setting, _part(progress, number, len(rows)))
            else:
                blank = programs.blank(row.program, row.mpi, row.ranks, row.network)
                record = programs.not_measured(blank, "skipped", reason)
            found.append(_described(record, row, mpis))
    return found


def _why_not(row: DemoRow, mpis: Mapping[str, Mpi], no_cluster: str | None) -> str | None:
    if row.mpi not in mpis:
        return why_missing(row.mpi)
    if row.place == "cluster":
        return no_cluster or why_not_on_cluster(mpis[row.mpi])
    if row.place == "crowded" and row.ranks > 2 * _MOST_RANKS:
        return f"{row.ranks} ranks would be needed for more ranks than cores, and the input is too small for them"
    return None


def _described(record: Measurement, row: DemoRow, mpis: Mapping[str, Mpi]) -> Measurement:
    mpi = mpis.get(row.mpi)
    library = f"{TITLES[mpi.family]} {mpi.version}" if mpi else row.mpi
    about = programs.program(row.program).about
    shown = {"title": row.title, "about": about, "library": library, "place": row.place, "where": row.where()}
    return record | {"bench": "demo", "machine": machine(), "commit": commit(), **shown}


def _part(progress: Progress, number: int, rows: int) -> Progress:
    def told(what: str, done: int, total: int) -> None:
        progress(what, number * _PARTS + done * _PARTS // max(total, 1), rows * _PARTS)

    return told
