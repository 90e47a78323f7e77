"""The page: complete, self-contained, and safe whatever programs and hosts are called."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from synthetic import Draft, example, write

from wherry import report
from wherry.analysis import analyse, machines, record
from wherry.draw import charts, markup
from wherry.errors import UsageError, WherryError

STYLE, SCRIPT = (Path(report.__file__).parent / name for name in ("report.css", "report.js"))
EVIL = "</style><script>alert(\"x\")</script> & 'quoted'"


class Page(HTMLParser):
    """Checks that tags nest, and collects names of tags, attributes and text."""

    VOID = ("meta",)

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def page_of(folder: Path, drafts: list[Draft]) -> str:
    write(folder, drafts)
    return report.page(analyse(record.read_all(folder)))


def test_all_parts_are_there(tmp_path: Path) -> None:
    text = page_of(tmp_path, example(4))
    page = Page(text)
    assert page.open == []
    for title in ("Time by call", "Call sites", "What Wherry chose", "Native fallbacks", "Time per rank", "Sizes",
                  "Waiting in collectives", "Who sends to whom", "Communicators", "Derived datatypes"):  # fmt: skip
        assert title in page.texts, title
    assert page.tags.count("svg") >= 7
    assert page.tags.count("details") >= 7


def test_hits_and_curves_of_cached_windows_are_drawn(tmp_path: Path) -> None:
    """Ten hits of the first 20 lookups, 80 of the next 80; half of the lookups miss with 4 KiB."""
    page = Page(page_of(tmp_path, example(2)))
    assert page.open == []
    at = page.texts.index("Cached windows")
    assert page.texts[at + 1].startswith("cached windows (user): 90% of 200 ranges looked up were hits")
    lines = [value.split() for name, value in page.attributes if name == "points" and value]
    assert len(lines) == 4  # a line for each rank, in both pictures
    hits, misses = lines[0], lines[2]
    # Over 0 to 100 lookups, and over 4 to 16 KiB; shares from the floor at 194 to the top at 10.
    assert hits == ["201.2,102.0", "750.0,10.0"]
    assert misses == ["64.0,102.0", "750.0,171.0"]
    assert {"50%", "100%", "4 KiB", "16 KiB", "rank 1, user, 100 lookups"} <= set(page.texts)


def test_windows_without_points_have_sentences_only(tmp_path: Path) -> None:
    drafts = example(2)
    for draft in drafts:
        for name in ("window_points", "window_curves"):
            del draft.rows[name]
    page = Page(page_of(tmp_path, drafts))
    assert "Cached windows" in page.texts
    assert "polyline" not in page.tags
    for draft in drafts:
        del draft.rows["windows"]
    assert "Cached windows" not in Page(page_of(tmp_path, drafts)).texts


@pytest.mark.parametrize(
    ("least", "most", "ticks"),
    [
        (5, 5, [4, 8]),
        (4, 4, [4, 8]),
        (1, 100, [1, 4, 16, 64, 256]),
        (1 << 10, 1 << 20, [1 << p for p in range(10, 21, 2)]),
    ],
)
def test_powers_of_two_hold_all(least: float, most: float, ticks: list[float]) -> None:
    assert charts.powers_of_two(least, most) == ticks


def test_too_few_cores_and_trials_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines, "this_machine", lambda: ("boot-a", 2))
    texts = Page(page_of(tmp_path, example(4))).texts
    assert any("4 ranks share 2 cores on node0" in text for text in texts)
    at = texts.index("of them trials")
    mesh, native = texts.index("mesh", at), texts.index("native", at)
    assert texts[mesh + 1 : mesh + 3] == ["360", "0"]
    assert texts[native + 1 : native + 3] == ["40", "40"]


def test_the_page_needs_no_network_and_runs_only_what_it_brings(tmp_path: Path) -> None:
    text = page_of(tmp_path, example(4))
    page = Page(text)
    assert not {"link", "img", "iframe", "object"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name in ("src", "href") or name.startswith("on")]
    assert "url(" not in text
    assert text.count("<script") == 1
    assert SCRIPT.read_text(encoding="utf-8") in text
    assert not {"fetch(", "import", "XMLHttpRequest", "eval", "innerHTML"} & set(
        re.findall(r"[\w(]+", SCRIPT.read_text())
    )


def test_tables_are_labelled_and_the_keyboard_reaches_them(tmp_path: Path) -> None:
    text = page_of(tmp_path, example(4))
    tables = re.findall(r'<div class="scroll" tabindex="0" role="region" aria-label="[^"]+"><table>', text)
    assert len(tables) == text.count("<table>") > 5


def test_columns_sort_by_value(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no JavaScript without nodejs")
    cells = ["12.3k", "unknown", "1,234", "2 ms", "900 us", "1.5 KiB", "512 B", "45%", "<= 64 B", "-3", "MPI_Send"]
    ask = f"console.log(JSON.stringify({json.dumps(cells)}.sort(order)))"
    done = subprocess.run([node, "-e", SCRIPT.read_text() + ask], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [
        "-3", "900 us", "2 ms", "45%", "<= 64 B", "512 B", "1,234", "1.5 KiB", "12.3k", "MPI_Send", "unknown",
    ]  # fmt: skip


def luminance(color: str) -> float:
    """Relative, as WCAG 2.2 defines it."""
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_colors_have_enough_contrast(theme: int) -> None:
    """WCAG 2.2, level AA: 4.5 for text (1.4.3), 3 for what a picture says by its colors (1.4.11)."""
    block = re.findall(r":root \{(.*?)\}", STYLE.read_text(encoding="utf-8"), re.DOTALL)[theme]
    colors = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
    drawn = [name for name in colors if re.fullmatch(r"c\d+", name)]
    assert len(drawn) == 11
    for name in ["ink", "soft", "accent", *drawn]:
        for ground in ("ground", "card"):
            bright, dark = sorted((luminance(colors[name]), luminance(colors[ground])), reverse=True)
            assert (bright + 0.05) / (dark + 0.05) >= (3 if name in drawn else 4.5), (name, ground)


def test_names_are_escaped_everywhere(tmp_path: Path) -> None:
    drafts = example(2, program=EVIL, host=EVIL[:60])
    for draft in drafts:
        draft.header["mpi_version"] = EVIL.encode()
        draft.rows["comms"][0]["name"] = EVIL.encode()[:39]  # type: ignore[index]
        draft.rows["misses"][0]["reason"] = EVIL.encode()  # type: ignore[index]
        draft.rows["uses"][1]["strategy"] = b"<script>s"  # type: ignore[index]
        draft.rows["types"][0]["name"] = b"<script>t"  # type: ignore[index]
        draft.rows["functions"][1]["name"] = b"<script>f"  # type: ignore[index]
    text = page_of(tmp_path, drafts)
    page = Page(text)
    assert page.tags.count("script") == page.tags.count("style") == 1
    assert EVIL in "".join(page.texts)


def test_pictures_have_titles(tmp_path: Path) -> None:
    text = page_of(tmp_path, example(4))
    assert len(re.findall(r"<svg [^>]*><title>[^<]+</title>", text)) == text.count("<svg ")


def test_communicators_of_one_name_are_told_apart(tmp_path: Path) -> None:
    drafts = example(2)
    for draft in drafts:
        draft.rows["comms"].append({"key": 0xDEF, "size": 2, "rank": draft.rank, "name": b"MPI_COMM_WORLD"})
        draft.rows["uses"].append({**draft.rows["uses"][1], "comm": 1})
    page = Page(page_of(tmp_path, drafts))
    assert {"MPI_COMM_WORLD", "MPI_COMM_WORLD (2)"} <= set(page.texts)


def test_a_strategy_that_was_dropped_is_pale_and_said_to_be_slow(tmp_path: Path) -> None:
    drafts = example(2)
    for draft in drafts:
        draft.rows["decisions"][2] |= {"time_ns": 6_000_000}  # type: ignore[operator]
        draft.rows["decisions"].append({**draft.rows["decisions"][2], "call": 20, "strategy": b"native"})
    text = page_of(tmp_path, drafts)
    assert "mesh 6 ms, 2 times as slow; not kept" in Page(text).texts
    assert re.search(r'<rect class="s\d+ pale"[^>]*><title>mesh 6 ms', text)
    assert "lost" not in text


def test_a_strategy_that_was_kept_is_said_to_be_fast(tmp_path: Path) -> None:
    text = page_of(tmp_path, example(2))
    assert "mesh 1 ms, 3 times as fast" in Page(text).texts
    assert not re.search(r'<rect class="s\d+ pale"[^>]*><title>mesh 1 ms', text)
    assert "3.1% less time per step" in text
    assert "collectives on MPI_COMM_WORLD (95%: 2.2% to 4.0%)" in text


def test_calls_in_place_have_rows_of_their_own(tmp_path: Path) -> None:
    drafts = example(2)
    for draft in drafts:
        draft.rows["decisions"].append({**draft.rows["decisions"][-1], "limit": 1, "strategy": b"pairwise"})
    assert "<= 1 KiB, in place" in Page(page_of(tmp_path, drafts)).texts


def test_nothing_to_show_is_still_a_page(tmp_path: Path) -> None:
    assert Page(page_of(tmp_path, [Draft(size=1)])).open == []


def test_page_and_data_are_written(tmp_path: Path) -> None:
    write(tmp_path, example(4))
    path = report.from_directory(tmp_path)
    assert path == tmp_path / "report.html"
    data = json.loads((tmp_path / "report-data.json").read_text())
    assert data["size"] == 4
    assert data["functions"][0]["function"] == "MPI_Alltoall"
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".html", ".json", *[".wrec"] * 4]


def test_a_summary_alone_is_enough(tmp_path: Path) -> None:
    records = tmp_path / "records"
    write(records, example(4))
    analysis = analyse(record.read_all(records))
    (tmp_path / "summary.json").write_text(json.dumps(analysis.data()))
    assert report.load(tmp_path) == analysis


def test_missing_and_damaged_directories(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a directory"):
        report.from_directory(tmp_path / "none")
    with pytest.raises(UsageError, match="nothing to report"):
        report.from_directory(tmp_path)
    for text in ("{", "[]", '{"ranks": 3}', '{"ranks": [{}]}'):
        (tmp_path / "summary.json").write_text(text)
        with pytest.raises(WherryError, match=r"summary\.json is damaged"):
            report.from_directory(tmp_path)
    write(tmp_path / "records", example(4))
    data = analyse(record.read_all(tmp_path / "records")).data()
    for change in ({"seconds": "x"}, {"hosts": None}, {"size": 0}, {"windows": [{"misses": {}}]}):
        (tmp_path / "summary.json").write_text(json.dumps(data | change))
        with pytest.raises(UsageError, match=r"summary\.json is damaged \(.*\); record the run again"):
            report.from_directory(tmp_path)
    (tmp_path / "summary.json").write_text('{"size": 4,')
    with pytest.raises(
        WherryError, match=r"it is not whole JSON but breaks off in line 1, column 12\); record the run"
    ):
        report.from_directory(tmp_path)


def test_a_page_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, example(2))
    report.from_directory(tmp_path)
    before = (tmp_path / "report.html").read_text()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WherryError, match="No space left on device"):
        report.from_directory(tmp_path)
    assert (tmp_path / "report.html").read_text() == before
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]


@pytest.mark.parametrize("size", [1, 2, 63, 64, 65, 200, 1024])
def test_a_matrix_has_at_most_64_cells_per_side_and_keeps_every_byte(size: int) -> None:
    entries = [(i, (i + 1) % size, 10.0) for i in range(size)]
    cells, labels = charts.aggregate(size, entries)
    assert len(cells) == len(labels) <= 64
    assert sum(map(sum, cells)) == 10.0 * size
    assert labels[0].startswith("0")


@pytest.mark.parametrize("most", [1e-9, 0.3, 1.0, 7.0, 99.0, 1e6])
def test_ticks_reach_the_largest_value(most: float) -> None:
    ticks = charts.nice_ticks(most)
    assert ticks[0] == 0
    assert ticks[-1] >= most * (1 - 1e-9)
    assert 2 <= len(ticks) <= 7


def test_upright_bars_leave_room_for_labels_only_as_they_need_it() -> None:
    def height(label: str) -> float:
        made = charts.columns("title", [charts.Bar(label, [charts.BarPart(1.0, 0, "")])] * 12, str)
        lowest = [float(y) for y in re.findall(r'<rect[^>]* y="([\d.]+)"', made)]
        return max(lowest) + max(float(h) for h in re.findall(r'<rect[^>]* height="([\d.]+)"', made))

    assert height("short") > height("a label that is long")


@pytest.mark.parametrize(
    ("cells", "aligned"),
    [
        (["1.5 ms", "0 s", "-3 us"], True),
        ([1, 2.5], True),
        (["<= 8 B", "3-4 B"], True),
        (["unknown", "3"], True),
        (["unknown", ""], False),
        (["3", "three"], False),
        (["1 ms, 2 ms"], False),
    ],
)
def test_columns_of_numbers_are_aligned_as_such(cells: list[str | float], aligned: bool) -> None:
    made = markup.table(["name", "value"], [("x", cell) for cell in cells])
    assert made.count('class="n"') == (1 + len(cells) if aligned else 0)


def test_markup_escapes_text_and_attributes() -> None:
    made = markup.tag("p", "<b>", markup.tag("i", 1.5), title='"&"', class_="x")
    assert made == '<p title="&quot;&amp;&quot;" class="x">&lt;b&gt;<i>1.5</i></p>'
