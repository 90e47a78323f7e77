"""Wherry as other projects find it: find_package, pkg-config and pip; the examples are such projects."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, THOROUGH, Launcher, hermetic
from installing import TOOLS, made_once, run_tool

from wherry.run.mpis import MPI_NAMES

EXAMPLES = ROOT / "examples"
RANKS = (1, 4)
#: In C and in C++: enough to see that the compilers of an MPI find Wherry.
FEW = ("transpose", "halo")
# What the first line of an example's output begins with, when its result is right.
OUTPUT = {
    "transpose": "transpose: right, last by ",
    "spread": "spread: right, last by ",
    "shuffle": "shuffle: ",
    "power": "power: right, ",
    "redistribute.py": "redistribute: right, last by ",
    "histogram.py": "histogram: right, ",
    "halo": "halo: right, ",
    "steps": "steps: right, by ",
    "migrate.py": "migrate: right, ",
}


@pytest.fixture(scope="session")
def prefix(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`cmake --install` to somewhere else than it was built for."""
    return made_once(
        tmp_path_factory, "prefix", lambda target: run_tool(["cmake", "--install", build, "--prefix", target])
    )


def compiled(mpi: str) -> list[str]:
    """The examples that are built by the compilers of an MPI."""
    return [name for name in OUTPUT if not name.endswith(".py") and (mpi in THOROUGH or name in FEW)]


@pytest.fixture(scope="session")
def examples(mpi: Launcher, prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples, built by this MPI's compilers against the installed Wherry."""
    if mpi.mpicc is None or mpi.mpicxx is None:
        pytest.skip(f"{mpi.name} has no compilers")
    tree = tmp_path_factory.mktemp(f"examples-{mpi.name}")
    compilers = [f"-DMPI_C_COMPILER={mpi.mpicc}", f"-DMPI_CXX_COMPILER={mpi.mpicxx}"]
    run_tool(["cmake", "-G", "Ninja", "-S", EXAMPLES, "-B", tree, f"-DCMAKE_PREFIX_PATH={prefix}", *compilers], mpi.env)
    run_tool(["cmake", "--build", tree, "--target", *compiled(mpi.name)], mpi.env)
    return tree


@pytest.mark.parametrize("n", RANKS)
@pytest.mark.parametrize("mpi,name", [(mpi, name) for mpi in MPI_NAMES for name in compiled(mpi)], indirect=["mpi"])
def test_examples_built_with_cmake(mpi: Launcher, examples: Path, name: str, n: int) -> None:
    done = mpi.run([examples / name], n, hermetic({}))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(OUTPUT[name])


@pytest.mark.parametrize("n", RANKS)
@pytest.mark.parametrize("name", [name for name in OUTPUT if name.endswith(".py")])
def test_python_example(mpi: Launcher, installed: Path, name: str, n: int) -> None:
    if mpi.python is None:
        pytest.skip(f"{mpi.name} has no mpi4py")
    env = {"PYTHONPATH": str(installed), **hermetic({})}
    done = mpi.run([mpi.python, EXAMPLES / name], n, env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(OUTPUT[name])


def test_examples_are_all_run() -> None:
    names = {path.name.removesuffix(".c").removesuffix(".cpp") for path in EXAMPLES.iterdir()}
    assert names - {"CMakeLists.txt"} == set(OUTPUT)


def test_pkg_config(mpi: Launcher, prefix: Path, tmp_path: Path) -> None:
    if shutil.which("pkg-config") is None:
        pytest.skip("no pkg-config; as root: apt-get install pkg-config")
    if mpi.mpicc is None:
        pytest.skip(f"{mpi.name} has no compiler")
    query = ["pkg-config", "--cflags", "--libs", f"wherry-{mpi.abi}"]
    flags = run_tool([*query], {**mpi.env, "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}).split()
    target = tmp_path / "transpose"
    run_tool([mpi.mpicc, "-o", target, EXAMPLES / "transpose.c", *flags], mpi.env)
    done = mpi.run([target], 2, hermetic({}))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("abi", ["openmpi", "mpich", "abi"])
def test_only_the_c_api_leaves_the_library(build: Path, abi: str) -> None:
    library = build / "lib" / f"libwherry_api_{abi}.so"
    if not library.exists():
        pytest.skip(f"no headers of the ABI {abi} were found when Wherry was built; run: make setup")
    if shutil.which("readelf") is None:
        pytest.skip("no readelf; as root: apt-get install binutils")
    symbols = run_tool(["readelf", "--dyn-syms", "--wide", library]).splitlines()
    defined = {line.split()[7] for line in symbols if " GLOBAL " in line and " UND " not in line}
    assert defined == set(functions_of_headers())
    assert "libmpi" not in run_tool(["readelf", "--dynamic", "--wide", library]).replace("Library soname", "")


def functions_of_headers() -> list[str]:
    headers = ("wherry.h", "collectives.h", "window.h")
    text = "".join((ROOT / "include/wherry" / name).read_text() for name in headers)
    code = [line for line in text.splitlines() if not line.startswith("//")]
    return [line.split("(")[0].split("*")[-1].split()[-1] for line in code if "wherry_" in line and "(" in line]


def test_another_abi_is_refused(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    """Handles of another ABI would crash in the first call."""
    other = {"openmpi": "mpich", "mpich": "abi", "abi": "mpich"}[mpi.abi]
    library = build / "lib" / f"libwherry_api_{other}.so.0"
    if not library.exists():
        pytest.skip(f"no headers of the ABI {other} were found when Wherry was built; run: make setup")
    (tmp_path / f"libwherry_api_{mpi.abi}.so.0").symlink_to(library)
    folders = f"{tmp_path}:{mpi.env.get('LD_LIBRARY_PATH', '')}"
    done = mpi.run([build / "tests/api" / mpi.name / "errors"], 1, {"LD_LIBRARY_PATH": folders})
    assert done.returncode != 0
    assert f"link the program to Wherry::{mpi.abi}" in done.stdout + done.stderr


def test_library_that_is_missing_is_named(mpi: Launcher) -> None:
    """The Python module alone, as in a checkout that is not built."""
    if mpi.python is None:
        pytest.skip(f"{mpi.name} has no mpi4py")
    code = "import numpy as np, wherry; from mpi4py import MPI; wherry.alltoall(np.ones(1), np.ones(1), MPI.COMM_SELF)"
    done = mpi.run([mpi.python, "-c", code], 1, {"PYTHONPATH": str(ROOT / "python")})
    assert done.returncode != 0
    assert f"libwherry_api_{mpi.abi}.so does not exist" in done.stderr
    assert "make build" in done.stderr


def test_command_line_does_not_load_mpi() -> None:
    code = "import sys, wherry.cli; sys.exit('mpi4py' in sys.modules)"
    assert subprocess.run([TOOLS / "python", "-c", code], cwd=ROOT, check=False).returncode == 0
