"""What is said about what ran in place of native collectives."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest
from click import unstyle
from synthetic import MS, Draft, example, write

from wherry.analysis import Analysis, analyse, record
from wherry.analysis.replaced import REPLACEABLE, sentences

ROOT = Path(__file__).resolve().parents[3]
TRIAL, KEPT, LOADED, FORCED, DROPPED, CHANGED = range(6)

Uses = dict[str, int]  # calls per rank by strategy
Decisions = Sequence[tuple[int, int, str]]  # call, reason, strategy


def run_of(folder: Path, uses: Uses, decisions: Decisions, function: str = "MPI_Alltoall") -> Analysis:
    """A run of two ranks with one kind of calls; the native call takes 3 ms and every strategy 1 ms."""
    drafts = example(2)
    for draft in drafts:
        rows = draft.rows
        rows["functions"][0] = {"name": function.encode(), "kind": 1}
        rows["calls"] = [{**rows["calls"][0], "count": sum(uses.values())}]
        rows["uses"] = [
            {"function": 0, "bucket": 11, "calls": calls, "strategy": name.encode()} for name, calls in uses.items()
        ]
        rows["decisions"] = [
            {"function": 0, "bucket": 11, "call": call, "reason": reason, "strategy": name.encode()}
            | {"at_ns": 20 * MS, "time_ns": MS, "native_ns": 3 * MS}
            for call, reason, name in decisions
        ]
        rows["misses"] = []
    return analysed(folder, drafts)


def analysed(folder: Path, drafts: Sequence[Draft]) -> Analysis:
    write(folder, drafts)
    return analyse(record.read_all(folder))


def said(analysis: Analysis, switched_off: str = "", reproducible: bool = False) -> list[str]:
    return [unstyle(line) for line in sentences(analysis, switched_off, reproducible)]


def kept(analysis: Analysis) -> dict[str, int]:
    return {use.strategy: use.kept_calls for use in analysis.uses}


def test_calls_in_place_are_told_apart(tmp_path: Path) -> None:
    """They learn for themselves: what one kind keeps says nothing of the other, of the same function and size."""
    drafts = example(2)
    for draft in drafts:
        draft.rows["calls"][0]["count"] = 180
        draft.rows["uses"] = [
            {"function": 0, "bucket": 11, "limit": limit, "calls": 90, "strategy": name}
            for limit, name in ((0, b"mesh"), (1, b"pairwise"))
        ]
        draft.rows["decisions"] = [
            {"function": 0, "bucket": 11, "limit": limit, "call": 10, "reason": KEPT, "strategy": name}
            | {"at_ns": 20 * MS, "time_ns": MS, "native_ns": 3 * MS}
            for limit, name in ((0, b"mesh"), (1, b"pairwise"))
        ]
        draft.rows["misses"] = []
    result = analysed(tmp_path, drafts)
    assert kept(result) == {"mesh": 160, "pairwise": 160}
    assert [(use.limit, use.kind.block) for use in result.uses] == [
        ("", "<= 1 KiB"),
        ("in place", "<= 1 KiB, in place"),
    ]
    assert said(result)[:2] == [
        "replaced 89% of MPI_Alltoall calls by mesh; 11% were trials",
        "replaced 89% of MPI_Alltoall (in place) calls by pairwise; 11% were trials",
    ]


def test_calls_before_training_began_again_are_no_trials_and_those_after_it_are(tmp_path: Path) -> None:
    decisions = [(20, KEPT, "mesh"), (60, CHANGED, "mesh"), (80, KEPT, "bruck2")]
    result = run_of(tmp_path, {"native": 5, "mesh": 70, "bruck2": 25}, decisions)
    assert kept(result) == {"native": 0, "mesh": 80, "bruck2": 40}


def test_calls_before_a_strategy_was_kept_are_trials(tmp_path: Path) -> None:
    result = run_of(
        tmp_path,
        {"native": 6, "mesh": 84, "bruck2": 10},
        [(0, TRIAL, "mesh"), (5, TRIAL, "bruck2"), (20, KEPT, "mesh")],
    )
    assert kept(result) == {"native": 0, "mesh": 2 * 80, "bruck2": 0}
    assert said(result)[0] == ("replaced 80% of MPI_Alltoall calls by mesh; 14% were trials")


def test_trials_alone_replace_nothing(tmp_path: Path) -> None:
    result = run_of(tmp_path, {"native": 75, "direct": 25}, [(0, TRIAL, "direct"), (40, KEPT, "native")])
    assert kept(result) == {"native": 2 * 60, "direct": 0}
    assert said(result) == ["MPI_Alltoall: native remains; trials of direct (25%) did not beat it"]


def test_a_run_that_ends_in_its_trials_has_decided_nothing(tmp_path: Path) -> None:
    result = run_of(tmp_path, {"native": 6, "direct": 4}, [(0, TRIAL, "direct")])
    assert said(result) == ["MPI_Alltoall: nothing is decided yet; 40% were trials of direct"]
    result = run_of(tmp_path / "before", {"native": 3}, [(0, TRIAL, "direct")])
    assert said(result) == ["MPI_Alltoall: nothing is decided yet; nothing was tried"]


def test_what_a_look_replaced_counts_until_then(tmp_path: Path) -> None:
    result = run_of(tmp_path, {"native": 10, "mesh": 50, "direct": 40}, [(10, KEPT, "mesh"), (60, KEPT, "direct")])
    assert kept(result) == {"native": 0, "mesh": 2 * 50, "direct": 2 * 40}
    assert [line.split(" (")[0] for line in said(result)[:2]] == [
        "replaced 50% of MPI_Alltoall calls by mesh",
        "replaced 40% of MPI_Alltoall calls by direct",
    ]


@pytest.mark.parametrize("reason", [LOADED, FORCED])
def test_a_choice_that_was_there_from_the_start_is_no_trial(tmp_path: Path, reason: int) -> None:
    result = run_of(tmp_path, {"mesh": 100}, [(0, reason, "mesh")])
    assert kept(result) == {"mesh": 2 * 100}


def test_a_strategy_that_the_settings_name_is_no_trial(tmp_path: Path) -> None:
    result = run_of(tmp_path, {"mesh": 100}, [])
    assert said(result) == ["replaced 100% of MPI_Alltoall calls by mesh"]


def test_a_strategy_that_hardly_ran_is_named_without_praise(tmp_path: Path) -> None:
    result = run_of(tmp_path, {"native": 98, "mesh": 2}, [(0, KEPT, "native"), (98, KEPT, "mesh")])
    assert said(result)[0] == "MPI_Alltoall: native ran in 98% of the calls; in few, mesh"


def test_only_the_functions_with_most_time_have_lines_of_their_own(tmp_path: Path) -> None:
    names = [f"MPI_{name}" for name in ("Barrier", "Bcast", "Gather", "Reduce", "Alltoall", "Scatter")]
    (draft,) = example(1)
    draft.rows["functions"] = [{"name": name.encode(), "kind": 1} for name in names]
    uses = [{"bucket": 11, "calls": 9, "strategy": b"native"} for _ in names]
    draft.rows["uses"] = [{**use, "function": i, "time_ns": i * MS} for i, use in enumerate(uses)]
    draft.rows["decisions"] = draft.rows["misses"] = []
    lines = said(analysed(tmp_path, [draft]))
    assert [line.split(":")[0] for line in lines[:4]] == ["MPI_Scatter", "MPI_Alltoall", "MPI_Reduce", "MPI_Gather"]
    assert lines[4:] == ["likewise chosen for: MPI_Bcast, MPI_Barrier (the report has all)"]


def test_shares_are_of_all_calls_also_of_those_before_enabling(tmp_path: Path) -> None:
    drafts = example(2)
    for draft in drafts:
        draft.rows["calls"][0] |= {"count": 180}  # type: ignore[operator]
    assert "replaced 50% of MPI_Alltoall calls by mesh" in said(analysed(tmp_path, drafts))[0]


@pytest.mark.parametrize("function", ["MPI_Reduce", "MPI_Allreduce", "MPI_Reduce_scatter_block"])
def test_replaced_reductions_may_round_otherwise(tmp_path: Path, function: str) -> None:
    result = run_of(tmp_path, {"native": 10, "mesh": 10}, [(10, KEPT, "mesh")], function)
    (note,) = [line for line in said(result) if "WHERRY_REPRODUCIBLE=1" in line]
    assert "may round in another order" in note
    # Then all that is replaced is exact.
    assert not [line for line in said(result, reproducible=True) if "round" in line]


def test_rounding_is_no_matter_where_nothing_is_reduced_by_wherry(tmp_path: Path) -> None:
    for function, uses in (("MPI_Alltoall", {"mesh": 10}), ("MPI_Allreduce", {"native": 10})):
        assert not [line for line in said(run_of(tmp_path, uses, [], function)) if "round" in line]


def test_why_nothing_was_replaced_is_no_guess(tmp_path: Path) -> None:
    drafts = example(2)
    for draft in drafts:
        draft.rows["uses"] = draft.rows["decisions"] = draft.rows["misses"] = []
    result = analysed(tmp_path, drafts)
    assert said(result, "--profile-only was given") == ["Wherry replaced nothing: --profile-only was given"]
    (few,) = said(result)
    assert "the calls of MPI_Alltoall, MPI_Bcast were too few or without data" in few
    result.functions = result.functions[2:]
    (none,) = said(result)
    assert none.endswith("the program called none of the collectives that it has strategies for")


def test_replaceable_collectives_are_those_of_the_source() -> None:
    calls = tomllib.loads((ROOT / "tools/mpi_functions.toml").read_text())["call"]
    names = [f"MPI_{name}" for call in calls if call.get("replaceable") for name in call["names"]]
    assert sorted(names) == sorted(REPLACEABLE)
