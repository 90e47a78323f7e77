"""For the tests of the applications: where they run, and what all of them do alike."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from conftest import ROOT, THOROUGH, Launcher, hermetic, on, with_programs

on_every = with_programs()
# What does not depend on the MPI beyond its launcher, or not at all.
on_two = on(*THOROUGH)
#: Bears more ranks than cores.
on_one = on("openmpi")
#: Starts in a tenth of the time: for runs that end before there is anything to compute.
on_quick = on("mpich")

NEEDS = {
    "pme": ("FFTW", "libfftw3-dev"),
    "barnes_hut": ("Highway", "libhwy-dev"),
    "lj_fluid": ("Highway", "libhwy-dev"),
    "nbody": ("Highway", "libhwy-dev"),
}


def application(mpi: Launcher, build: Path, name: str) -> Path:
    return built(build / "apps" / mpi.name / name, name)


def check_of(mpi: Launcher, build: Path, name: str) -> Path:
    """The program that looks whether the application's own checks find what is wrong."""
    return built(build / "tests" / "apps" / mpi.name / f"check_{name}", name)


def built(path: Path, name: str) -> Path:
    """Skips what an application needs that is not there."""
    if not path.is_file() and name in NEEDS:
        library, package = NEEDS[name]
        pytest.skip(f"{name} is not built: {library} is missing (as root: apt-get install {package})")
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


def oracle(environment: str, script: Path, *words: str | Path, **variables: str) -> str:
    """What other people's software says, which `make setup` installs in an environment of its own."""
    python = ROOT / ".cache" / environment / "bin" / "python"
    if not python.is_file():
        pytest.skip("the software to compare with is not there; run: make setup")
    command = [str(word) for word in (python, script, *words)]
    done = subprocess.run(
        command, env={**os.environ, **variables}, capture_output=True, text=True, check=False, timeout=300
    )
    return output(done)


def check_refused(done: CompletedProcess[str], message: str) -> None:
    """All ranks end as after wrong usage, before any work, and one says why."""
    assert done.returncode == 2, done.stdout + done.stderr
    assert (done.stdout + done.stderr).count(message) == 1
    assert "plain MPI" not in done.stdout
