"""An analysis as JSON, and back."""

from __future__ import annotations

from pathlib import Path

from synthetic import example, write

from wherry.analysis import Analysis, analyse, from_data, record


def analysed(folder: Path) -> Analysis:
    write(folder, example(3))
    return analyse(record.read_all(folder))


def test_data_come_back_from_json(tmp_path: Path) -> None:
    result = analysed(tmp_path)
    assert from_data(result.data()) == result


def test_fallbacks_are_read_and_written_by_their_earlier_name_too(tmp_path: Path) -> None:
    result = analysed(tmp_path)
    data = result.data()
    assert result.fallbacks
    assert data["misses"] == data["fallbacks"]
    del data["fallbacks"]
    assert from_data(data) == result
