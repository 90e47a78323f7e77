"""For the tests of the program's heap: programs that allocate in each step and count their page faults."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import WATCHED_MEMORY, Launcher
from preloading import PROGRAMS, compile_program

from wherry.run.settings import VARIABLES

_LINE = re.compile(r"rank (\d+) faults (\d+) later (\d+) peak (\d+) sum +(\S+) seconds ([\d.]+)")

#: Every collective native.
NATIVE = {name: "native" for name, variable in VARIABLES.items() if variable.names is not None}


@dataclass(frozen=True)
class Counts:
    """What a rank counted: page faults of all steps and of the later half, peak memory in KiB."""

    rank: int
    faults: int
    later: int
    peak: int
    answer: str


def program(mpi: Launcher, source: str, folder: Path) -> list[str | Path]:
    """The command of a rank; skips with the reason if this MPI has no compiler or interpreter for it."""
    if not source.endswith(".py"):
        return [compile_program(mpi, source, folder / "program")]
    if mpi.python is None:
        pytest.skip(f"{mpi.name} has no Python of its own")
    return [mpi.python, PROGRAMS / source]


def counts(
    mpi: Launcher, command: Sequence[str | Path], env: Mapping[str, str] | None = None, preload: bool = False
) -> list[Counts]:
    """What the ranks of one run print, by rank."""
    done = mpi.run(command, n=2, env={"OMP_NUM_THREADS": "1", **WATCHED_MEMORY, **(env or {})}, preload=preload)
    assert done.returncode == 0, done.stdout + done.stderr
    found = [
        Counts(int(rank), int(faults), int(later), int(peak), answer)
        for rank, faults, later, peak, answer, _ in _LINE.findall(done.stdout)
    ]
    assert len(found) == 2, done.stdout + done.stderr
    return sorted(found, key=lambda count: count.rank)
