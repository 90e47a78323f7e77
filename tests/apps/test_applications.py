"""The applications on every MPI: right results, whole files, and clear refusals on all ranks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Launcher
from launching import application, check_of, check_refused, launch, on_every, on_one, on_quick, on_two, output, run

RANKS = (1, 2, 3, 5, 8)
SHORT = ("--turns", "1", "--train", "1")
FEW_PASSES = ("--digit-bits", "8")  # eight
# Other schedules than native, in every call but the first of a communicator.
MESH = {"WHERRY_ALLTOALL": "mesh", "WHERRY_ALLTOALLV": "mesh"}
SORTED = "checked: after every sort, the keys of all ranks are in order and the same as before"
TRANSFORMED = "checked: spectrum and potential agree with a serial FFT to 1e-12, and all steps bit by bit"


@on_every
@pytest.mark.parametrize("n", RANKS)
def test_keys_are_sorted(mpi: Launcher, build: Path, n: int) -> None:
    text = output(run(mpi, build, "radix_sort", n, ["--sizes", "2048", *FEW_PASSES, *SHORT]))
    assert SORTED in text
    assert "in 8 passes" in text
    assert f", {n} {'rank' if n == 1 else 'ranks'}; median of the slowest rank's times" in text


@on_two
@pytest.mark.parametrize("keys", ["few", "ordered"])
def test_uneven_patterns_are_sorted(mpi: Launcher, build: Path, keys: str) -> None:
    """Ranks that receive nothing from some, or all from themselves; by Wherry's schedules."""
    assert SORTED in output(
        run(mpi, build, "radix_sort", 5, ["--sizes", "520", "--keys", keys, *FEW_PASSES, *SHORT], MESH)
    )


@on_every
@pytest.mark.parametrize("n", RANKS)
@pytest.mark.parametrize("way", ["slab", "pencil"])
def test_transform_is_right(mpi: Launcher, build: Path, way: str, n: int) -> None:
    assert TRANSFORMED in output(run(mpi, build, "pme", n, ["--decomposition", way, *SHORT]))


@on_one
@pytest.mark.parametrize("grid", ["1,1,1", "7,2,5"])
@pytest.mark.parametrize("way", ["slab", "pencil"])
def test_ranks_without_points(mpi: Launcher, build: Path, way: str, grid: str) -> None:
    text = output(run(mpi, build, "pme", 6, ["--decomposition", way, "--grid", grid, *SHORT], MESH))
    assert TRANSFORMED in text


@on_one
@pytest.mark.parametrize("name", ["radix_sort", "pme"])
def test_records(mpi: Launcher, build: Path, name: str, tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    output(run(mpi, build, name, 4, ["--turns", "2", "--train", "1", f"--json={path}"], MESH))
    assert list(tmp_path.iterdir()) == [path]
    records = json.loads(path.read_text())
    cases = {(record["case"], record["metric"]) for record in records}
    assert len(cases) == len(records)
    for record in records:
        assert record["bench"] == name
        assert record["ranks"] == 4
        assert record["ratio"] == pytest.approx(record["baseline"] / record["value"])
    # 8 passes with two exchanges each, or one of each transpose, in each of two turns.
    calls = {"radix_sort": 16, "pme": 2}[name]
    for record in records:
        (samples,) = record["samples"]
        expected = 2 if record["metric"].startswith("whole") else calls
        assert len(samples["native"]) == len(samples["wherry"]) == expected
    moved = [record for record in records if record["message_bytes"] > 4]
    assert {record["message_bytes"] for record in moved} == {"radix_sort": {2048, 4096, 8192}, "pme": {896}}[name]
    assert all(record["strategies"] == ["mesh"] for record in moved)


@on_every
@pytest.mark.parametrize("name", ["radix_sort", "pme"])
@pytest.mark.parametrize("n", [2, 5])
def test_wrong_results_are_found(mpi: Launcher, build: Path, name: str, n: int) -> None:
    output(launch(mpi, check_of(mpi, build, name), n))


@on_quick
@pytest.mark.parametrize(
    ("name", "words", "message"),
    [
        ("radix_sort", ["--turns", "x"], "--turns: 'x' is not a whole number from 1 to 1000000"),
        ("radix_sort", ["--sizes", "20"], "--sizes: 20 bytes are no whole number of keys of 8 bytes"),
        ("radix_sort", ["--keys", "red"], "--keys: 'red' is none of uniform, few, ordered"),
        ("radix_sort", ["--frobnicate"], "unknown option '--frobnicate' (have: --sizes,"),
        ("radix_sort", ["--json", "/no/such/folder/x"], "cannot write '/no/such/folder/x': No such file or directory"),
        ("pme", ["--grid", "4,4"], "--grid: '4,4' has not three numbers"),
        ("pme", ["--grid", "4096,4096,4096"], "--grid: more than 134217728 points, which one rank could not check"),
        ("pme", ["--decomposition", "cube"], "--decomposition: 'cube' is none of slab, pencil"),
    ],
)
def test_wrong_usage_ends_all_ranks(mpi: Launcher, build: Path, name: str, words: list[str], message: str) -> None:
    check_refused(run(mpi, build, name, 3, words), f"{name}: {message}")


@on_two
def test_help_has_examples(mpi: Launcher, build: Path) -> None:
    text = output(run(mpi, build, "radix_sort", 2, ["--help"]))
    assert text.count("Usage: radix_sort [OPTION]...") == 1
    assert "mpiexec -n 8 radix_sort --sizes 2048" in text


@pytest.mark.parametrize(
    ("other", "message"), [(["--turns", "3"], "different options"), (["--turns", "x"], "'x' is not a whole number")]
)
@on_two
def test_ranks_that_were_started_differently(mpi: Launcher, build: Path, other: list[str], message: str) -> None:
    one = str(application(mpi, build, "radix_sort"))
    done = mpi.run([one, "--turns", "2", ":", "-n", "1", one, *other], 1)
    check_refused(done, message)


@on_two
def test_progress_can_be_asked_for(mpi: Launcher, build: Path) -> None:
    """Without a terminal there is none otherwise."""
    quiet = run(mpi, build, "radix_sort", 2, ["--sizes", "8", *FEW_PASSES, *SHORT])
    shown = run(mpi, build, "radix_sort", 2, ["--sizes", "8", *FEW_PASSES, "--progress", *SHORT])
    assert "learning" not in quiet.stdout + quiet.stderr
    assert "\rradix_sort: 8 B, learning: 0 of 1" in (shown.stdout + shown.stderr).replace("\n", "\r")


@on_two
def test_a_preload_is_noticed(mpi: Launcher, build: Path, preload: Path) -> None:
    done = mpi.run([application(mpi, build, "radix_sort"), "--sizes", "8", *FEW_PASSES, *SHORT], 2, preload=True)
    assert SORTED in output(done)
    assert done.stderr.count("plain MPI is Wherry as well") == 1
