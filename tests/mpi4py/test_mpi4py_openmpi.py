"""None of mpi4py's own tests ends worse under Wherry than without it, on any rank. Open MPI."""

from __future__ import annotations

from pathlib import Path

import pytest
from suites import SUITES, check_none_ends_worse, launcher_of, types_of

RANKS = [3, 5]


@pytest.mark.parametrize("n", RANKS)
def test_none_ends_worse(
    preload: Path,
    n: int,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    types = types_of(request, few=n != 3)
    check_none_ends_worse(launcher_of("openmpi"), n, SUITES[n], tmp_path, {}, types)
