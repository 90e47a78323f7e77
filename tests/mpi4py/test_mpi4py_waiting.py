"""None of mpi4py's own tests ends worse where blocking calls poll."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from suites import COMMUNICATING, NAMES, check_none_ends_worse, launcher_of

WAITING = ("test_p2p_buf", "test_cco_buf")


@pytest.mark.parametrize("name", NAMES)
def test_polling_calls(
    name: str,
    preload: Path,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    record_property: Callable[[str, object], None],
) -> None:
    whole = request.config.getoption("--whole-matrix")
    if not whole:
        record_property("part", f"test_mpi4py_waiting.py on {name}: {', '.join(WAITING)} (--whole-matrix runs all)")
    check_none_ends_worse(launcher_of(name), 3, COMMUNICATING if whole else WAITING, tmp_path, {"WHERRY_WAIT": "yield"})
