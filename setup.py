"""What pyproject.toml cannot say: `pip install .` builds the shared libraries of the Python API and takes them along.

They go into the package, wherry/lib/, one per MPI ABI whose headers are found (cmake/WherryMpi.cmake). Without CMake, a
compiler or an MPI the tool is installed without them; wherry.alltoall then says so. An editable install has no need
of copies: CMake installs beside it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
TREE = ROOT / "build" / "release"


class BuildWithLibraries(build_py):
    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib) / "wherry" / "lib"
        target.mkdir(parents=True, exist_ok=True)
        for library in build_libraries():
            shutil.copyfile(library, target / library.name)


class PlatformWheel(bdist_wheel):
    """Any Python 3, this platform: the libraries know nothing of Python."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self) -> tuple[str, str, str]:
        return ("py3", "none", super().get_tag()[2])


def build_libraries() -> list[Path]:
    """libwherry_api_<abi>.so of this checkout, up to date; none if they cannot be built here."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    commands = [["cmake", "--preset", "release"], ["cmake", "--build", "--preset", "release", "--target", "wherry_api"]]
    try:
        # A tree that is there keeps the generator and the tools that made it.
        for command in commands[1:] if (TREE / "build.ninja").exists() else commands:
            subprocess.run(command, cwd=ROOT, env=environment, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"wherry: without the shared libraries: {error}", file=sys.stderr)
        return []
    return sorted((TREE / "lib").glob("libwherry_api_*.so"))


setup(cmdclass={"build_py": BuildWithLibraries, "bdist_wheel": PlatformWheel})
