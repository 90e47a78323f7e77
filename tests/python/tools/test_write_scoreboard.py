"""The scoreboard and the rows of it in README.md are those of the records."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

from write_scoreboard import (  # noqa: E402
    PICTURE,
    README_MPIS,
    README_ROWS,
    cell_at,
    one_place,
    page,
    picture,
    readme,
)


def test_the_page_is_that_of_the_records() -> None:
    assert (ROOT / "docs" / "programs.md").read_text("utf-8") == page()


def test_the_rows_of_the_readme_are_those_of_the_records() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert readme(text) == text
    first = next(iter(README_ROWS))
    changed = text.replace(f"| {first} | ", f"| {first} | 9.99 ", 1)
    assert changed != text
    assert readme(changed) == text
    assert all(name in text for name in (*README_MPIS, *README_ROWS))


def test_the_picture_is_that_of_the_records() -> None:
    assert PICTURE.read_text("utf-8") == picture()


def test_the_rows_of_the_readme_are_of_one_machine_and_one_commit() -> None:
    here, other = ({"machine": "2 x A", "commit": commit} for commit in ("abc", "def"))
    assert one_place([here, here]) == "2 x A, commit abc"
    with pytest.raises(SystemExit, match="of one place"):
        one_place([here, other])


def test_a_figure_of_another_commit_than_its_column_says_so() -> None:
    record = {"ratio": 2.0, "samples": [{"low": 1.8, "high": 2.2}], "commit": "abc"}
    assert cell_at(record, "abc") == "**2.00 (1.80 to 2.20)**"
    assert cell_at(record, "def") == "**2.00 (1.80 to 2.20)**, at abc"
    assert cell_at({**record, "ratio": None}, "def") == ""
