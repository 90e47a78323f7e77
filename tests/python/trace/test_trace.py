"""Traces: from records, as files, as tables and pictures."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke
from synthetic import COLLECTIVE, MS, Draft, write

from wherry import trace
from wherry.errors import UsageError, WherryError
from wherry.trace import COMPUTE, MPI, SETUP, WAIT, Span, Trace, chrome, picture

ALLREDUCE = "MPI_Allreduce"


def draft(rank: int, times_ms: list[tuple[int, int]], numbers: list[int] | None = None, **header: Any) -> Draft:
    """A rank of two that enters and leaves an allreduce at these times."""
    arrivals = [
        {"function": 0, "sequence": number, "enter_ns": enter * MS, "leave_ns": leave * MS}
        for number, (enter, leave) in zip(numbers or range(len(times_ms)), times_ms, strict=False)
    ]
    return Draft(
        rank=rank,
        header={"start_ns": 5 * MS, "end_ns": 60 * MS} | header,
        rows={
            "functions": [{"name": ALLREDUCE.encode(), "kind": COLLECTIVE}, {"name": b"MPI_Send", "kind": 0}],
            "comms": [{"key": 1, "size": 2, "rank": rank, "nodes": 1}],
            "arrivals": arrivals,
        },
    )


def spans_ms(spans: list[Span]) -> list[tuple[str, str, float, float]]:
    return [(span.name, span.kind, round(1e3 * span.begin_s, 6), round(1e3 * span.end_s, 6)) for span in spans]


def test_records_tell_computing_waiting_and_the_rest(tmp_path: Path) -> None:
    write(tmp_path, [draft(0, [(10, 25), (40, 55)]), draft(1, [(20, 25), (50, 55)])])
    found = trace.read(tmp_path)
    assert found.title == "./app"
    assert found.note == ""
    assert spans_ms(found.ranks[0]) == [
        ("MPI_Init", SETUP, 0, 5),
        (ALLREDUCE, WAIT, 5, 15),
        (ALLREDUCE, MPI, 15, 20),
        (COMPUTE, COMPUTE, 20, 35),
        (ALLREDUCE, WAIT, 35, 45),
        (ALLREDUCE, MPI, 45, 50),
        (COMPUTE, COMPUTE, 50, 55),
    ]
    assert spans_ms(found.ranks[1])[:3] == [
        ("MPI_Init", SETUP, 0, 5),
        (COMPUTE, COMPUTE, 5, 15),
        (ALLREDUCE, MPI, 15, 20),
    ]
    seconds = {kind: round(1e3 * s, 6) for kind, s in found.seconds(0).items()}
    assert seconds == {COMPUTE: 20, WAIT: 20, MPI: 10, SETUP: 5}


def test_start_and_end_are_spans_of_their_own(tmp_path: Path) -> None:
    drafts = [draft(rank, [(10, 25)], end_ns=90 * MS) for rank in (0, 1)]
    for one in drafts:
        one.rows["functions"] = [*one.rows["functions"], {"name": b"MPI_Finalize", "kind": 4}]
        finalize = {"function": 2, "count": 1, "time_ns": 50 * MS, "comm": 0, "module": 0xFFFFFFFF}
        one.rows["calls"] = [finalize]
    write(tmp_path, drafts)
    found = trace.read(tmp_path)
    assert spans_ms(found.ranks[0]) == [
        ("MPI_Init", SETUP, 0, 5),
        (ALLREDUCE, MPI, 5, 20),
        (COMPUTE, COMPUTE, 20, 35),
        ("MPI_Finalize", SETUP, 35, 85),
    ]
    assert found.note == ""


def test_where_collectives_are_missing_nothing_is_said_of_the_time_between(tmp_path: Path) -> None:
    write(tmp_path, [draft(rank, [(10, 25), (40, 55)], [0, 2]) for rank in (0, 1)])
    found = trace.read(tmp_path)
    assert {span.kind for span in found.ranks[0]} == {MPI, SETUP}
    assert "what lies between them is left out" in found.note


def test_other_calls_are_named(tmp_path: Path) -> None:
    drafts = [draft(rank, [(10, 25)]) for rank in (0, 1)]
    for one in drafts:
        one.rows["calls"] = [{"function": 1, "count": 2, "time_ns": 500 * MS, "comm": 0, "module": 0xFFFFFFFF}]
    write(tmp_path, drafts)
    said = "of the whole run, 1 s in other calls of MPI, of all ranks together, count as computing"
    assert trace.read(tmp_path).note == said
    assert trace.read(tmp_path).cut(0.0, 0.02).note == said


def test_hosts_are_compared_by_their_time_of_day_and_wait_for_nobody(tmp_path: Path) -> None:
    day = 1_800_000_000 * 10**9
    one = draft(0, [(10, 25)], realtime_ns=day)
    other = draft(1, [(1020, 1025)], start_ns=1005 * MS, end_ns=1060 * MS, boot_id=b"boot-b", realtime_ns=day + 2 * MS)
    write(tmp_path, [one, other])
    found = trace.read(tmp_path)
    assert spans_ms(found.ranks[0])[1] == (ALLREDUCE, MPI, 5, 20)
    assert spans_ms(found.ranks[1])[1] == (ALLREDUCE, MPI, 17, 22)


def test_a_file_reads_back(tmp_path: Path) -> None:
    spans = [Span(COMPUTE, COMPUTE, 0.0, 0.25), Span("reduce", WAIT, 0.25, 0.5), Span("reduce", MPI, 0.5, 0.5625)]
    written = Trace("a run", {0: spans, 1: spans[:1]}, "a note")
    file = tmp_path / "trace.json"
    chrome.write(file, written)
    data = json.loads(file.read_text())
    assert data["displayTimeUnit"] == "ms"
    names = {event["pid"]: event["args"]["name"] for event in data["traceEvents"] if event["ph"] == "M"}
    assert names == {0: "rank 0", 1: "rank 1"}
    for event in data["traceEvents"]:
        if event["ph"] == "X":
            assert set(event) == {"name", "cat", "ph", "ts", "dur", "pid", "tid"}
    read = trace.read(file)
    assert (read.title, read.note) == ("a run", "a note")
    assert {rank: spans_ms(got) for rank, got in read.ranks.items()} == {0: spans_ms(spans), 1: spans_ms(spans[:1])}


EVENT = {"name": "compute", "cat": "compute", "ph": "X", "ts": 0, "dur": 1, "pid": 0, "tid": 0}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is empty"),
        ('{"traceEvents": [\n{"name": "comp', "it is not whole JSON but breaks off in line 2, column 10"),
        ("rank 0: 5 ms", "it is no JSON from line 1, column 1 on"),
        ('{"traceEvents": []} more', "it is no JSON from line 1, column 21 on"),
        ('{"traceEvents" [], "a": 2', "it is no JSON from line 1, column 16 on"),
        ('{"traceEvents": [], "a": -', "it is not whole JSON but breaks off in line 1, column 26"),
        ("[]", "it has no list of traceEvents"),
        ('{"traceEvents": 3}', "it has no list of traceEvents"),
        ('{"traceEvents": []}', "there is no span in it"),
        (json.dumps({"traceEvents": [EVENT | {"ph": "B"}]}), "event 0 is neither a span (X) nor a name (M)"),
        (json.dumps({"traceEvents": [EVENT, EVENT | {"dur": -1}]}), "event 1 has no times: ts 0, dur -1"),
        (json.dumps({"traceEvents": [EVENT | {"ts": "soon"}]}), "event 0 has no times: ts 'soon'"),
        (json.dumps({"traceEvents": [EVENT | {"pid": -1}]}), "event 0 has no rank: pid -1"),
        (json.dumps({"traceEvents": [EVENT | {"cat": "idle"}]}), "event 0 is of no known kind: cat 'idle'"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_text(text)
    with pytest.raises(UsageError) as error:
        trace.read(file)
    assert str(error.value).startswith(f"{file} is no trace of Wherry's: ")
    assert str(error.value).endswith("; `wherry trace --json FILE` and `nbody --trace FILE` write some")
    assert said in str(error.value)


def test_folders_without_records_say_how_to_make_some(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="wherry run --report"):
        trace.read(tmp_path)
    with pytest.raises(UsageError, match="does not exist"):
        trace.read(tmp_path / "none")
    write(tmp_path, [draft(0, []), draft(1, [])])
    with pytest.raises(WherryError, match="no rank was seen in one that others take part in; `wherry report"):
        trace.read(tmp_path)


def test_what_is_no_collective_is_named_where_nothing_else_was_called(tmp_path: Path) -> None:
    drafts = [draft(0, []), draft(1, [])]
    names = (b"MPI_Init", b"MPI_Get", b"MPI_Win_fence")
    for one in drafts:
        one.rows["functions"] = [{"name": name, "kind": 2} for name in names]
        one.rows["calls"] = [
            {"function": number, "count": 1, "time_ns": time, "comm": 0, "module": 0xFFFFFFFF}
            for number, time in enumerate((900 * MS, MS, 2 * MS))
        ]
    write(tmp_path, drafts)
    with pytest.raises(WherryError) as error:
        trace.read(tmp_path)
    assert str(error.value) == (
        f"nothing to trace in {tmp_path}: a trace shows blocking collectives, and no rank was seen in one that others"
        " take part in (the time in MPI went above all to MPI_Win_fence, MPI_Get);"
        f" `wherry report {tmp_path}` shows the time in all calls"
    )


def test_a_cut_keeps_what_lies_between(tmp_path: Path) -> None:
    whole = Trace("", {0: [Span(COMPUTE, COMPUTE, 0, 2), Span("x", MPI, 2, 3)], 1: [Span("x", MPI, 5, 6)]})
    part = whole.cut(1, 2.5)
    assert part.ranks == {0: [Span(COMPUTE, COMPUTE, 1, 2), Span("x", MPI, 2, 2.5)], 1: []}


def test_a_picture_has_a_panel_for_each_trace() -> None:
    one = Trace("equal shares", {0: [Span(COMPUTE, COMPUTE, 0, 2)], 1: [Span("x", WAIT, 0, 1), Span("x", MPI, 1, 2)]})
    drawn = picture.svg([one, Trace("balanced shares", one.ranks)])
    assert drawn.count("<svg") == 1
    for text in ("equal shares", "balanced shares", "waiting for other ranks", "ms"):
        assert text in drawn
    assert drawn == picture.svg([one, Trace("balanced shares", one.ranks)])


def test_the_command(invoke: Invoke, tmp_path: Path) -> None:
    write(tmp_path / "out", [draft(0, [(10, 25), (40, 55)]), draft(1, [(20, 25), (50, 55)])])
    file, drawn = tmp_path / "trace.json", tmp_path / "trace.svg"
    done = invoke("trace", tmp_path / "out", "--json", file, "--plot", drawn)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == "./app: 55 ms"
    assert lines[1].split() == ["rank", "compute", "wait", "mpi", "setup"]
    assert lines[2].split() == ["0", "36%", "36%", "18%", "9.1%"]
    assert lines[-2:] == [f"wrote {file}", f"wrote {drawn}"]
    assert trace.read(file).ranks.keys() == {0, 1}
    assert drawn.read_text().startswith("<?xml")
    part = invoke("trace", file, "--from", "0.005", "--to", "0.015")
    assert part.out.splitlines()[0] == "./app: 10 ms"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{out}", "{out}", "--json", "{out}.json"], "--json writes one trace; give one source"),
        (["{out}", "--json", "/no/such/folder/x"], "cannot write /no/such/folder/x"),
        (["{out}", "--plot", "/no/such/folder/x"], "cannot write /no/such/folder/x"),
        (["{out}", "--plot", "{thesis}"], "exists and is no SVG picture; it is left alone"),
        (["{out}", "--json", "{out}.x", "--plot", "{out}.x"], "would both write"),
        (["{out}", "--from", "9"], "nothing from 9 to 0.055 s"),
        (["{out}", "--from", "0.02", "--to", "0.01"], "let --from be less than --to"),
        (["{out}/none"], "does not exist"),
    ],
)
def test_wrong_usage_leaves_no_file(invoke: Invoke, words: list[str], said: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, [draft(rank, [(10, 25)]) for rank in (0, 1)])
    thesis = tmp_path / "thesis.txt"
    thesis.write_text("precious")
    before = sorted(itertools.chain(tmp_path.iterdir(), out.iterdir()))
    done = invoke("trace", *(word.format(out=out, thesis=thesis) for word in words))
    assert done.code == 2
    assert said in done.err
    assert sorted(itertools.chain(tmp_path.iterdir(), out.iterdir())) == before
    assert thesis.read_text() == "precious"
