"""The demo: table, page and picture as functions of records, what is said of rows that cannot run, and one real row."""

from __future__ import annotations

import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from wherry import paths
from wherry.bench import programs
from wherry.compare import Experiment
from wherry.demo import main, page, results, rows
from wherry.demo.picture import picture
from wherry.demo.rows import ROWS, DemoRow
from wherry.errors import UsageError
from wherry.files import read_json
from wherry.measure.record import CONTRACT, Measurement
from wherry.run.mpis import find_mpis


def run_of(variant: str, number: int, seconds: float) -> dict[str, Any]:
    counts = {"user_s": 1.0, "system_s": 0.5, "faults": 12345, "waits": 7, "preemptions": 3, "peak_bytes": 1 << 20}
    return {"variant": variant, "round": number, "program": seconds, "wall_s": 2 * seconds, **counts}


def measured(title: str, low: float, ratio: float, high: float, place: str = "node", **more: Any) -> Measurement:
    blank = programs.blank("case", "mpich", 2, "shared memory")
    summary = {"seed": 1, "ratio": ratio, "low": low, "high": high, "level": 0.95, "rounds": 3}
    runs = [run_of(variant, n, s) for n in range(3) for variant, s in (("native", 0.4 * ratio), ("Wherry", 0.4))]
    members = {
        "value": 0.4, "baseline": 0.4 * ratio, "ratio": ratio, "samples": [summary, *runs], "title": title,
        "about": f"what {title} is", "library": "MPICH 5.0.2", "place": place, "where": "2 ranks on 2 cores",
        "did": ["memory: freed memory kept on 2 ranks"], "answers_equal": 8, "machine": "2 x CPU", "commit": "abc1234",
    }  # fmt: skip
    return blank | members | more


def absent(title: str, why: str, reason: str) -> Measurement:
    said = programs.not_measured(programs.blank("case", "intel", 2, "shared memory"), why, reason)
    shown = {"title": title, "about": "", "library": "intel", "place": "node", "where": "2 ranks on 2 cores"}
    return said | {**shown, "machine": "2 x CPU", "commit": "abc1234"}


FASTER = measured("salt", 1.4, 1.5, 1.6)
SLOWER = measured("slow", 0.8, 0.9, 0.99)
OPEN = measured("unclear", 0.9, 1.1, 1.3, did=[])
CROWDED = measured("crowd", 2.0, 3.0, 4.0, place="crowded", where="4 ranks on 2 cores, more ranks than cores")
CLUSTER = measured("net", 1.1, 1.2, 1.3, place="cluster", where="8 ranks on 4 emulated hosts")
ALL = [FASTER, SLOWER, OPEN, CLUSTER, CROWDED]


