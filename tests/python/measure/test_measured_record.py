"""A record says the same in Python and in a file, whatever a measurement adds to it."""

from __future__ import annotations

import json

import pytest

from wherry.measure.record import MEMBERS, Measurement, only, values

ROW = Measurement("grid", "64 B", "time", "s", 2.0, None, None, "mpich", 4, [])


def test_a_file_gives_back_what_it_took() -> None:
    row = ROW | {"baseline": 4.0, "ratio": 2.0, "excluded": {"bruck": "fails"}, "scheme": "ring", "seconds": [1.0]}
    stored = json.loads(json.dumps(row.to_json(), allow_nan=False))
    assert Measurement.from_json(stored) == row
    assert list(stored) == [*MEMBERS, "scheme", "seconds"]
    assert list(stored)[:10] == [
        "bench", "case", "metric", "unit", "value", "baseline", "ratio", "mpi", "ranks", "samples",
    ]  # fmt: skip


def test_members_of_both_kinds_are_found_by_name() -> None:
    row = ROW | {"scheme": "ring"}
    assert (row["scheme"], row["value"]) == ("ring", 2.0)
    assert "scheme" in row
    assert "scheme" not in ROW
    with pytest.raises(KeyError, match="scheme"):
        ROW["scheme"]
    assert ROW.more == {}


def test_what_every_record_has_is_needed() -> None:
    stored = ROW.to_json()
    del stored["mpi"]
    with pytest.raises(KeyError, match="mpi"):
        Measurement.from_json(stored)


def test_records_are_chosen_by_their_members() -> None:
    rows = [ROW | {"scheme": name, "ranks": ranks} for name in ("ring", "grid") for ranks in (2, 4)]
    assert only(rows, scheme="grid", ranks=4) == [rows[3]]
    assert only(rows, absent=1) == []
    assert values(rows, "scheme") == ["ring", "grid"]
