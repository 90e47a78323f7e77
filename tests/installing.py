"""For the tests of the public API: Wherry as a user has it, installed by CMake and by pip."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from conftest import ROOT, clean_environment

# CMake and Ninja live beside the interpreter that runs the tests.
TOOLS = Path(sys.executable).parent


def run_tool(command: list[str | Path], env: Mapping[str, str] | None = None, cwd: Path = ROOT) -> str:
    """Runs a build tool; the test fails with its output if it does."""
    variables = dict(env or clean_environment())
    variables["PATH"] = f"{TOOLS}{os.pathsep}{variables['PATH']}"
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that all workers of a test run share: `make` fills it, in the first that asks."""
    base = factory.getbasetemp()
    home = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    target, whole = home / name, home / f"{name}.whole"
    with (home / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not whole.exists():
            make(target)
            whole.touch()
    return target


def pip_install(target: Path) -> None:
    """`pip install .` into a folder, which is then put on PYTHONPATH. Takes no package from the network."""
    options = ["--quiet", "--disable-pip-version-check", "--no-build-isolation", "--no-deps", "--target", target]
    run_tool([sys.executable, "-m", "pip", "install", *options, ROOT])


@pytest.fixture(scope="session")
def installed(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wherry as pip installs it."""
    return made_once(tmp_path_factory, "site", pip_install)