class Page(HTMLParser):
    """The cells of each row of tables, and the headings, in their order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[str]] = []
        self.headings: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br"):
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data
        elif self.open[-1:] in (["h1"], ["h2"]):
            self.headings.append(data)


def said(records: list[Measurement], width: int = 200) -> str:
    console = Console(file=io.StringIO(), width=width)
    main.show(console, records)
    return console.file.getvalue()  # type: ignore[attr-defined]


# what is said of a record


@pytest.mark.parametrize(
    ("record", "word"), [(FASTER, "faster"), (SLOWER, "slower"), (OPEN, "no measurable difference")]
)
def test_the_interval_decides(record: Measurement, word: str) -> None:
    assert results.verdict(record) == word


def test_an_interval_that_touches_one_is_no_difference() -> None:
    assert results.verdict(measured("x", 1.0, 1.1, 1.2)) == results.verdict(measured("x", 0.8, 0.9, 1.0))
    assert results.verdict(measured("x", 1.0, 1.1, 1.2)) == "no measurable difference"


def test_the_conclusion_counts_all_rows() -> None:
    assert results.conclusion(ALL) == (
        "with Wherry: 3 faster, 1 slower, 1 no measurable difference; all 40 answers equal"
    )
    assert results.conclusion([FASTER, absent("x", "failed", "why")]) == "1 of 2 programs failed"
    assert results.conclusion([absent("x", "skipped", "why")]) == "nothing could run"


# the table at a terminal and in the page


def test_the_terminal_shows_times_interval_effect_and_answers() -> None:
    line = next(line for line in said(ALL).splitlines() if line.startswith("salt"))
    for word in ("MPICH 5.0.2, 2 ranks on 2 cores", "600 ms", "400 ms", "1.50 (1.40 to 1.60)", "faster", "8 equal"):
        assert word in line
    unclear = next(line for line in said(ALL).splitlines() if line.startswith("unclear"))
    assert "no measurable difference" in unclear
    _, did = said(ALL).split("what Wherry did:\n")
    assert "  salt, 2 ranks on 2 cores: memory: freed memory kept on 2 ranks\n" in did
    assert "  unclear, 2 ranks on 2 cores: nothing but recording\n" in did
    assert "more ranks than cores" in said(ALL)


def test_what_did_not_run_is_said_with_the_reason() -> None:
    shown = said([FASTER, absent("first", "skipped", "run: [make] setup"), absent("second", "failed", "code 9")])
    assert "not run: first, intel, 2 ranks on 2 cores: run: [make] setup" in shown
    assert "FAILED: second, intel, 2 ranks on 2 cores: code 9" in shown


def test_the_page_begins_with_the_table_and_names_more_ranks_than_cores() -> None:
    found = Page(page.page(ALL))
    assert found.open == []
    assert found.headings == [
        "Programs with and without Wherry", "As many ranks as cores", "On an emulated cluster",
        "More ranks than cores", "The ratios", "The same with your program", "How it was measured",
    ]  # fmt: skip
    assert found.rows[0] == [*results.HEADERS, "what Wherry did"]
    salt = found.rows[1]
    assert salt[0] == "saltwhat salt is"
    assert salt[1:6] == ["MPICH 5.0.2, 2 ranks on 2 cores", "600 ms", "400 ms", "1.50 (1.40 to 1.60)", "faster"]
    assert salt[6:] == ["8 equal", "memory: freed memory kept on 2 ranks"]


def test_the_page_shows_every_run_that_counts() -> None:
    found = Page(page.page([FASTER]))
    runs = [row for row in found.rows if row[1:2] in (["native"], ["Wherry"])]
    assert runs == [
        ["salt, 2 ranks on 2 cores", variant, str(n + 1), seconds, wall, "12.3k", "7"]
        for n in range(3)
        for variant, seconds, wall in (("native", "600 ms", "1.2 s"), ("Wherry", "400 ms", "800 ms"))
    ]


def test_the_page_tells_machine_commit_rounds_and_how_to_do_the_same() -> None:
    text = page.page(ALL)
    for words in ("2 x CPU", "abc1234", "3 rounds", "MPICH 5.0.2", "wherry compare -- mpiexec -n 4 ./app"):
        assert words in text


def test_the_page_needs_nothing_from_elsewhere_and_escapes_what_is_said() -> None:
    text = page.page([FASTER, absent("x", "skipped", "needs <root>"), absent("y", "failed", "<script>")])
    assert "needs &lt;root&gt;" in text and "&lt;script&gt;" in text
    assert not any(word in text for word in ("http://", "https://", "<script", "src="))


def test_a_page_of_nothing_says_so() -> None:
    found = Page(page.page([absent("x", "skipped", "no MPI")]))
    assert "The ratios" not in found.headings


# the picture


def places(svg: str) -> list[tuple[float, float, float]]:
    """Of each row: left end of the bar, middle of the dot, right end of the bar."""
    bars = [(float(x), float(w)) for x, w in re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', svg)]
    dots = [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', svg)]
    return [(x, dot, x + width) for (x, width), dot in zip(bars, dots, strict=True)]


def test_dots_lie_in_their_intervals_and_ratios_from_left_to_right() -> None:
    drawn = re.sub(r"<title>.*?</title>", "", picture(ALL))
    found = places(drawn)
    assert all(low < dot < high for low, dot, high in found)
    by_ratio = sorted(zip([record.ratio or 0 for record in ALL], found, strict=True))
    assert [dot for _, (_, dot, _) in by_ratio] == sorted(dot for _, (_, dot, _) in by_ratio)
    one = float(re.findall(r'<line x1="([\d.]+)"[^>]*class="grid one"', drawn)[0])
    assert found[0][0] > one > found[1][2]  # faster to the right of 1, slower to the left
    assert found[2][0] < one < found[2][2]


def test_an_interval_without_end_stays_in_the_picture() -> None:
    (low, dot, high) = places(re.sub(r"<title>.*?</title>", "", picture([measured("x", 1e-300, 1.0, 1e300)])))[0]
    assert 0 < low < dot < high < 780


# rows


def test_rows_name_programs_that_there_are_and_are_told_apart() -> None:
    assert all(programs.program(row.program).about for row in ROWS)
    assert len({(row.title, row.mpi, row.where()) for row in ROWS}) == len(ROWS)
    assert len({row.key for row in ROWS}) == 5


def test_more_ranks_than_cores_are_one_row_named_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "CORES", 4)
    crowded = [row for row in ROWS if "more ranks than cores" in row.where()]
    assert [row.place for row in crowded] == ["crowded"]
    assert crowded[0].where() == "8 ranks on 4 cores, more ranks than cores"
    monkeypatch.setattr(rows, "CORES", 1)  # where MPI programs of two ranks share the only core, too
    assert all("more ranks than cores" in row.where() for row in ROWS if row.place != "cluster")


def test_where_nothing_is_installed_every_row_stays_in_with_the_reason() -> None:
    found = rows.measure(ROWS, {}, "no root", Experiment(2), lambda what, done, total: None)
    assert [record.excluded for record in found] == [
        {"skipped": f"{row.mpi} is not installed; run: make setup"} for row in ROWS
    ]
    assert all(set(CONTRACT) <= set(record.to_json()) for record in found)
    json.dumps([record.to_json() for record in found], allow_nan=False)
    assert page.page(found)


def test_an_unknown_program_is_named_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'lammps'"):
        main.chosen(["lamps"])
    assert {row.key for row in main.chosen(["heat", "fft"])} == {"heat", "fft"}


@pytest.mark.parametrize("where", ["file", "file/below"])
def test_an_output_that_cannot_be_written_is_wrong_usage_before_any_work(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("precious")
    monkeypatch.setattr(main, "find_mpis", lambda: pytest.fail("it has begun to work"))
    with pytest.raises(SystemExit) as done:
        main.main(["--out", str(tmp_path / where)], prog_name="demo")
    assert done.value.code == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"demo: cannot write to --out {tmp_path / where}" in said and "name a directory" in said
    assert (tmp_path / "file").read_text() == "precious"


def test_a_real_program_gives_the_same_answer_under_wherry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not paths.preload_library().exists():
        pytest.skip("Wherry is not built; run: make build")
    mpi = next((mpi for mpi in find_mpis() if mpi.name in ("mpich", "openmpi") and mpi.python), None)
    if mpi is None:
        pytest.skip("no MPI with Python is installed; run: make setup")
    monkeypatch.setattr(main, "ROWS", [DemoRow("heat", "heat", "heat conduction", mpi.name)])
    with pytest.raises(SystemExit) as done:
        main.main(["--out", str(tmp_path), "--quick", "--no-cluster"], prog_name="demo")
    shown = capsys.readouterr().out
    assert done.value.code == 0, shown
    assert "all 6 answers equal" in shown  # native and Wherry, once uncounted and in two rounds
    (record,) = map(Measurement.from_json, read_json(tmp_path / "demo.json"))
    assert record["answers_equal"] == 6 and results.rounds(record) == 2
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "heat conduction" in text and results.ratio(record) in text
