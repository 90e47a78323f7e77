"""Overlap: from samples of processor time to shares, and the picture of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripted import Script, fake_mpi, line, texts_of

from wherry.bench import overlap, picture
from wherry.bench.overlap import COMPLETION, OVERHEAD, SHARE
from wherry.measure.harness import Setup

#: Two launches: alone, inside, computed.
_NATIVE = [(50e-6, (10e-6, 20e-6, 30e-6), (90e-6, 80e-6, 70e-6)), (60e-6, (40e-6,), (60e-6,))]
_MESH = [(25e-6, (5e-6,), (95e-6,)), (30e-6, (5e-6,), (45e-6,))]


def _launch(number: int) -> str:
    lines = []
    for variant, launches in (("native", _NATIVE), ("wherry", _MESH), ("mesh", _MESH)):
        alone, inside, computed = launches[number]
        lines.append(line("alltoall 64 B, alone", variant, alone))
        lines.append(line("alltoall 64 B, with work", variant, 2 * alone))
        lines.append(line("alltoall 64 B, inside", variant, *inside))
        lines.append(line("alltoall 64 B, computed", variant, *computed))
    return "\n".join(lines)


def test_overhead_and_share_are_those_of_processor_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = Script({"off": [_launch(0), _launch(1)]}, monkeypatch, tmp_path)
    results = overlap.run(Setup(mpi=fake_mpi(), ranks=4, launches=2, sizes=(64,)))
    found = {(row.case, row.metric): row for row in results}
    names = ("alltoall 64 B", "alltoall 64 B, mesh")
    assert list(found) == [(case, metric) for metric in (COMPLETION, OVERHEAD, SHARE) for case in names]

    completion, overhead, share = (found["alltoall 64 B", metric] for metric in (COMPLETION, OVERHEAD, SHARE))
    assert (completion.value, completion.baseline, completion.ratio) == (25e-6, 50e-6, pytest.approx(2))
    assert (overhead.value, overhead.baseline) == (5e-6, 20e-6)
    # Of launches 80 % and 60 %, and 95 % and 90 %.
    assert (share.value, share.baseline) == (pytest.approx(92.5), pytest.approx(70))
    assert (share.reached, share.unit, share.goal) == (True, "%", ">= native")
    assert found["alltoall 64 B, mesh", SHARE].reached is None
    assert [sample["what"] for sample in share.samples] == ["inside", "inside", "computed", "computed"]

    ((ranks, args, environment), _) = script.asked
    assert (ranks, args[1:5]) == (4, ["--operations", "alltoall,allgather", "--sizes", "64"])
    assert environment["WHERRY_NONBLOCKING"] == "1"


def test_named_strategies_are_of_the_all_to_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Setup, "check_strategies", lambda setup, ranks, besides: None)
    script = Script({"off": [_launch(0)]}, monkeypatch, tmp_path)
    overlap.run(Setup(mpi=fake_mpi(), ranks=4, launches=1, strategies=("mesh",)))
    ((_, args, _),) = script.asked
    assert args[2] == "alltoall"
    assert args[-2:] == ["--strategies", "mesh"]


def test_the_picture_shows_every_variant_with_its_share(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    Script({"off": [_launch(0)]}, monkeypatch, tmp_path)
    results = overlap.run(Setup(mpi=fake_mpi(), ranks=4, launches=1, sizes=(64,)))
    picture.draw(results, tmp_path / "overlap.svg")
    texts = texts_of((tmp_path / "overlap.svg").read_text())
    assert {"native", "wherry", "mesh", "80 %", "95 %", "alltoall, 64 B"} <= set(texts)
