"""Lines and tables at the end of a run."""

from __future__ import annotations

import io

from click import style, unstyle

from wherry.screen import Screen, bold

ROWS = [("MPI_Send", "9%", "main (a.c:3)"), ("MPI_Allreduce", "91%", "solve (a.c:70)")]


def screen(columns: int, colours: bool = False) -> tuple[Screen, io.StringIO]:
    file = io.StringIO()
    return Screen(file, columns, colours), file


def test_a_line_is_wrapped_between_words_and_styles_take_no_room() -> None:
    shown, file = screen(11, colours=True)
    shown.line(f"one {bold('two')} three {style('four', fg='green')}")
    lines = file.getvalue().splitlines()
    assert [unstyle(line) for line in lines] == ["one two", "three four"]
    assert lines[0] == f"one {bold('two')}"


def test_without_colours_nothing_but_the_text_is_written() -> None:
    shown, file = screen(80)
    shown.line(f"{bold('64%')} in MPI\r\a")
    assert file.getvalue() == "64% in MPI\n"


def test_a_word_that_is_too_long_stays_whole() -> None:
    shown, file = screen(8)
    shown.line("see /a/long/path now")
    assert file.getvalue().splitlines() == ["see", "/a/long/path", "now"]
    shown.whole_line("report: /a/long/path")
    assert file.getvalue().splitlines()[-1] == "report: /a/long/path"


def test_a_table_aligns_its_columns() -> None:
    shown, file = screen(80)
    shown.table(("call", "share", "from"), ROWS, left={"call", "from"})
    assert file.getvalue().splitlines() == [
        "call           share  from",
        "MPI_Send          9%  main (a.c:3)",
        "MPI_Allreduce    91%  solve (a.c:70)",
    ]


def test_a_table_that_is_too_wide_is_cut() -> None:
    shown, file = screen(24)
    shown.table(("call", "share", "from"), ROWS, left={"call", "from"})
    lines = file.getvalue().splitlines()
    assert max(map(len, lines)) == 24
    assert lines[2] == "MPI_Allreduce    91%  s…"
