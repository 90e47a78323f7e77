"""MPI_Ineighbor_alltoallw of derived types by the layout kernels, on one rank and on odd numbers of ranks."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Launcher
from preloading import compile_program, records_in, uses_of

MPIS = pytest.mark.parametrize("mpi", ["openmpi", "mpich"], indirect=True)
FUNCTION = "MPI_Ineighbor_alltoallw"


@MPIS
@pytest.mark.parametrize("ranks", [1, 3, 5, 8])
def test_every_cell_arrives(mpi: Launcher, tmp_path: Path, ranks: int) -> None:
    """The program checks the cells; every rank moves them by the kernels, or by both copiers in turns."""
    program = compile_program(mpi, "neighbor_halo.c", tmp_path / "neighbor_halo")
    assert mpi.run([program, "3"], ranks).returncode == 0, "without Wherry"
    for lever, rounds, copiers in (("wherry", 6, {"layout kernels"}), ("auto", 20, {"layout kernels", "native"})):
        folder = tmp_path / lever
        folder.mkdir()
        env = {"WHERRY_LAYOUT": lever, "WHERRY_OUTPUT": str(folder)}
        done = mpi.run([program, str(rounds)], ranks, env, preload=True)
        assert done.returncode == 0, (lever, done.stdout, done.stderr)
        records = records_in(folder)
        assert len(records) == ranks
        for record in records:
            assert {copier for function, copier in uses_of(record) if function == FUNCTION} >= copiers


@MPIS
def test_one_side_alone(mpi: Launcher, tmp_path: Path) -> None:
    """The ranks need not agree: on some all is native, on others nothing."""
    program = compile_program(mpi, "neighbor_halo.c", tmp_path / "neighbor_halo")
    script = tmp_path / "by_rank"
    script.write_text(
        "#!/bin/sh\n"
        "rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\n"
        "if [ $((rank % 2)) = 0 ]; then export WHERRY_LAYOUT=wherry; else export WHERRY_LAYOUT=native; fi\n"
        'exec "$@"\n'
    )
    script.chmod(0o755)
    folder = tmp_path / "out"
    folder.mkdir()
    done = mpi.run([script, program, "6"], 3, {"WHERRY_OUTPUT": str(folder)}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sum((FUNCTION, "layout kernels") in uses_of(record) for record in records_in(folder)) == 2
