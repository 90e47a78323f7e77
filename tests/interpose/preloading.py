"""For the tests of the preload: compiling their programs and reading what was recorded."""

from __future__ import annotations

import atexit
import hashlib
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest
from conftest import Launcher

from wherry.analysis.record import Record, read, text
from wherry.run.mpis import find_mpi, why_missing

PROGRAMS = Path(__file__).resolve().parent / "programs"

PROGRESSED = ("openmpi", "mpich")  # the libraries that tests run at every number of ranks; both let Wherry take part

_COLLECTIVES = (
    "Alltoall Alltoallv Alltoallw Allgather Bcast Gather Scatter Reduce Allreduce Reduce_scatter_block Allgatherv"
    " Reduce_scatter Barrier"
)
_STRATEGIES = {
    "several": (
        "bruck2 bruck2 mesh bruck binomial binomial binomial binomial recursive_doubling ring bruck pairwise"
        " dissemination"
    ),
    "others": "pairwise direct pairwise ring chain linear linear binary_tree ring pairwise ring direct binomial",
}
#: A strategy for each collective, twice; they apply to any number of ranks above two.
FORCED = {
    name: dict(zip(_COLLECTIVES.split(), strategies.split(), strict=True)) for name, strategies in _STRATEGIES.items()
}


def asking_for(strategies: Mapping[str, str]) -> dict[str, str]:
    """The environment in which each collective runs by the strategy that is named for it."""
    return {f"WHERRY_{collective.upper()}": strategy for collective, strategy in strategies.items()}


def compile_program(mpi: Launcher, name: str, target: Path, options: Sequence[str] = ()) -> Path:
    """Builds programs/<name> with the compiler of this MPI; skips if it has none for the language."""
    compiler = mpi.mpifort if name.endswith(".f90") else mpi.mpicc
    if compiler is None:
        pytest.skip(f"{mpi.name} has no compiler for {name}")
    return run_compiler(compiler, PROGRAMS / name, target, options, mpi.env)


def run_compiler(
    compiler: Path, source: Path, target: Path, options: Sequence[str], env: Mapping[str, str] | None = None
) -> Path:
    """A copy of what this process has compiled before, if it has: many tests share a program."""
    made = _compiled_folder() / hashlib.sha256("\0".join(map(str, (compiler, source, *options))).encode()).hexdigest()
    if not made.exists():
        command = [str(compiler), "-O1", "-o", str(made), str(source), *options]
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    shutil.copy(made, target)
    return target


@cache
def _compiled_folder() -> Path:
    folder = tempfile.mkdtemp(prefix="wherry-programs-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def records_in(folder: Path) -> list[Record]:
    return [read(path) for path in sorted(folder.glob("*.wrec"))]


def calls_of(record: Record) -> Counter[str]:
    """How often each function was called."""
    counts: Counter[str] = Counter()
    for row in record.tables["calls"]:
        counts[record.function(row["function"])] += int(row["count"])
    return counts


def uses_of(record: Record) -> set[tuple[str, str]]:
    """What ran: functions, and the strategies that they ran by."""
    return {(record.function(row["function"]), text(row["strategy"])) for row in record.tables["uses"]}


def blocking_uses(record: Record) -> set[tuple[str, str]]:
    """The same, with the names of collectives as users write them."""
    return {(function.removeprefix("MPI_").lower(), strategy) for function, strategy in uses_of(record)}


def launcher_of(name: str) -> Launcher:
    mpi = find_mpi(name)
    if mpi is None:
        pytest.skip(why_missing(name))
    return Launcher(mpi)


class Runs:
    """A program on one MPI that writes what it gets to files, and what that is without Wherry."""

    def __init__(self, launcher: Launcher, source: str, folder: Path) -> None:
        self.launcher = launcher
        self.folder = folder
        self.program = compile_program(launcher, source, folder / Path(source).stem)

    def without(self, n: int) -> list[bytes]:
        folder = self.folder / f"without-{n}"
        if not folder.exists():
            self._run(folder, n, {}, preload=False)
        return self._results(folder, n)

    def natively(self, n: int, env: Mapping[str, str], folder: Path) -> list[bytes]:
        """The same with other settings of the program."""
        self._run(folder, n, env, preload=False)
        return self._results(folder, n)

    def with_wherry(self, n: int, env: Mapping[str, str], out: Path) -> tuple[list[bytes], list[Record]]:
        """What each rank got, and its record. out: an empty folder, or none yet."""
        out.mkdir(exist_ok=True)
        self._run(out / "results", n, {**env, "WHERRY_OUTPUT": str(out)}, preload=True)
        records = records_in(out)
        assert len(records) == n
        return self._results(out / "results", n), records

    def _run(self, folder: Path, n: int, env: Mapping[str, str], preload: bool) -> None:
        folder.mkdir()
        done = self.launcher.run([self.program, folder], n, env, preload=preload, timeout=180)
        assert done.returncode == 0, done.stdout + done.stderr

    @staticmethod
    def _results(folder: Path, n: int) -> list[bytes]:
        found = [(folder / f"rank-{rank}").read_bytes() for rank in range(n)]
        assert all(found)
        return found


def sites_of(record: Record, function: str) -> set[str]:
    """The files that hold the call sites of a function."""
    rows = [row for row in record.tables["calls"] if record.function(row["function"]) == function]
    modules = record.tables["modules"].column("path")
    return {Path(bytes(modules[row["module"]]).split(b"\0")[0].decode()).name for row in rows}
