"""What Wherry did to a program, from its records."""

from __future__ import annotations

from pathlib import Path

import pytest
from synthetic import Draft, example, write

from wherry.analysis import Analysis, analyse, record
from wherry.analysis.rows import FaultRow
from wherry.analysis.window_rows import WindowRow
from wherry.compare.effects import effects
from wherry.compare.launching import Sample
from wherry.compare.rounds import EVERYTHING, NATIVE, Comparison, Experiment


def comparison(analysis: Analysis | None, native_faults: float = 0, faults: float = 0) -> Comparison:
    samples = [
        Sample(variant, n, {"wall_s": 1.0, "faults": count})
        for variant, count in ((NATIVE, native_faults), (EVERYTHING, faults))
        for n in range(2)
    ]
    return Comparison(Experiment(2), [NATIVE, EVERYTHING], samples, analysis=analysis)


def test_nothing_known_and_nothing_done() -> None:
    assert effects(comparison(None)) == []
    assert effects(comparison(Analysis())) == []
    left = Analysis(faults=[FaultRow("as malloc has it", ranks=2, faults=500)])
    assert effects(comparison(left, 500, 500)) == []


def test_collectives_that_were_replaced_are_named_with_their_share(tmp_path: Path) -> None:
    write(tmp_path, example(4))
    found = effects(comparison(analyse(record.read_all(tmp_path))))
    # 90 of 100 calls on each of 4 ranks, from the tenth call on kept.
    assert "collectives: MPI_Alltoall, 90% by mesh of 400 calls" in found


def _of_kernels(draft: Draft) -> Draft:
    draft.rows["uses"] = [{**use, "strategy": b"layout kernels"} for use in draft.rows["uses"]]
    draft.rows["decisions"] = []
    return draft


def test_derived_types_are_a_lever_of_their_own(tmp_path: Path) -> None:
    write(tmp_path, map(_of_kernels, example(4)))
    found = effects(comparison(analyse(record.read_all(tmp_path))))
    assert [line.partition(":")[0] for line in found if "layout kernels" in line] == ["layout"]


def _of_matrices(draft: Draft, strategy: bytes, bucket: int) -> Draft:
    names = [
        {**row, "name": b"MPI_Alltoallw" if row["name"] == b"MPI_Alltoall" else b"-"} for row in draft.rows["functions"]
    ]
    uses = [{**use, "strategy": strategy, "bucket": bucket} for use in draft.rows["uses"]]
    draft.rows |= {"functions": names, "uses": uses, "decisions": []}
    return draft


@pytest.mark.parametrize(
    ("strategy", "bucket", "lever"),
    [
        (b"pairwise", 17, "layout"),
        (b"direct", 20, "layout"),
        (b"pairwise", 16, "collectives"),  # the blocks are packed by the library
        (b"mesh", 17, "collectives"),
    ],
)
def test_collectives_by_layouts_are_of_that_lever(tmp_path: Path, strategy: bytes, bucket: int, lever: str) -> None:
    write(tmp_path, [_of_matrices(draft, strategy, bucket) for draft in example(4)])
    found = effects(comparison(analyse(record.read_all(tmp_path))))
    assert [line.partition(":")[0] for line in found if "MPI_Alltoallw" in line] == [lever]


def _of_native(draft: Draft) -> Draft:
    draft.rows["uses"] = [{**use, "strategy": b"native"} for use in draft.rows["uses"][:1]]
    draft.rows["decisions"] = []
    return draft


def test_native_calls_are_no_effect(tmp_path: Path) -> None:
    write(tmp_path, map(_of_native, example(4)))
    assert not any(line.startswith("collectives") for line in effects(comparison(analyse(record.read_all(tmp_path)))))


@pytest.mark.parametrize(("ranks", "words"), [(1, "1 rank"), (2, "2 ranks")])
def test_freed_memory_that_is_kept_shows_in_page_faults(ranks: int, words: str) -> None:
    analysis = Analysis(faults=[FaultRow("kept", ranks=ranks, faults=10)])
    (line,) = effects(comparison(analysis, 47100, 12700))
    assert line == f"memory: freed memory kept on {words}, 47.1k page faults a run became 12.7k"


def test_waits_and_hits_are_counted() -> None:
    analysis = Analysis(polled_calls=1200, windows=[WindowRow("user", full_hits=70, pending_hits=7)])
    assert effects(comparison(analysis)) == [
        "waiting: 1200 blocking calls yielded the core",
        "cache: 77 gets answered without a message",
    ]
