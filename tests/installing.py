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


PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
#: From the tree that is built, as configured there: not once more.
FROM_TREE = ["build-dir=build/release", "cmake.define.WHERRY_PROGRAMS=true", "cmake.define.WHERRY_TESTS=true"]


def build_wheel(folder: Path) -> None:
    """What `pip install .` makes. Takes no package from the network."""
    settings = [word for setting in FROM_TREE for word in ("--config-settings", setting)]
    run_tool([*PIP, "wheel", "--no-build-isolation", "--no-deps", *settings, "-w", folder, ROOT])


def pip_install(wheel: Path, target: Path) -> None:
    """Into a folder, which is then put on PYTHONPATH."""
    run_tool([*PIP, "install", "--no-deps", "--target", target, wheel])


@pytest.fixture(scope="session")
def wheel(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    (made,) = made_once(tmp_path_factory, "wheel", build_wheel).glob("*.whl")
    return made


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wherry as pip installs it."""
    return made_once(tmp_path_factory, "site", lambda target: pip_install(wheel, target))
