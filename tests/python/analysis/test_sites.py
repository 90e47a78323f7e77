"""Names of call sites as people know them."""

from __future__ import annotations

import pytest

from wherry.analysis.sites import _describe


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("__pyx_pw_6mpi4py_3MPI_4Comm_137Alltoallv", "mpi4py.MPI.Comm.Alltoallv"),
        ("__pyx_pw_6mpi4py_3MPI_4Comm_5Split", "mpi4py.MPI.Comm.Split"),
        ("__pyx_f_6mpi4py_3MPI_PyMPI_bcast_p2p.constprop.0", "mpi4py.MPI.PyMPI_bcast_p2p"),
        ("__pyx_foo", "__pyx_foo"),
        ("main", "main"),
    ],
)
def test_methods_of_mpi4py_have_their_python_name(symbol: str, name: str) -> None:
    assert _describe("/lib/MPI.so", symbol, "??:0") == f"{name} (MPI.so)"
