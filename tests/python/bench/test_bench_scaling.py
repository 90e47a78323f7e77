"""Scaling: growth from one number of ranks to the next, against what it must be."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripted import Script, fake_mpi, line, texts_of

from wherry.bench import picture, scaling
from wherry.measure.harness import Setup

#: Of 2, 3 and 4 ranks, native and Wherry.
_TIMES = [(10e-6, 8e-6), (20e-6, 16e-6), (30e-6, 48e-6)]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Script:
    lines = [line("64 B", "native", native) + "\n" + line("64 B", "wherry", wherry) for native, wherry in _TIMES]
    return Script({"off": lines}, monkeypatch, tmp_path)


def test_growth_is_validated_by_what_it_must_be(script: Script) -> None:
    results = scaling.run(Setup(mpi=fake_mpi(), ranks=4, launches=1, sizes=(64,)))
    assert [ranks for ranks, _, _ in script.asked] == [2, 3, 4]
    times, growths = results[:3], results[3:]
    assert [(row.ranks, row.value, row.baseline) for row in times] == [
        (n + 2, wherry, native) for n, (native, wherry) in enumerate(_TIMES)
    ]
    # Twice as long for twice as many rounds, then three times for half as many blocks more.
    assert [(row.ranks, row.value, row.reached) for row in growths] == [
        (2, pytest.approx(1.0), True),
        (3, pytest.approx(2.0), False),
    ]


def test_what_any_strategy_must() -> None:
    assert scaling.growth_of_bounds(2, hosts=1) == 2
    assert scaling.growth_of_bounds(16, hosts=1) == 5 / 4  # rounds
    assert scaling.growth_of_bounds(5, hosts=1) == 5 / 4  # blocks
    assert scaling.growth_of_bounds(4, hosts=4) == 6 / 3  # the fifth rank shares a host
    assert scaling.growth_of_bounds(32, hosts=4) == 6 / 5


def test_the_picture_has_a_line_for_each(script: Script, tmp_path: Path) -> None:
    results = scaling.run(Setup(mpi=fake_mpi(), ranks=4, launches=1, sizes=(64,)))
    picture.draw(results, tmp_path / "scaling.svg")
    assert {"fake", "Wherry", "ranks"} <= set(texts_of((tmp_path / "scaling.svg").read_text()))
