"""mpi4py's own tests end under Wherry, test by test and rank by rank, as they do without. MPICH."""

from __future__ import annotations

from pathlib import Path

import pytest
from suites import check_same_outcomes, launcher_of

#: MPICH spins: more ranks than processors take minutes.
RANKS = [2, 3]


@pytest.mark.parametrize("n", RANKS)
def test_same_outcomes(preload: Path, n: int, tmp_path: Path) -> None:
    check_same_outcomes(launcher_of("mpich"), n, tmp_path)
