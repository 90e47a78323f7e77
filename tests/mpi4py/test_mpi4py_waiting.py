"""None of mpi4py's own tests ends worse where blocking calls poll."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from suites import COMMUNICATING, check_none_ends_worse, launcher_of, types_of

#: What runs of them in every run of the tests.
SAMPLES = {
    "openmpi": ("test_p2p_buf", "test_cco_buf"),
    "mpich": ("test_p2p_buf", "test_cco_buf"),
    "intel": ("test_p2p_buf",),
    "debian-openmpi": ("test_p2p_buf",),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_polling_calls(
    name: str,
    preload: Path,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    record_property: Callable[[str, object], None],
) -> None:
    whole = request.config.getoption("--whole-matrix")
    modules = COMMUNICATING if whole else SAMPLES[name]
    if not whole:
        record_property("part", f"test_mpi4py_waiting.py on {name}: {', '.join(modules)} (--whole-matrix runs all)")
    check_none_ends_worse(launcher_of(name), 3, modules, tmp_path, {"WHERRY_WAIT": "yield"}, types_of(request))
