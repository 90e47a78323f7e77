"""mpi4py's own tests end under Wherry, test by test and rank by rank, as they do without. Open MPI."""

from __future__ import annotations

from pathlib import Path

import pytest
from suites import check_same_outcomes, launcher_of

RANKS = [3, 5]


@pytest.mark.parametrize("n", RANKS)
def test_same_outcomes(preload: Path, n: int, tmp_path: Path) -> None:
    check_same_outcomes(launcher_of("openmpi"), n, tmp_path)
