"""From records to numbers to one screen of text."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest
from synthetic import MS, Draft, example, write

from wherry import units
from wherry.analysis import Analysis, analyse, from_data, machines, record
from wherry.analysis.record_format import NOT_CACHED
from wherry.report import windows
from wherry.run import runner
from wherry.run.summary import Context, print_summary
from wherry.screen import Screen


def analysed(folder: Path, drafts: list[Draft]) -> Analysis:
    write(folder, drafts)
    return analyse(record.read_all(folder))


def shown(analysis: Analysis, width: int = 80) -> str:
    file = io.StringIO()
    print_summary(Screen(file, width), analysis, Context("out/report.html"))
    return file.getvalue()


def test_times_and_shares(tmp_path: Path) -> None:
    result = analysed(tmp_path, example(4))
    assert result.size == 4
    assert result.seconds == pytest.approx(1.0)
    assert result.mpi_share == pytest.approx(0.275)
    assert [row.function for row in result.functions] == ["MPI_Alltoall", "MPI_Bcast", "MPI_Send"]
    assert result.functions[0].totals.calls == 400
    assert result.functions[0].totals.seconds == pytest.approx(0.8)
    assert result.functions[2].totals.derived_calls == 40
    assert [(row.name, row.size) for row in result.comms] == [("MPI_COMM_WORLD", 4)]


def test_call_sites_are_merged_over_ranks(tmp_path: Path) -> None:
    result = analysed(tmp_path, example(4, program="/no/such/app"))
    assert [(row.site, row.ranks) for row in result.sites] == [
        ("app+0x1234", 4),
        ("app+0x2345", 4),
        ("unknown place", 4),
    ]


def test_waiting_is_the_last_entry_minus_the_own(tmp_path: Path) -> None:
    result = analysed(tmp_path, example(4))
    (row,) = result.waits
    assert (row.function, row.calls) == ("MPI_Bcast", 3)
    assert row.wait_seconds == pytest.approx(3 * (3 + 2 + 1) * 1e-3)
    assert row.seconds == pytest.approx(3 * (20 + 19 + 18 + 17) * 1e-3)
    waits = [rank.wait_seconds for rank in result.ranks]
    assert waits[0] == pytest.approx(3 / 20 * 0.05)
    assert waits[3] == pytest.approx(0.0)


def test_waiting_is_not_told_across_clocks(tmp_path: Path) -> None:
    drafts = example(4)
    drafts[2].header["boot_id"] = b"boot-b"
    result = analysed(tmp_path, drafts)
    assert result.waits == []
    assert "clocks of hosts" in result.wait_note
    assert all(rank.wait_seconds is None for rank in result.ranks)


def test_a_collective_that_one_rank_did_not_keep_is_left_out(tmp_path: Path) -> None:
    drafts = example(4)
    del drafts[3].rows["arrivals"][1]
    assert analysed(tmp_path, drafts).waits[0].calls == 2


def machine(monkeypatch: pytest.MonkeyPatch, boot_id: str, cores: int) -> None:
    monkeypatch.setattr(machines, "this_machine", lambda: (boot_id, cores))


def test_more_ranks_than_cores_are_said_beside_the_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, "boot-a", 3)
    lines = " ".join(shown(analysed(tmp_path, example(4))).split())
    assert "entered a collective later 4 ranks share 3 cores on node0: they wait for a core, too" in lines


@pytest.mark.parametrize(("boot_id", "cores"), [("boot-a", 4), ("boot-b", 1)])
def test_enough_cores_or_unknown_ones_are_not_mentioned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, boot_id: str, cores: int
) -> None:
    machine(monkeypatch, boot_id, cores)
    assert "core" not in shown(analysed(tmp_path, example(4)))


def test_ranks_count_by_machine_and_emulated_hosts_are_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, "boot-a", 2)
    drafts = example(6)
    for rank, (host, boot_id) in enumerate([(b"h1", b"boot-a")] * 2 + [(b"h2", b"boot-a")] + [(b"far", b"boot-b")] * 3):
        drafts[rank].header |= {"host": host, "boot_id": boot_id}
    result = analysed(tmp_path, drafts)
    assert [(row.hosts, row.ranks, row.cores) for row in result.machines] == [(["h1", "h2"], 3, 2), (["far"], 3, None)]
    text = " ".join(shown(result).split())
    assert "3 ranks share 2 cores on 2 hosts of one machine" in text
    assert "far" not in text


def test_this_machine_is_known_by_the_id_of_its_kernel() -> None:
    boot_id, cores = machines.this_machine()
    assert boot_id == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert cores == len(os.sched_getaffinity(0))


def with_gain(ranks: int, **numbers: int) -> list[Draft]:
    drafts = example(ranks)
    for draft in drafts:
        draft.rows["gains"][0] |= numbers  # type: ignore[operator]
    return drafts


def told(folder: Path, drafts: list[Draft]) -> str:
    return " ".join(shown(analysed(folder, drafts)).split())


def test_a_gain_is_claimed_with_its_interval(tmp_path: Path) -> None:
    drafts = example(4)
    drafts[3].rows["gains"][0] |= {"share": 35_000, "most": 52_000}  # type: ignore[operator]
    result = analysed(tmp_path, drafts)
    (row,) = result.gains
    assert (row.comm, row.comm_size, row.pairs, row.verdict) == ("MPI_COMM_WORLD", 4, 53, "replaced")
    assert (row.share, row.low, row.high) == pytest.approx((0.032, 0.022, 0.043))
    assert (row.native_seconds, row.replaced_seconds) == pytest.approx((4e-3, 3.876e-3))
    line = "collectives on MPI_COMM_WORLD: 3.2% less time per step (95%: 2.2% to 4.3%)"
    assert line in " ".join(shown(result).split())


def test_a_loss_is_called_one_and_given_back(tmp_path: Path) -> None:
    drafts = with_gain(4, verdict=1, share=-50_000, least=-61_000, most=-39_000)
    line = "5.0% more time per step (95%: 3.9% to 6.1%; native runs now)"
    assert line in told(tmp_path, drafts)


def test_a_difference_that_is_not_measurable_is_no_gain(tmp_path: Path) -> None:
    text = told(tmp_path, with_gain(4, verdict=0, share=4_000, least=-3_000, most=11_000))
    assert "no measurable difference (95%: -0.3% to 1.1% less time per step)" in text
    assert "replaced 90% of MPI_Alltoall calls by mesh" in text


def test_without_enough_pairs_no_gain_is_claimed(tmp_path: Path) -> None:
    not_known = {"verdict": 0, "pairs": 2, "share": 400_000, "least": 1, "most": 0}
    drafts = with_gain(4)
    drafts[1].rows["gains"][0] |= not_known  # type: ignore[operator]
    assert analysed(tmp_path, drafts).gains[0].low is None
    none = example(4)
    for draft in none:
        draft.rows["gains"] = []
    for text in (told(tmp_path, drafts), told(tmp_path / "none", none)):
        assert "gain: not measured (too few calls" in text
        assert "less time" not in text


def test_two_communicators_with_most_measured_time_are_told(tmp_path: Path) -> None:
    drafts = example(2)
    names = (b"row", b"", b"column")
    for draft in drafts:
        draft.rows["comms"] = [{"key": i, "size": 2 + i, "name": name} for i, name in enumerate(names)]
        draft.rows["gains"] = [{**draft.rows["gains"][0], "comm": i, "pairs": 20 + i} for i in range(3)]
    text = told(tmp_path, drafts)
    assert text.index("collectives on column:") < text.index("collectives on a communicator of 3 ranks:")
    assert "on row" not in text


def test_a_choice_of_an_earlier_run_is_named_as_such(tmp_path: Path) -> None:
    drafts = example(2)
    for draft in drafts:
        draft.rows["decisions"] = [{**draft.rows["decisions"][2], "reason": 2, "call": 0}]
    assert "replaced 90% of MPI_Alltoall calls by mesh (chosen in an earlier run)" in told(tmp_path, drafts)


def test_gains_come_back_from_json(tmp_path: Path) -> None:
    result = analysed(tmp_path, example(2))
    assert from_data(result.data()).gains == result.gains


def test_decisions_are_told_once_for_all_ranks(tmp_path: Path) -> None:
    result = analysed(tmp_path, example(4))
    assert [(row.strategy, row.reason, row.call) for row in result.decisions] == [
        ("native", "trial", 0),
        ("mesh", "trial", 5),
        ("mesh", "kept", 10),
    ]
    assert result.decisions[2].at_seconds == pytest.approx(0.030)


def test_what_is_incomplete_is_said(tmp_path: Path) -> None:
    drafts = example(4)[:3]
    drafts[1].header["state"] = 0
    drafts[2].dropped["calls"] = 17
    warnings = " | ".join(analysed(tmp_path, drafts).warnings)
    assert "1 rank did not reach MPI_Finalize: 1" in warnings
    assert "records of 1 rank of 4 are missing: 3" in warnings
    assert "17 events not recorded because the table 'calls' was full" in warnings


def test_the_summary_answers_the_questions_on_one_screen(tmp_path: Path) -> None:
    lines = shown(analysed(tmp_path, example(4))).splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    parts = ("in MPI", "MPI_Alltoall", "app+0x1234", "replaced 90%", "mesh", "less time per step", "intercommunicator")
    for part in parts:
        assert part in text, part


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_summary_keeps_to_the_width(tmp_path: Path, width: int) -> None:
    for line in shown(analysed(tmp_path, example(4, program="/x/" + "long name " * 30)), width).splitlines():
        assert len(line) <= width


def test_no_line_is_cut_in_a_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    result = analysed(tmp_path, example(2, program="/x/" + "long name " * 30))
    result.sites[0].site = "a_long_name_" * 20
    text = shown(result, runner.summary_columns())
    assert "a_long_name_" * 20 in text
    assert "…" not in text
    assert len(text.splitlines()[0]) <= 80  # but the rule above it keeps to what a terminal shows


def test_long_names_of_places_do_not_squeeze_the_numbers(tmp_path: Path) -> None:
    result = analysed(tmp_path, example(2))
    result.sites[0].site = "a_long_name_" * 20
    (line,) = [line for line in shown(result).splitlines() if "a_long" in line]
    assert line.startswith("MPI_Alltoall")
    assert "73%" in line


def test_names_with_markup_are_plain_text(tmp_path: Path) -> None:
    text = shown(analysed(tmp_path, example(2, program="/x/[red]a 'b' \"c\"")))
    assert text.splitlines()[1].startswith("[red]a 'b' \"c\": 2 ranks")


def test_nothing_recorded_is_an_empty_analysis(tmp_path: Path) -> None:
    result = analyse(record.read_all(tmp_path))
    assert result.ranks == []
    assert result.mpi_share == 0.0


def test_a_rank_without_time_divides_by_nothing(tmp_path: Path) -> None:
    drafts = [Draft(size=1, header={"start_ns": 5 * MS, "init_ns": 0, "end_ns": 0})]
    result = analysed(tmp_path, drafts)
    assert result.mpi_share == 0.0
    assert "0 s" in shown(result)


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"), (5 << 40, "5 TiB")]
)
def test_bytes(value: int, text: str) -> None:
    assert units.bytes_(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0 s"), (1.5, "1.5 s"), (0.00123, "1.23 ms"), (2.5e-6, "2.5 us"), (1e-9, "1 ns")]
)
def test_seconds(value: float, text: str) -> None:
    assert units.seconds(value) == text


def test_size_classes() -> None:
    names = ["0 B", "1 B", "2 B", "3-4 B", "<= 8 B", "<= 16 B"]
    assert [units.bucket(i) for i in range(6)] == names
    assert units.bucket(11) == "<= 1 KiB"


def test_ranges() -> None:
    assert units.ranges([0, 1, 2, 5, 7, 8]) == "0-2, 5, 7-8"
    assert units.ranges([]) == ""


def test_cached_windows_in_one_sentence(tmp_path: Path) -> None:
    result = analysed(tmp_path, example(4))
    (row,) = result.windows
    assert (row.caching, row.windows, row.whole_hits, row.lookups) == ("user", 4, 360, 400)
    assert row.misses == {"compulsory": 32, "capacity": 8, "conflict": 0, "invalidated": 0}
    text = " ".join(shown(result, 200).split())
    assert (
        "cached windows (user): 90% of 400 ranges looked up were hits, 35.2 KiB not fetched;"
        " misses mostly compulsory; 20 native gets" in text
    )


def test_hits_in_part_and_gets_that_went_past_the_cache_are_told_apart(tmp_path: Path) -> None:
    drafts = example(2)
    for draft in drafts:
        draft.rows["windows"][0] |= {"full_hits": 60, "pending_hits": 10, "partial_hits": 20, "bypassed": 3}
        draft.rows["not_cached"] = [
            {"reason": NOT_CACHED.index("plain gets were cheaper"), "count": 3, "bytes": 300},
            {"reason": NOT_CACHED.index("of the rank's own memory"), "count": 4, "bytes": 4},
            {"reason": NOT_CACHED.index("by MPI_Rget"), "count": 1},
            {"reason": NOT_CACHED.index("too large to keep"), "count": 900, "bytes": 1 << 30},
        ]
    result = analysed(tmp_path, drafts)
    text = " ".join(shown(result, 200).split())
    assert "70% of 200 ranges looked up were hits and 20% in part, 17.6 KiB not fetched" in text
    assert "; 16 native gets (of the rank's own memory: 8; plain gets were cheaper: 6)" in text
    (row,) = result.windows
    assert [(one.reason, one.count, one.bytes) for one in row.not_cached] == [
        ("too large to keep", 1800, 2 << 30),
        ("of the rank's own memory", 8, 8),
        ("plain gets were cheaper", 6, 600),
        ("by MPI_Rget", 2, 0),
    ]
    page = str(windows.cached(result))
    assert all(one.reason.replace("'", "&#x27;") in page for one in row.not_cached)
    assert "range not kept" in page
    assert from_data(json.loads(json.dumps(result.data()))).windows == result.windows


def test_windows_whose_gets_all_went_past_the_cache(tmp_path: Path) -> None:
    draft = Draft(rows={"windows": [{"comm": record.NONE, "caching": 0, "bypassed": 7}]})
    text = " ".join(shown(analysed(tmp_path, [draft]), 200).split())
    assert ": no range was looked up; 7 native gets" in text


def test_what_the_ranks_of_a_node_read_for_each_other(tmp_path: Path) -> None:
    drafts = example(2)
    for draft in drafts:
        draft.rows["windows"][0] |= {"node_found": 6, "node_offered": 4, "node_refused": 1}
    result = analysed(tmp_path, drafts)
    (row,) = result.windows
    assert (row.node_found, row.node_offered, row.node_refused) == (12, 8, 2)
    assert "misses mostly compulsory; 12 of them found in the node's cache; 10 native gets" in " ".join(
        shown(result, 200).split()
    )


def test_windows_that_are_never_cached(tmp_path: Path) -> None:
    result = analysed(
        tmp_path,
        [
            Draft(
                rows={
                    "windows": [{"comm": record.NONE, "caching": 3, "passed": 7}, {"comm": record.NONE, "caching": 4}]
                }
            )
        ],
    )
    text = " ".join(shown(result, 200).split())
    assert "shared memory windows: not cached; 7 native gets" in text
    assert "dynamic" not in text


def test_windows_that_nobody_read_are_not_spoken_of(tmp_path: Path) -> None:
    result = analysed(tmp_path, [Draft(rows={"windows": [{"comm": record.NONE, "caching": 0}]})])
    assert "cached windows" not in shown(result)


@pytest.mark.parametrize(
    ("library", "option"),
    [
        ("Open MPI v5.0.11", "--map-by slot:pe=4"),
        ("Intel(R) MPI Library 2021.18", "I_MPI_PIN_DOMAIN=4"),
        ("MPICH Version: 5.0.2", "-bind-to none"),
        ("Cray MPICH version 8", "bind a rank to 4 cores"),
    ],
)
def test_threads_bound_to_too_few_cores_are_a_mistake_with_a_remedy(tmp_path: Path, library: str, option: str) -> None:
    drafts = example(3)
    for draft, processors in zip(drafts, (1, 1, 4), strict=True):
        draft.header |= {"threads": 4, "processors": processors, "mpi_version": library.encode()}
    result = analysed(tmp_path, drafts)
    assert [(row.ranks, row.threads, row.cores) for row in result.bindings] == [(2, 4, 1)]
    assert "2 ranks compute with 4 threads each on 1 core each: " in result.bindings[0].problem()
    assert option in result.bindings[0].problem()
    assert "2 ranks compute with 4 threads" in shown(from_data(result.data()), width=200)


def test_threads_that_fit_or_are_unknown_are_no_mistake(tmp_path: Path) -> None:
    here, cores = machines.this_machine()
    for number, header in enumerate(({}, {"threads": 2, "processors": 2}, {"threads": 4, "processors": 0})):
        (draft,) = example(1)
        draft.header |= header
        assert analysed(tmp_path / str(number), [draft]).bindings == []
    (draft,) = example(1)  # all cores that there are
    draft.header |= {"threads": cores + 1, "processors": cores, "boot_id": here.encode()}
    assert analysed(tmp_path / "all", [draft]).bindings == []
