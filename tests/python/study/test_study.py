"""Studies: parts whose pictures and tables are made of records, and the folder where they go. Nothing is measured."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from a_study import CLOSED, PART, STUDY, count_of, file_of

from wherry import study
from wherry.errors import UsageError, WherryError
from wherry.measure.harness import Setup
from wherry.measure.record import Measurement
from wherry.study.parts import Folder, StudyTable, filled, measured

#: What the contract of benchmark records asks for.
FIELDS = {
    "bench",
    "case",
    "metric",
    "unit",
    "value",
    "baseline",
    "ratio",
    "mpi",
    "ranks",
    "samples",
    "machine",
    "commit",
}


def test_records_carry_what_all_records_have() -> None:
    (row,) = measured(STUDY, PART, Setup())
    assert row.to_json().keys() >= FIELDS
    assert (row["bench"], row["part"], row["ratio"], row["quick"]) == ("study some", "one", 2.0, False)
    with pytest.raises(WherryError, match="cannot answer 'two': it is closed; open it"):
        measured(STUDY, CLOSED, Setup())


def test_tables_stand_in_columns() -> None:
    table = StudyTable(("case", "n"), [("a long one", "1"), ("b", "100")])
    assert table.text() == "case          n\na long one    1\nb           100\n"


def test_parts_are_found_by_name_in_their_own_order() -> None:
    assert STUDY.find([]) == STUDY.find(["two", "one"]) == (PART, CLOSED)
    assert STUDY.find(["two"]) == (CLOSED,)
    with pytest.raises(UsageError) as error:
        STUDY.find(["tow"])
    assert str(error.value) == "the study 'some' has no part 'tow'; it has one, two; did you mean 'two'?"


def test_a_page_is_filled_in_its_own_places_only() -> None:
    page = "before\n<!-- one -->\nold\n<!-- end of one -->\nafter\n<!-- two -->\nx\n<!-- end of two -->\n"
    assert filled(page, "one", "a\\1\n") == page.replace("old\n", "a\\1\n")
    assert filled(page, "three", "new") == page


def test_the_folder_takes_records_picture_and_place(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.prepare()
    rows = measured(STUDY, PART, Setup(quick=True))
    written = folder.write(STUDY, PART, rows)
    assert written == [file_of(tmp_path), tmp_path / "images/some-one.svg"]
    assert folder.read(STUDY, PART) == rows
    (tmp_path / "studies").mkdir()
    page = tmp_path / "studies/some.md"
    page.write_text("# Some\n<!-- one -->\n<!-- end of one -->\n")
    assert folder.write(STUDY, PART, rows)[-1] == page
    text = page.read_text()
    assert "![How many?](../images/some-one.svg)" in text
    assert "| case | count |\n| --- | ---: |\n| a | 3 |\n" in text
    assert "Some MPI; " in text
    assert "a quick check, not a measurement." in text
    # Again: the same, not twice.
    folder.write(STUDY, PART, rows)
    assert page.read_text() == text


def test_what_cannot_be_read_again_says_what_to_do(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.prepare()
    with pytest.raises(UsageError, match=r"results/some-one holds no records; measure them first, without --redraw"):
        folder.read(STUDY, PART)
    for damaged, why in {
        '[\n{"a":': "it is not whole JSON but breaks off in line 2, column 6",
        "{}": "it is no list of objects",
        "[]": "its list is empty",
        "[1]": "it is no list of objects",
    }.items():
        file_of(tmp_path).write_text(damaged)
        with pytest.raises(UsageError) as error:
            folder.read(STUDY, PART)
        assert str(error.value).endswith(f"some-mpi.json is damaged: {why}; measure it again, without --redraw")
    file_of(tmp_path).unlink()
    file_of(tmp_path).mkdir()
    with pytest.raises(UsageError, match=r"cannot read .*some-mpi.json: Is a directory; measure it again"):
        folder.read(STUDY, PART)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"value": None}, "'value' of record 2 is None, not a number"),
        ({"value": "3"}, "'value' of record 2 is '3', not a number"),
        ({"baseline": [6.0]}, "'baseline' of record 2 is [6.0], not a number or null"),
        ({"machine": 1}, "'machine' of record 2 is 1, not text"),
        ({"ranks": 2.5}, "'ranks' of record 2 is 2.5, not a whole number"),
        ({"quick": "no"}, "'quick' of record 2 is 'no', not true or false"),
    ],
)
def test_members_of_another_kind_are_named(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    folder = Folder(tmp_path)
    folder.prepare()
    (row,) = measured(STUDY, PART, Setup())
    file_of(tmp_path).write_text(json.dumps([row.to_json(), (row | change).to_json()]))
    with pytest.raises(UsageError) as error:
        folder.read(STUDY, PART)
    assert f"some-mpi.json is damaged: {why}; measure it again" in str(error.value)


def test_every_member_of_all_records_is_missed(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.prepare()
    (row,) = measured(STUDY, PART, Setup())
    for name in FIELDS | {"network", "quick"}:
        file_of(tmp_path).write_text(json.dumps([{k: v for k, v in row.to_json().items() if k != name}]))
        with pytest.raises(UsageError, match=f"record 1 has no '{name}'; measure it again"):
            folder.read(STUDY, PART)


def test_records_that_a_table_or_picture_finds_damaged_are_told_with_their_file(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.prepare()
    folder.write(STUDY, PART, measured(STUDY, PART, Setup()))

    def read(use: Callable[[Measurement], object]) -> None:
        folder.read(STUDY, dataclasses.replace(PART, draw=lambda rows: f"<svg>{use(rows[0])}</svg>"))

    read(lambda row: row["case"])
    with pytest.raises(
        UsageError, match=r"some-mpi.json is damaged: its records have no 'share' where one is needed; "
    ):
        read(lambda row: row["share"])
    with pytest.raises(UsageError, match=r"some-mpi.json is damaged: .* of another kind \(.*zero\); measure it again"):
        read(lambda row: row["value"] / 0)
    with pytest.raises(FileNotFoundError):  # about something else
        read(lambda row: (tmp_path / "none").read_text())


def test_records_are_kept_whatever_is_wrong_with_the_page(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.prepare()
    (tmp_path / "studies").mkdir()
    folder.page(STUDY).write_bytes(b"\xff")
    with pytest.raises(UsageError, match=r"some.md is not UTF-8 from byte 0 on"):
        folder.write(STUDY, PART, measured(STUDY, PART, Setup()))
    assert len(folder.read(STUDY, PART)) == 1


def test_of_several_machines_those_are_drawn_again_that_the_page_names(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.prepare()
    (row,) = measured(STUDY, PART, Setup())
    for machine in ("2 x First", "2 x Second"):
        folder.write(STUDY, PART, [row | {"machine": machine}])
    with pytest.raises(UsageError, match=r"the page does not name one of .*2x-first.*, .*2x-second"):
        folder.read(STUDY, PART)
    (tmp_path / "studies").mkdir()
    folder.page(STUDY).write_text("<!-- one -->\n<!-- end of one -->\n2 x First\n")
    folder.write(STUDY, PART, [row | {"machine": "2 x Second"}])
    assert [found["machine"] for found in folder.read(STUDY, PART)] == ["2 x Second"]


def test_a_quick_look_leaves_measurements_alone(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.prepare()
    folder.check_quick(STUDY, STUDY.parts)
    for quick in (True, False):
        folder.write(STUDY, PART, measured(STUDY, PART, Setup(quick=quick)))
        if quick:
            folder.check_quick(STUDY, STUDY.parts)
    folder.check_quick(STUDY, [CLOSED])
    with pytest.raises(
        UsageError, match=r"some-mpi.json is a measurement, which --quick does not replace; name another"
    ):
        folder.check_quick(STUDY, STUDY.parts)
    file_of(tmp_path).write_text("[")
    folder.check_quick(STUDY, STUDY.parts)


def test_a_page_without_the_place_is_left_alone_and_told(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.prepare()
    rows = measured(STUDY, PART, Setup())
    assert folder.why_no_place(STUDY, PART) == ""  # there is no page
    (tmp_path / "studies").mkdir()
    page = folder.page(STUDY)
    page.write_text("# Some\n<!-- two -->\n<!-- end of two -->\n<!-- one -->\n")
    assert page not in folder.write(STUDY, PART, rows)
    assert page.read_text().endswith("<!-- one -->\n")
    why = "has no place for part 'one'; put the lines <!-- one --> and <!-- end of one --> where it is to stand"
    assert folder.why_no_place(STUDY, PART) == f"{page} {why}"
    assert folder.why_no_place(STUDY, CLOSED) == ""
    page.write_bytes(b"\xff")
    with pytest.raises(UsageError, match=r"some.md is not UTF-8 from byte 0 on"):
        folder.write(STUDY, PART, rows)


def test_the_origin_says_everything_once() -> None:
    networks = ["a switch, slow; 16 nodes", "a switch, slow; 32 nodes", "", "a switch, slow; 16 nodes"]
    rows = [count_of(1.0, network=network, machine="2 x CPU", commit="abc", quick=False) for network in networks]
    assert study.provenance(rows) == "Some MPI; a switch, slow; 16 nodes; 32 nodes; 2 x CPU; commit abc."


def test_every_study_has_a_page_with_one_place_for_every_part() -> None:
    docs = Path(__file__).resolve().parents[3] / "docs"
    for found in study.STUDIES:
        page = Folder(docs).page(found).read_text(encoding="utf-8")
        for part in found.parts:
            assert filled(page, part.name, "@@").count("@@") == page.count(f"<!-- {part.name} -->\n") == 1, part.name
