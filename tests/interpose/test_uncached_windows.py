"""What programs, in Python too, can ask of cached windows under the preload, and what the record says of others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Launcher
from preloading import DRIVEN, PROGRAMS, records_in

from wherry.record import CACHINGS

RANKS = 2
#: 5 reads: one of 8 values, one of all 16, and the rest of the same.
CACHED = {
    "wherry_cache": "user",
    "wherry_cache_hits": "3",
    "wherry_cache_partial_hits": "1",
    "wherry_cache_misses": "1",
    "wherry_cache_evictions": "0",
    "wherry_cache_bytes_fetched": "64",
    "wherry_cache_bytes_saved": str(32 + 3 * 64),
    "wherry_cache_gets_passed": "0",
}
SHARED = {"wherry_cache": "off", "wherry_cache_why": "shared memory", "wherry_cache_gets_passed": "1"}


def told(output: str, which: str) -> list[dict[str, str]]:
    """What each rank printed of this window."""
    # The launcher may put something else before it in the line.
    lines = re.findall(rf"\b{which} (wherry_.*)$", output, re.MULTILINE)
    return [
        dict(word.split("=", 1) for word in line.replace("shared memory", "shared_memory").split()) for line in lines
    ]


@pytest.mark.parametrize("mpi", DRIVEN, indirect=True)
def test_a_windows_info_tells_what_its_cache_did(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    if mpi.python is None:
        pytest.skip(f"{mpi.name} has no mpi4py")
    done = mpi.run([mpi.python, PROGRAMS / "windows.py"], RANKS, {"WHERRY_OUTPUT": str(tmp_path)}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    cached, shared = told(done.stdout, "cached"), told(done.stdout, "shared")
    assert len(cached) == len(shared) == RANKS
    for rank in cached:
        assert float(rank.pop("wherry_cache_seconds_saved")) >= 0
        assert rank == CACHED
    assert shared == [{**SHARED, "wherry_cache_why": "shared_memory"}] * RANKS
    rows = [
        (CACHINGS[row["caching"]], row["passed"]) for record in records_in(tmp_path) for row in record.tables["windows"]
    ]
    assert sorted(rows) == [("shared memory", 1)] * RANKS + [("user", 0)] * RANKS
