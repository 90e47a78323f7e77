"""None of mpi4py's own tests of nonblocking collectives ends worse under Wherry than without it."""

from __future__ import annotations

from pathlib import Path

import pytest
from suites import NAMES, check_none_ends_worse, launcher_of, strategies_used, types_of

NONBLOCKING = ("test_cco_nb_buf", "test_cco_nb_vec")
NAMED = {
    "alltoall": "bruck2",
    "alltoallv": "direct",
    "bcast": "linear",
    "allreduce": "recursive_doubling",
    "barrier": "dissemination",
}
#: Blocking ones first: these enable the communicator.
BEFORE_NONBLOCKING = "test_cco_buf.TestCCOBufWorld"


@pytest.mark.parametrize("name", NAMES)
def test_nonblocking_collectives(
    name: str,
    preload: Path,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    env = {"WHERRY_NONBLOCKING": "1"}
    env |= {"WHERRY_" + operation.upper(): strategy for operation, strategy in NAMED.items()}
    types = types_of(request, few=name != "openmpi")
    check_none_ends_worse(launcher_of(name), 3, (BEFORE_NONBLOCKING, *NONBLOCKING), tmp_path, env, types)
    asked = {("MPI_I" + operation, strategy) for operation, strategy in NAMED.items()}
    assert asked <= strategies_used(tmp_path / "record")
