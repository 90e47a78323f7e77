"""`cmake --install` as on a cluster: built for the user's own MPI, which is named by its prefix or by its compiler."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT, Launcher, hermetic, on
from installing import run_tool

from wherry.analysis import analyse, record
from wherry.run.mpis import Mpi

PROGRAM = r"""
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size, wrong = 0, in[2];
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int out[2] = {3, 3};
  for (int i = 0; i < 20; ++i) {
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    wrong |= size != 2 || in[0] != 3 || in[1] != 3;
  }
  MPI_Finalize();
  return wrong;
}
"""
#: What docs/how-to/install.md names, by how this MPI is told to CMake; each forgets what the other has told.
WAYS: dict[str, Callable[[Mpi], list[str]]] = {
    "prefix": lambda mpi: [f"-DWherry_MPI={mpi.prefix}", "-UMPI_C_COMPILER"],
    "find_package": lambda mpi: ["-UWherry_MPI", f"-DMPI_C_COMPILER={mpi.mpicc}"],
}
#: With the plan program and the library it would take the compiler twice as long.
COMPONENTS = ("preload", "openmpi")


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of both ways: they find the same headers, so that only the first one compiles."""
    return tmp_path_factory.mktemp("install") / "build"


def configure(mpi: Launcher, way: str, tree: Path) -> None:
    # Neither optimized nor for a debugger, which takes the compiler half as long.
    options = [
        "-DCMAKE_BUILD_TYPE=Debug",
        "-DCMAKE_CXX_FLAGS_DEBUG=-O0",
        "-DWHERRY_PROGRAMS=OFF",
        "-DWHERRY_NEEDS_MPI=ON",
        *WAYS[way](mpi.mpi),
    ]
    said = run_tool(["cmake", "-G", "Ninja", "-S", ROOT, "-B", tree, *options], mpi.env)
    assert f"MPI path-openmpi: {mpi.mpi.prefix}/lib/" in said


def install(mpi: Launcher, tree: Path, prefix: Path) -> None:
    for component in COMPONENTS:
        run_tool(["cmake", "--install", tree, "--prefix", prefix, "--component", component], mpi.env)


@pytest.fixture
def has_compiler(mpi: Launcher) -> None:
    if mpi.mpicc is None:
        pytest.skip(f"{mpi.name} has no compiler")


@on("openmpi")
@pytest.mark.usefixtures("has_compiler")
@pytest.mark.parametrize("way", WAYS)
def test_what_is_built_for_the_users_mpi_replaces_collectives(
    mpi: Launcher,
    way: str,
    tree: Path,
    tmp_path: Path,
    pytestconfig: pytest.Config,
    record_property: Callable[[str, object], None],
) -> None:
    """A whole build takes two minutes of a processor: without --whole-matrix it is only configured."""
    configure(mpi, way, tree)
    if not pytestconfig.getoption("--whole-matrix"):
        record_property("part", "tests/api/test_install.py configures and does not build (--whole-matrix does)")
        return
    run_tool(["cmake", "--build", tree, "--target", "wherry", "wherry-openmpi"], mpi.env)
    install(mpi, tree, tmp_path / "prefix")
    check_that_it_replaces_collectives(mpi, tmp_path)


@on("openmpi")
@pytest.mark.usefixtures("has_compiler")
def test_the_installed_preload_replaces_collectives(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    install(mpi, build, tmp_path / "prefix")
    check_that_it_replaces_collectives(mpi, tmp_path)


def check_that_it_replaces_collectives(mpi: Launcher, folder: Path) -> None:
    """What is installed in folder/prefix."""
    prefix, records, program = folder / "prefix", folder / "records", folder / "program"
    assert mpi.mpicc is not None
    (folder / "program.c").write_text(PROGRAM)
    run_tool([mpi.mpicc, "-o", program, folder / "program.c"], mpi.env)
    records.mkdir()
    settings = {"WHERRY_OUTPUT": str(records), "WHERRY_ALLTOALL": "direct"}
    library = {"LD_PRELOAD": str(prefix / "lib/wherry/libwherry.so")}
    done = mpi.run([program], 2, {**library, **settings, **hermetic({})})
    assert done.returncode == 0, done.stdout + done.stderr
    uses = analyse(record.read_all(records), resolve_sites=False).uses
    assert [(use.function, use.strategy, use.ranks) for use in uses if use.strategy != "native"] == [
        ("MPI_Alltoall", "direct", 2)
    ]
