"""For the tests of the preload: compiling their programs and reading what was recorded."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from conftest import Launcher

from wherry.record import Record, read

PROGRAMS = Path(__file__).resolve().parent / "programs"


def compile_program(mpi: Launcher, name: str, target: Path, options: Sequence[str] = ()) -> Path:
    """Builds programs/<name> with the compiler of this MPI; skips if it has none for the language."""
    compiler = mpi.mpifort if name.endswith(".f90") else mpi.mpicc
    if compiler is None:
        pytest.skip(f"{mpi.name} has no compiler for {name}")
    return run_compiler(compiler, PROGRAMS / name, target, options, mpi.env)


def run_compiler(
    compiler: Path, source: Path, target: Path, options: Sequence[str], env: Mapping[str, str] | None = None
) -> Path:
    command = [str(compiler), "-O1", "-o", str(target), str(source), *options]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return target


def records_in(folder: Path) -> list[Record]:
    return [read(path) for path in sorted(folder.glob("*.wrec"))]


def calls_of(record: Record) -> Counter[str]:
    """How often each function was called."""
    counts: Counter[str] = Counter()
    for row in record.tables["calls"]:
        counts[record.function(row["function"])] += int(row["count"])
    return counts


def sites_of(record: Record, function: str) -> set[str]:
    """The files that hold the call sites of a function."""
    rows = [row for row in record.tables["calls"] if record.function(row["function"]) == function]
    modules = record.tables["modules"]["path"]
    return {Path(bytes(modules[row["module"]]).split(b"\0")[0].decode()).name for row in rows}
