"""What a program can ask of its windows under the preload: what the cache did, or why there is none; and the record."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import Launcher
from preloading import PROGRAMS, PROGRESSED, records_in

from wherry.analysis.record_format import CACHINGS, NOT_CACHED

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
UNKNOWN_KEY = {
    "wherry_cache": "off",
    "wherry_cache_why": "its info is not understood",
    "wherry_cache_gets_passed": "0",
}
SHARED = {"wherry_cache": "off", "wherry_cache_why": "shared memory", "wherry_cache_gets_passed": "1"}


@pytest.mark.parametrize("mpi", PROGRESSED, indirect=True)
def test_a_windows_info_tells_what_its_cache_did(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    if mpi.python is None:
        pytest.skip(f"{mpi.name} has no mpi4py")
    done = mpi.run([mpi.python, PROGRAMS / "windows.py"], RANKS, {"WHERRY_OUTPUT": str(tmp_path)}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    # The launcher may put something else before it in the line.
    told = [json.loads(text) for text in re.findall(r"\{\"cached\".*$", done.stdout, re.MULTILINE)]
    assert len(told) == RANKS
    for rank in told:
        assert float(rank["cached"].pop("wherry_cache_seconds_saved")) > 0
        assert float(rank.pop("saved_s")) > 0
        assert rank == {
            "cached": CACHED,
            "shared": SHARED,
            "unknown_key": UNKNOWN_KEY,
            "obeyed": {"hits": "1", "misses": "3"},
        }
    assert (
        done.stderr.count("the info key wherry_cache is 'usr', which is no mode; write transparent, always, user or")
        == 1
    )
    assert done.stderr.count("the info key wherry_cache of MPI_Win_set_info is 'Invalidate', which is neither") == 1
    # Neither of the next wrong value, nor of the keys that a window had told.
    assert done.stderr.count("wherry:") == 2, done.stderr
    rows = [
        (CACHINGS[row["caching"]], row["passed"]) for record in records_in(tmp_path) for row in record.tables["windows"]
    ]
    assert sorted(rows) == [("shared memory", 1)] * RANKS + [("user", 0)] * 3 * RANKS


@pytest.mark.parametrize("mpi", PROGRESSED, indirect=True)
def test_ranks_of_a_node_read_for_each_other(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    """Rank 0 reads 16 ranges and ranks 1 and 2 the same, by a setting and without a word in the program."""
    if mpi.python is None:
        pytest.skip(f"{mpi.name} has no mpi4py")
    settings = {"WHERRY_OUTPUT": str(tmp_path), "WHERRY_CACHE": "always", "WHERRY_CACHE_NODE": "1M"}
    done = mpi.run([mpi.python, PROGRAMS / "node_windows.py"], 4, settings, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    expected = {0: (0, 16), 1: (16, 0), 2: (16, 0), 3: (0, 0)}
    for rank, (found, offered) in expected.items():
        words = dict(re.findall(r"wherry_cache_(\w+)=(\d+)", told_by(done.stdout, rank)))
        assert (int(words["node_found"]), int(words["node_offered"]), int(words["node_refused"])) == (found, offered, 0)
        assert int(words["bytes_fetched"]) == 64 * offered
    records = {record.rank: record for record in records_in(tmp_path)}
    for rank, (found, offered) in expected.items():
        (row,) = records[rank].tables["windows"]
        assert (int(row["node_found"]), int(row["node_offered"]), int(row["node_refused"])) == (found, offered, 0)


@pytest.mark.parametrize("mpi", PROGRESSED, indirect=True)
def test_gets_that_no_cache_serves_have_their_reasons(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    if mpi.python is None:
        pytest.skip(f"{mpi.name} has no mpi4py")
    settings = {"WHERRY_OUTPUT": str(tmp_path)}
    done = mpi.run([mpi.python, PROGRAMS / "native_gets.py"], RANKS, settings, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    for record in records_in(tmp_path):
        windows = record.tables["windows"]
        assert [(CACHINGS[row["caching"]], row["passed"]) for row in windows] == [("user", 4), ("one rank", 1)]
        found = {NOT_CACHED[row["reason"]]: (row["count"], row["bytes"]) for row in record.tables["not_cached"]}
        assert found == {"of the rank's own memory": (3, 3 * 40), "by MPI_Rget": (1, 40)}


def told_by(output: str, rank: int) -> str:
    """What a rank printed of its window."""
    (line,) = re.findall(rf"\brank {rank} (wherry_.*)$", output, re.MULTILINE)
    return str(line)
