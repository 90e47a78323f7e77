"""Types that are created, used and freed by the thousand: what is known of them goes with them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Launcher
from preloading import PROGRESSED, compile_program

TYPES = int(os.environ.get("WHERRY_TEST_TYPES", "20000"))  # `make test-long` asks for a million
#: More than the tables of choices, which end at 4096 kinds of calls, grow after the first tenth; 16 bytes of each of a
#: million types are eight times as much.
MOST_KIB = 2048
#: By the thousand, who waits sleeps as in all tests; by the million each of the two ranks has a core, and MPICH would
#: take 200 us for a message instead of 10.
SPINNING = {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "0", "MPIR_CVAR_ENABLE_HEAVY_YIELD": "0"} if TYPES > 100_000 else {}
LINE = re.compile(r"^rank \d: (-?\d+) KiB more, ([\d.]+) us at first, ([\d.]+) us at last$", re.MULTILINE)


@pytest.mark.parametrize("mpi", PROGRESSED, indirect=True)
def test_memory_stays(
    mpi: Launcher, preload: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    program = compile_program(mpi, "many_types.c", tmp_path / "many_types")
    grown = {}
    for lever in ("native", "auto", "wherry"):
        done = mpi.run([program, str(TYPES)], 2, {"WHERRY_LAYOUT": lever, **SPINNING}, preload=True, timeout=900)
        assert done.returncode == 0, done.stdout + done.stderr
        found = LINE.findall(done.stdout)
        assert len(found) == 2, done.stdout
        grown[lever] = max(int(kib) for kib, *_ in found)
        record_property(
            lever, "; ".join(f"{kib} KiB more, {first} us at first, {last} us at last" for kib, first, last in found)
        )
        print(lever, found)
    for lever in ("auto", "wherry"):
        assert grown[lever] <= max(grown["native"], 0) + MOST_KIB, grown
