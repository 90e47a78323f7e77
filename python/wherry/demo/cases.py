"""What the demo runs: one row per program, MPI and place."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from wherry.demo.programs import ALLTOALL, FFT, IMB, LAMMPS, Missing, Program, Start
from wherry.netlab import why_not_on_cluster
from wherry.run.mpis import Mpi, why_missing

HOSTS, RATE = 4, "1gbit"
#: Of this process. The FFT has 32 slabs to share out.
CORES = min(len(os.sched_getaffinity(0)), 32)
_IMB = ("-iter_policy", "off", "-time", "20", "-msgsize", "64,1024,16384")


@dataclass(frozen=True)
class Case:
    program: Program
    variant: str  # of the program, or empty
    mpi: str
    ranks: int
    cluster: bool  # on the emulated hosts, else on this machine
    options: tuple[str, ...]
    learning: tuple[str, ...] = ()  # instead of `options` in the launch that learns; must give the same answer

    @property
    def name(self) -> str:
        """Also the name of its folder."""
        words = (self.program.name, self.variant, self.mpi, str(self.ranks), "cluster" if self.cluster else "node")
        return "-".join(word for word in words if word)

    @property
    def title(self) -> str:
        return f"{self.program.title}, {self.variant}" if self.variant else self.program.title

    @property
    def is_crowded(self) -> bool:
        """More ranks than cores on one host: a case of its own, whose times say how the MPI library waits."""
        return not self.cluster and self.ranks > CORES

    @property
    def place(self) -> str:
        if self.cluster:
            return f"{self.ranks} on {HOSTS} hosts"
        return f"{self.ranks} on {cores(CORES)}" if self.is_crowded else f"{self.ranks} on 1 host"

    def __str__(self) -> str:
        return f"{self.title}, {self.mpi}, {self.place.replace(' on', ' ranks on')}"


def _fft(grid: str, points: int, repeat: int) -> tuple[str, ...]:
    return ("--shape", *[str(points)] * 3, "--grid", grid, "--repeat", str(repeat))


def _imb(ranks: int, iterations: int) -> tuple[str, ...]:
    return ("-npmin", str(ranks), "-iter", str(iterations), *_IMB)


def _calls(batches: int) -> tuple[str, ...]:
    return ("--batches", str(batches), "--calls", "10")


def cores(number: int) -> str:
    return "1 core" if number == 1 else f"{number} cores"


_FEW = max(CORES, 2)  # as many ranks as there are cores
_MANY = 2 * _FEW  # more of them: MPICH and Intel MPI spin while they wait, so a call may take milliseconds

# Where it is affordable the launch that learns makes more than 512 calls of each size: then Wherry looks at its choice
# again twice, when connections are up and the first trials' bad luck is past.
CASES = (
    Case(FFT, "slabs", "openmpi", _FEW, False, _fft("slab", 32, 200), _fft("slab", 32, 300)),
    Case(FFT, "slabs", "mpich", _FEW, False, _fft("slab", 32, 200), _fft("slab", 32, 300)),
    Case(LAMMPS, "", "mpich", _FEW, False, ("10", "15")),
    Case(LAMMPS, "", "intel", _FEW, False, ("10", "30")),
    Case(IMB, "", "intel", _FEW, False, _imb(_FEW, 1000)),
    Case(IMB, "", "mpich", _FEW, False, _imb(_FEW, 1000)),
    Case(FFT, "slabs", "openmpi", 8, True, _fft("slab", 32, 200), _fft("slab", 32, 300)),
    Case(FFT, "pencils", "openmpi", 8, True, _fft("pencil", 32, 150), _fft("pencil", 32, 300)),
    Case(ALLTOALL, "", "openmpi", 8, True, _calls(30), _calls(60)),
    Case(FFT, "slabs", "openmpi", _MANY, False, _fft("slab", 32, 60), _fft("slab", 32, 300)),
    Case(LAMMPS, "", "mpich", _MANY, False, ("10", "10")),
)


@dataclass(frozen=True)
class Skipped:
    case: Case
    reason: str


@dataclass(frozen=True)
class Ready:
    """A case that can run."""

    case: Case
    mpi: Mpi
    start: Start
    learning: Start


def select(cases: Sequence[Case], mpis: Sequence[Mpi], no_cluster: str | None) -> tuple[list[Ready], list[Skipped]]:
    """What can run here, and why the rest cannot. no_cluster: why there is no emulated cluster."""
    known = {mpi.name: mpi for mpi in mpis}
    ready: list[Ready] = []
    skipped: list[Skipped] = []
    for case in cases:
        try:
            ready.append(_prepare(case, known, no_cluster))
        except Missing as reason:
            skipped.append(Skipped(case, str(reason)))
    return ready, skipped


def _prepare(case: Case, known: dict[str, Mpi], no_cluster: str | None) -> Ready:
    mpi = known.get(case.mpi)
    if mpi is None:
        raise Missing(why_missing(case.mpi))
    if case.cluster and (reason := no_cluster or why_not_on_cluster(mpi)):
        raise Missing(reason)
    start = case.program.start(mpi, known, case.options)
    return Ready(case, mpi, start, case.program.start(mpi, known, case.learning or case.options))
