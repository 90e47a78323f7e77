"""The files of the tree that come from the table of MPI functions are those of the table."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

import generate_interface  # noqa: E402


def test_the_files_are_those_of_the_table() -> None:
    assert generate_interface.main(["--check"]) == 0


def test_what_differs_is_named_and_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = ("include/wherry/collectives.h", "python/wherry/collective_names.py", "docs/reference/settings.md")
    for name in (*made, "tools/mpi_functions.toml"):
        (tmp_path / name).parent.mkdir(parents=True)
        shutil.copy(ROOT / name, tmp_path / name)
    monkeypatch.setattr(generate_interface, "ROOT", tmp_path)
    header, page = tmp_path / made[0], tmp_path / made[2]
    header.write_text(header.read_text().replace("int root", "long root"))
    page.write_text("".join(row for row in page.read_text().splitlines(True) if "`WHERRY_BCAST`" not in row))
    assert generate_interface.main(["--check"]) == 1
    assert "long root" in header.read_text(), "a check writes nothing"
    said = capsys.readouterr().out
    assert made[0] in said
    assert made[1] not in said
    assert made[2] in said
    assert generate_interface.main([]) == 0
    assert all((tmp_path / name).read_bytes() == (ROOT / name).read_bytes() for name in made)


def test_a_function_of_the_library_has_a_description() -> None:
    table = generate_interface.read_table(ROOT / "tools/mpi_functions.toml")
    (gatherv,) = (function for function in table if function.name == "Gatherv")
    assert not gatherv.doc
    with pytest.raises(SystemExit, match="MPI_Gatherv"):
        generate_interface.collective(gatherv)
