"""None of mpi4py's own tests ends worse under Wherry than without it, on any rank. Open MPI."""

from __future__ import annotations

from pathlib import Path

import pytest
from suites import COLLECTIVES, COMMUNICATING, check_none_ends_worse, launcher_of, types_of

#: Arrays of all types are tried with windows on MPICH, and with nonblocking collectives where Wherry performs them.
IN_FEW_TYPES = ("test_rma", "test_cco_nb_buf")
IN_ALL_TYPES = tuple(module for module in COMMUNICATING if module not in IN_FEW_TYPES)


@pytest.mark.parametrize(
    ("n", "modules"),
    [
        pytest.param(3, IN_ALL_TYPES, id="3"),
        pytest.param(3, IN_FEW_TYPES, id="3-windows"),
        pytest.param(5, COLLECTIVES, id="5"),
    ],
)
def test_none_ends_worse(
    preload: Path,
    n: int,
    modules: tuple[str, ...],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    types = types_of(request, few=modules != IN_ALL_TYPES)
    check_none_ends_worse(launcher_of("openmpi"), n, modules, tmp_path, {}, types)
