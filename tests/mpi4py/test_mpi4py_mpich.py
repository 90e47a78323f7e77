"""None of mpi4py's own tests ends worse under Wherry than without it, on any rank. MPICH."""

from __future__ import annotations

from pathlib import Path

import pytest
from suites import BY_RANKS, COMMUNICATING, check_none_ends_worse, launcher_of, modules_of, types_of

#: MPICH spins: more ranks than processors take minutes. Nonblocking collectives on three only: Wherry hands them on.
PARTS = {2: tuple(module for module in COMMUNICATING if module != "test_cco_nb_buf"), 3: BY_RANKS}


@pytest.mark.parametrize("n", PARTS)
def test_none_ends_worse(
    preload: Path,
    n: int,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    types = types_of(request, few=n != 2)
    check_none_ends_worse(launcher_of("mpich"), n, modules_of(request, PARTS[n]), tmp_path, {}, types)
