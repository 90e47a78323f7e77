"""Runs of nbody, and what they print and write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess

import launching
from conftest import Launcher

CHECKED = "checked: accelerations agree with the scalar kernel's, and ranks that move all bodies with each other"
HEADER = "m,x,y,z,vx,vy,vz\n"

# More threads than cores must not wait in a loop for each other.
PATIENT = {"OMP_WAIT_POLICY": "passive"}


def run(mpi: Launcher, build: Path, n: int, words: Sequence[str | Path]) -> CompletedProcess[str]:
    return launching.run(mpi, build, "nbody", n, words, PATIENT)


def bodies_of(path: Path) -> list[list[float]]:
    """The rows of a file: m, x, y, z, vx, vy, vz."""
    lines = [line for line in path.read_text().splitlines() if line[:1] not in ("#", "m")]
    return [[float(field) for field in line.split(",")] for line in lines]


def output(done: CompletedProcess[str]) -> str:
    assert CHECKED in launching.output(done)
    return done.stdout
