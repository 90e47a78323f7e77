"""None of mpi4py's own tests of datatypes and packing ends worse where the layout kernels pack whatever they can.

On one rank: none of them communicates.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from suites import NAMES, check_none_ends_worse, launcher_of, types_of

MODULES = ("test_datatype", "test_pack")


@pytest.mark.parametrize("name", ["openmpi", "mpich", "intel", "debian-openmpi"])
def test_types_and_packing(
    name: str,
    preload: Path,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    types = types_of(request, few=name not in NAMES)
    check_none_ends_worse(launcher_of(name), 1, MODULES, tmp_path, {"WHERRY_LAYOUT": "wherry"}, types)
