"""For the tests of the public API: Wherry as a user has it, installed by CMake and by pip."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

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


def pip_install(target: Path) -> Path:
    """`pip install .` into a folder, which is then put on PYTHONPATH. Takes no package from the network."""
    options = ["--quiet", "--disable-pip-version-check", "--no-build-isolation", "--no-deps", "--target", target]
    run_tool([sys.executable, "-m", "pip", "install", *options, ROOT])
    return target
