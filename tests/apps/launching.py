"""For the tests of the applications: where they run, and what all of them do alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from conftest import THOROUGH, Launcher, hermetic

# What does not depend on the MPI beyond its launcher, or not at all.
on_two = pytest.mark.parametrize("mpi", THOROUGH, indirect=True)
#: Bears more ranks than cores.
on_one = pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
#: Starts in a tenth of the time: for runs that end before there is anything to compute.
on_quick = pytest.mark.parametrize("mpi", ["mpich"], indirect=True)

MISSING = {
    "pme": "pme is not built: FFTW is missing (as root: apt-get install libfftw3-dev)",
    "nbody": "nbody is not built: Highway is missing (as root: apt-get install libhwy-dev)",
}


def application(mpi: Launcher, build: Path, name: str) -> Path:
    return built(build / "apps" / mpi.name / name, name)


def check_of(mpi: Launcher, build: Path, name: str) -> Path:
    """The program that looks whether the application's own checks find what is wrong."""
    return built(build / "tests" / "apps" / mpi.name / f"check_{name}", name)


def built(path: Path, name: str) -> Path:
    """Skips what an application needs that is not there."""
    if not path.is_file() and name in MISSING:
        pytest.skip(MISSING[name])
    return path


def run(
    mpi: Launcher, build: Path, name: str, n: int, words: Sequence[str | Path], env: Mapping[str, str] | None = None
) -> CompletedProcess[str]:
    return launch(mpi, application(mpi, build, name), n, words, env)


def launch(
    mpi: Launcher, program: Path, n: int, words: Sequence[str | Path] = (), env: Mapping[str, str] | None = None
) -> CompletedProcess[str]:
    return mpi.run([program, *words], n, {**hermetic({}), **(env or {})}, timeout=180)


def output(done: CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def check_refused(done: CompletedProcess[str], message: str) -> None:
    """All ranks end as after wrong usage, before any work, and one says why."""
    assert done.returncode == 2, done.stdout + done.stderr
    assert (done.stdout + done.stderr).count(message) == 1
    assert "plain MPI" not in done.stdout
