"""`wherry study`: what it names, refuses, measures and draws again. Nothing is measured in earnest."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from a_study import PART, STUDY, file_of

from wherry import study
from wherry.measure.harness import Setup

if TYPE_CHECKING:
    from commanding import Invoke

pytest_plugins = ["commanding"]


def test_the_command_names_studies_and_parts(wherry: Invoke) -> None:
    listed = wherry("study", "--list")
    assert listed.code == 0
    for found in study.STUDIES:
        assert f"{found.name}: {found.summary}" in listed.out
        for part in found.parts:
            assert f"  {part.name:<13} {part.question}\n" in listed.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "which study? write `wherry study NAME`"),
        (["cahce"], "unknown study 'cahce' (have: cache"),
        (["cache", "eviktion"], "the study 'cache' has no part 'eviktion'; it has sizes, eviction, strong"),
        (["cache", "eviktion"], "did you mean 'eviction'?"),
        (["cache", "--redraw"], "say with -o where that is"),
        (["cache", "--hosts", "3"], "give --netlab too"),
        (
            ["cache", "eviction", "--netlab"],
            "part 'eviction' does not use --netlab, which is for sizes, strong, weak, node;",
        ),
        (
            ["cache", "strong", "eviction", "-n", "4"],
            "part 'eviction' does not use -n, which is for sizes, strong, weak, ",
        ),
        (
            ["nbody", "node", "--hosts", "3"],
            "part 'node' does not use --hosts, which is for gigabit; leave it out, or name",
        ),
        (
            ["nbody", "kernels", "--mpi", "mpich"],
            "part 'kernels' does not use --mpi, which is for threads, node, gigabit;",
        ),
        (
            ["cache", "-o", "x", "--redraw", "-n", "4"],
            "--redraw measures nothing, so it does not use -n; leave one of them",
        ),
        (["cache", "-o", "/proc/nowhere"], "cannot write to -o /proc/nowhere/results"),
    ],
)
def test_wrong_usage_says_what_to_write(wherry: Invoke, words: list[str], said: str) -> None:
    done = wherry("study", *words)
    assert done.code == 2
    assert said in done.err


def test_the_command_measures_writes_and_draws_again(
    wherry: Invoke, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(study, "STUDIES", (STUDY,))
    done = wherry("study", "some", "-o", tmp_path)
    assert done.code == 0, done.err
    assert "How many?" in done.out
    assert "left out: two: it is closed; open it" in done.err
    results = file_of(tmp_path)
    rows = json.loads(results.read_text())
    rows[0]["value"] = 4
    results.write_text(json.dumps(rows))
    again = wherry("study", "some", "one", "-o", tmp_path, "--redraw")
    assert again.code == 0, again.err
    assert ["a", "4"] in [line.split() for line in again.out.splitlines()]
    assert json.loads(results.read_text()) == rows
    named = wherry("study", "some", "one", "two")
    assert named.code == 1
    assert named.out == "", "it measured what can be answered before it said what cannot"
    assert "cannot answer 'two': it is closed" in named.err
    unused = wherry("study", "some", "--netlab")
    assert unused.code == 2
    assert "study 'some' does not use --netlab; leave it out (it takes -n, " in unused.err


def test_damaged_records_are_wrong_usage(wherry: Invoke, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(study, "STUDIES", (STUDY,))
    wherry("study", "some", "one", "-o", tmp_path)
    results, picture = file_of(tmp_path), tmp_path / "images/some-one.svg"
    (row,) = json.loads(results.read_text())
    picture.write_text("<svg>before</svg>")
    results.write_text(json.dumps([{name: row[name] for name in row if name != "value"}]))
    done = wherry("study", "some", "one", "-o", tmp_path, "--redraw")
    assert (done.code, done.out) == (2, "")
    assert f"{results} is damaged: record 1 has no 'value'; measure it again, without --redraw" in done.err
    assert picture.read_text() == "<svg>before</svg>"


def test_a_quick_look_does_not_replace_a_measurement(
    wherry: Invoke, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[Setup] = []
    part = dataclasses.replace(PART, measure=lambda setup: asked.append(setup) or PART.measure(setup))
    monkeypatch.setattr(study, "STUDIES", (dataclasses.replace(STUDY, parts=(part,)),))
    for words, code in ((["--quick"], 0), ([], 0), (["--quick"], 2)):
        done = wherry("study", "some", "one", "-o", tmp_path, *words)
        assert done.code == code, done.err
    assert "some-mpi.json is a measurement, which --quick does not replace" in done.err
    assert [setup.quick for setup in asked] == [True, False]
    assert wherry("study", "some", "one", "-o", tmp_path / "other", "--quick").code == 0


def test_a_page_without_the_place_is_told_and_not_called_written(
    wherry: Invoke, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(study, "STUDIES", (STUDY,))
    page = tmp_path / "studies/some.md"
    page.parent.mkdir()
    page.write_text("# Some\n")
    for words in ([], ["--redraw"]):
        done = wherry("study", "some", "one", "-o", tmp_path, *words)
        assert done.code == 0
        assert str(page) not in done.out
        assert f"{page} has no place for part 'one'" in done.err


def test_too_few_ranks_are_wrong_usage_of_a_part_that_is_named(wherry: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "STUDIES", (STUDY,))
    few = wherry("study", "some", "one", "-n", "2")
    assert few.code == 2
    assert "cannot answer 'one': -n 2 is below its fewest ranks; write -n 3 or more" in few.err
    assert wherry("study", "some", "one", "-n", "2", "--quick").code == 0
    unnamed = wherry("study", "some", "-n", "2")
    assert unnamed.code == 0
    assert "left out: one: -n 2 is below its fewest ranks" in unnamed.err


def test_emulated_hosts_are_counted_where_they_need_not_be_asked_for(
    wherry: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Setup] = []
    part = dataclasses.replace(
        PART, measure=lambda setup: asked.append(setup) or PART.measure(setup), options=("--hosts",)
    )
    monkeypatch.setattr(study, "STUDIES", (dataclasses.replace(STUDY, parts=(part,)),))
    assert wherry("study", "some", "one", "--hosts", "3").code == 0
    assert [setup.hosts for setup in asked] == [3]
