"""Reading records: what was written comes back, and damage is an error that names the file and the reason."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from synthetic import Draft, encode, example, under_way, write

from wherry.analysis import analyse, record, record_format
from wherry.analysis.record import RecordError


def test_layout_is_that_of_the_header_file() -> None:
    sizes = {name: layout.itemsize for name, layout in record_format.TABLES.items()}
    assert sizes == {
        "functions": 56, "calls": 64, "peers": 24, "comms": 64, "modules": 256,
        "uses": 80, "decisions": 80, "misses": 96, "arrivals": 32, "types": 64, "windows": 168,
        "window_points": 32, "window_curves": 16, "memory": 128, "gains": 48, "paths": 104, "not_cached": 24,
        "wait_trials": 32,
    }  # fmt: skip
    assert record_format.HEADER.itemsize == 80 + 8 * 24 + 8 + 64 + 40 + 16 + 128 + 256 + 24 * 18
    assert record_format.TABLE_INFO.itemsize == 24


def test_what_was_written_comes_back(tmp_path: Path) -> None:
    write(tmp_path, example(3))
    found = record.read_all(tmp_path)
    assert found.problems == []
    assert [r.rank for r in found.ranks] == [0, 1, 2]
    first = found.ranks[0]
    assert (first.size, first.host, first.abi, first.program, first.finalized) == (3, "node0", "openmpi", "./app", True)
    assert [first.function(i) for i in range(4)] == ["MPI_Alltoall", "MPI_Bcast", "MPI_Send", "MPI_Alltoallw"]
    assert first.tables["calls"].column("count") == [100, 50, 10]
    assert record.text(first.tables["uses"][1]["strategy"]) == "mesh"


def test_text_that_fills_its_field_or_is_cut_inside_a_character(tmp_path: Path) -> None:
    name = ("p" * 255 + "é").encode()[:256]
    write(tmp_path, [Draft(size=1, header={"program": name})])
    assert record.read_all(tmp_path).ranks[0].program.startswith("p" * 255)


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ({"magic": b"GARBAGE!"}, "not a record of Wherry"),
        ({"version": 99}, "record version 99"),
        ({"tables": 3}, "3 tables"),
        ({"rank": 5}, "rank 5 of 2"),
        ({"size": 1 << 30}, "damaged"),
        ({"last_call": 3}, "the last call is 3 of 0"),
        ({"under_way": under_way((0, 0, 2))}, "a call under way is of function 2 of 0"),
    ],
)
def test_wrong_headers(tmp_path: Path, header: dict[str, object], reason: str) -> None:
    write(tmp_path, [Draft(header=header)])
    path = tmp_path / "rank-000000.wrec"
    with pytest.raises(RecordError, match=reason) as caught:
        record.read(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("calls", {"function": 7}),
        ("calls", {"comm": 9}),
        ("calls", {"module": 9}),
        ("calls", {"bucket": 66}),
        ("peers", {"peer": 2}),
        ("peers", {"peer": -1}),
        ("peers", {"kind": 3}),
        ("decisions", {"reason": 6}),
        ("decisions", {"limit": 3}),
        ("uses", {"limit": 3}),
        ("functions", {"kind": 5}),
    ],
)
def test_indices_that_point_nowhere(tmp_path: Path, table: str, row: dict[str, int]) -> None:
    rows = {"functions": [{"name": b"MPI_Send"}], "comms": [{"size": 2}], "modules": [{"path": b"a"}]}
    write(tmp_path, [Draft(rows={**rows, table: [*rows.get(table, []), row]})])
    with pytest.raises(RecordError, match=f"damaged: table '{table}'.*impossible"):
        record.read(tmp_path / "rank-000000.wrec")


def test_a_truncated_record_leaves_the_others_readable(tmp_path: Path) -> None:
    write(tmp_path, example(3))
    damaged = tmp_path / "rank-000001.wrec"
    for length in (0, 7, 300, record_format.HEADER.itemsize, 2000):
        damaged.write_bytes(encode(example(3)[1])[:length])
        found = record.read_all(tmp_path)
        assert [r.rank for r in found.ranks] == [0, 2], length
        assert len(found.problems) == 1
        assert str(damaged) in found.problems[0]
        assert "truncated" in found.problems[0]


def test_a_missing_or_unreadable_file(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot be read"):
        record.read(tmp_path / "rank-000000.wrec")
    (tmp_path / "rank-000001.wrec").mkdir()
    assert "cannot be read" in record.read_all(tmp_path).problems[0]


def test_the_same_rank_twice_is_said(tmp_path: Path) -> None:
    write(tmp_path, [Draft(size=1)])
    (tmp_path / "pid-77.wrec").write_bytes(encode(Draft(size=1)))
    found = record.read_all(tmp_path)
    assert len(found.ranks) == 1
    assert "recorded twice" in found.problems[0]


@pytest.mark.parametrize("seed", range(8))
def test_random_damage_raises_nothing_but_record_errors(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    good = encode(example(2)[1])
    path = tmp_path / "rank-000001.wrec"
    for attempt in range(150):
        data = bytearray(good)
        for _ in range(chance.randint(1, 12)):
            # Headers and table descriptions are small and matter most, so half of the damage goes there.
            end = record_format.HEADER.itemsize if chance.random() < 0.5 else len(data)
            data[chance.randrange(end)] = chance.randrange(256)
        if chance.random() < 0.2:
            del data[chance.randrange(len(data)) :]
        path.write_bytes(data)
        try:
            record.read(path)
        except RecordError as error:
            assert str(path) in str(error), f"seed {seed}, attempt {attempt}"
            continue
        analyse(record.read_all(tmp_path), resolve_sites=False)  # whatever is accepted must be usable
