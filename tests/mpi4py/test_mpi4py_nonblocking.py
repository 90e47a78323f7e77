"""mpi4py's own tests of non-blocking collectives end under Wherry as they do without."""

from __future__ import annotations

from pathlib import Path

import pytest
from suites import NAMES, launcher_of, outcomes, strategies_used, with_wherry

NONBLOCKING = ("test_cco_nb_buf", "test_cco_nb_vec")
NAMED = {
    "alltoall": "bruck2",
    "alltoallv": "direct",
    "bcast": "linear",
    "allreduce": "recursive_doubling",
    "barrier": "dissemination",
}
#: Blocking ones first: at these the ranks join.
BEFORE_NONBLOCKING = "test_cco_buf.TestCCOBufWorld"


@pytest.mark.parametrize("name", NAMES)
def test_nonblocking_collectives(name: str, preload: Path, tmp_path: Path) -> None:
    launcher = launcher_of(name)
    n, modules = 3, (BEFORE_NONBLOCKING, *NONBLOCKING)
    without = outcomes(launcher, n, modules, tmp_path / "without", {}, preload=False)
    assert all(without), "no test was run"
    env = {"WHERRY_" + operation.upper(): strategy for operation, strategy in NAMED.items()}
    assert with_wherry(launcher, n, modules, tmp_path, {"WHERRY_NONBLOCKING": "1", **env}) == without
    asked = {("MPI_I" + operation, strategy) for operation, strategy in NAMED.items()}
    assert asked <= strategies_used(tmp_path / "record")
