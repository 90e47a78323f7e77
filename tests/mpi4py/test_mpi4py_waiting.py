"""None of mpi4py's own tests ends worse where blocking calls poll."""

from __future__ import annotations

from pathlib import Path

import pytest
from suites import COMMUNICATING, NAMES, check_none_ends_worse, launcher_of


@pytest.mark.parametrize("name", NAMES)
def test_polling_calls(name: str, preload: Path, tmp_path: Path) -> None:
    check_none_ends_worse(launcher_of(name), 3, COMMUNICATING, tmp_path, {"WHERRY_WAIT": "yield"})
