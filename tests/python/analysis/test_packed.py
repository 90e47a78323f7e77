"""Tables of packed structs: what NumPy reads of the same bytes."""

from __future__ import annotations

import random

import numpy as np
import pytest

from wherry.analysis.packed import StructLayout, Table

INNER = [("at", "<u8"), ("kind", "<u2")]
FIELDS = [
    ("small", "<u2"), ("number", "<u4"), ("large", "<u8"), ("signed", "<i4"), ("text", "S5"), ("array", "<u4", (3,)),
]  # fmt: skip
LAYOUT = StructLayout([*FIELDS, ("one", StructLayout(INNER)), ("several", StructLayout(INNER), (2,))])
DTYPE = np.dtype([*FIELDS, ("one", INNER), ("several", INNER, (2,))])
ROWS, OFFSET = 20, 7


def random_table(seed: int) -> tuple[Table, np.ndarray]:
    data = random.Random(seed).randbytes(OFFSET + ROWS * DTYPE.itemsize + 3)
    return Table(LAYOUT, data, OFFSET, ROWS), np.frombuffer(data, DTYPE, ROWS, OFFSET)


@pytest.mark.parametrize("seed", range(5))
def test_all_kinds_of_fields(seed: int) -> None:
    table, expected = random_table(seed)
    assert LAYOUT.itemsize == DTYPE.itemsize
    assert len(table) == ROWS
    for row, wanted in zip(table, expected, strict=True):
        assert [row[name] for name in ("small", "number", "large", "signed")] == [
            int(wanted[name]) for name in ("small", "number", "large", "signed")
        ]
        assert row["text"].rstrip(b"\0") == bytes(wanted["text"])
        assert row["array"] == wanted["array"].tolist()
        assert (row["one"]["at"], row["one"]["kind"]) == wanted["one"].tolist()
        assert [(part["at"], part["kind"]) for part in row["several"]] == wanted["several"].tolist()


@pytest.mark.parametrize("name", [field[0] for field in LAYOUT.fields])
def test_a_column_is_that_field_of_the_rows(name: str) -> None:
    table, _ = random_table(1)
    assert table.column(name) == [row[name] for row in table]


def test_rows_by_index() -> None:
    table, _ = random_table(2)
    assert [table[i] for i in range(ROWS)] == list(table)
    for index in (-1, ROWS):
        with pytest.raises(IndexError):
            table[index]


def test_an_empty_table_may_lie_anywhere() -> None:
    table = Table(LAYOUT, b"", 1 << 40, 0)
    assert len(table) == 0
    assert list(table) == []
    assert table.column("large") == []
