"""Files of results lie where their records say, and docs/results has an index of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wherry.measure import results
from wherry.measure.record import Measurement

RESULTS = Path(__file__).resolve().parents[3] / "docs" / "results"
ROW = Measurement("grid", "8 B", "time", "s", 1.0, None, None, "mpich", 2, [], machine="2 x AMD EPYC", commit="abc")


@pytest.mark.parametrize(
    ("machine", "name"),
    [
        ("2 x Intel(R) Xeon(R) Processor", "2x-intel-xeon"),
        ("2 x AMD EPYC", "2x-amd-epyc"),
        ("64 x AMD EPYC 7543 32-Core Processor", "64x-amd-epyc-7543"),
        ("8 x Intel(R) Core(TM) i7-8565U CPU @ 1.80GHz", "8x-intel-core-i7-8565u"),
        ("4 x aarch64", "4x-aarch64"),
    ],
)
def test_a_machine_has_a_name_without_signs(machine: str, name: str) -> None:
    assert results.machine_name(machine) == name


@pytest.mark.parametrize(
    ("names", "name"),
    [
        (["", "Open MPI v5.0.11"], "openmpi"),
        (["debian-mpich"], "debian-mpich"),
        (["SMPI Version 3.32. Copyright The SimGrid Team"], "smpi"),
        (["none"], "none"),
        ([""], "none"),
    ],
)
def test_an_mpi_has_a_short_name(names: list[str], name: str) -> None:
    assert results.mpi_name(names) == name


def test_the_index_names_every_file(tmp_path: Path) -> None:
    path = results.path_of(tmp_path, "grid", [ROW])
    assert path == tmp_path / "grid/2x-amd-epyc/mpich.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps([ROW.to_json(), (ROW | {"ranks": 4}).to_json()]))
    row = "| [grid](grid/2x-amd-epyc/mpich.json) | 2 x AMD EPYC | mpich | 2, 4 | 2 | abc |"
    assert results.index(tmp_path).splitlines()[-1] == row


@pytest.mark.parametrize("place", ["grid/2x-amd-epyc/openmpi.json", "grid/2x-intel-xeon/mpich.json", "grid.json"])
def test_a_file_in_another_place_is_refused(place: str, tmp_path: Path) -> None:
    path = tmp_path / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([ROW.to_json()]))
    with pytest.raises(ValueError, match=place):
        results.index(tmp_path)


def test_the_index_of_the_documents_is_up_to_date() -> None:
    assert (RESULTS / "README.md").read_text(encoding="utf-8") == results.index(RESULTS), (
        "run: python tools/index_results.py"
    )
