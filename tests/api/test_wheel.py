"""Wherry from its wheel, in a fresh virtual environment: what `pip install .` gives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT, Launcher, clean_environment, hermetic, on
from installing import made_once, run_tool


@pytest.fixture(scope="session")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the wheel alone: what it depends on comes from the environment of the tests, as no test uses the network."""

    def make(target: Path) -> None:
        run_tool([sys.executable, "-m", "venv", target])
        python = target / "bin/python"
        run_tool([python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-deps", wheel])
        (site,) = target.glob("lib/python3.*/site-packages")
        (tested,) = Path(sys.prefix).glob("lib/python3.*/site-packages")
        for package in tested.iterdir():
            # Not Wherry itself, which is installed here as a link to its sources.
            if package.suffix != ".pth" and "wherry" not in package.name and not (site / package.name).exists():
                (site / package.name).symlink_to(package)

    return made_once(tmp_path_factory, "fresh", make)


def run(environment: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [environment / "bin/wherry", *words]
    variables = {**clean_environment(), **hermetic({})}
    return subprocess.run(command, env=variables, cwd=environment, capture_output=True, text=True, check=False)


def test_the_wheel_is_tagged_for_what_it_holds(wheel: Path) -> None:
    assert wheel.name.endswith(f"-py3-none-linux_{os.uname().machine}.whl")
    names = zipfile.ZipFile(wheel).namelist()
    held = {name.removeprefix("wherry/installed/") for name in names if name.startswith("wherry/installed/")}
    abis = [path.name.removeprefix("libwherry-") for path in (ROOT / "build/release/lib").glob("libwherry-*.so")]
    assert abis
    assert {"bin/wherry-plan", "lib/wherry/libwherry.so", *(f"lib/wherry/libwherry-{abi}" for abi in abis)} <= held
    assert any(name.startswith("share/wherry/platforms/") for name in held)
    assert not any("bench_" in name or "/tests/" in name for name in names)


def test_info_names_the_parts_of_the_wheel(environment: Path) -> None:
    done = run(environment, "info", "--json")
    assert done.returncode == 0, done.stderr
    files = [row for row in json.loads(done.stdout)["files"] if row["what"] != "tuning file"]
    assert {"preload", "schedules"} <= {row["what"] for row in files}
    assert all(row["exists"] and row["path"].startswith(str(environment)) for row in files)


def test_explain_and_draw(environment: Path) -> None:
    done = run(environment, "explain", "alltoall", "-n", "24", "--nodes", "5", "-m", "512")
    assert done.returncode == 0, done.stderr
    assert "mesh" in done.stdout
    done = run(environment, "draw", "mesh", "-n", "4")
    assert done.returncode == 0, done.stderr


def test_a_benchmark_is_said_not_to_be_in_a_wheel(environment: Path) -> None:
    code = "from wherry import paths; paths.built(paths.bench_program('openmpi', 'alltoall'))"
    command = [environment / "bin/python", "-c", code]
    done = subprocess.run(command, cwd=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "a wheel does not hold: clone Wherry and run `make all`" in done.stderr


@on("openmpi", "mpich")
def test_run_replaces_collectives(mpi: Launcher, environment: Path, tmp_path: Path) -> None:
    if mpi.python is None:
        pytest.skip(f"{mpi.name} has no mpi4py")
    program = tmp_path / "program.py"
    program.write_text("import numpy as np\nfrom mpi4py import MPI\na = np.ones(2)\nb = np.empty(2)\n"
                       "for i in range(100): MPI.COMM_WORLD.Alltoall(a, b)\nassert b.sum() == 2\n")  # fmt: skip
    launch = mpi.mpi.command(2, [str(mpi.python), str(program)])
    done = run(environment, "run", "--report", tmp_path / "out", "--", *launch)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "MPI_Alltoall" in done.stdout + done.stderr
    assert (tmp_path / "out/report.html").is_file()


@pytest.mark.parametrize(
    ("named", "said"),
    [
        (["-DWherry_MPI=/nowhere"], "no include/mpi.h or no lib/libmpi.so below /nowhere"),
        (["-DMPI_HOME=/nowhere", "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON"], "no MPI found"),
    ],
)
def test_without_an_mpi_nothing_is_built(named: list[str], said: str, tmp_path: Path) -> None:
    """Loudly: a wheel without the preload would only fail later."""
    found = ["-DWHERRY_NEEDS_MPI=ON", *named]
    command = [Path(sys.executable).parent / "cmake", "-G", "Ninja", "-S", ROOT, "-B", tmp_path, *found]
    environment = {**clean_environment(), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert said in " ".join(done.stderr.split())
