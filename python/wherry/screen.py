"""Lines and tables on a terminal or in a log, at the end of a run, where the import of rich would take longest."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import IO

from wherry.ansi import style, unstyle

_GAP = "  "
#: What would move the cursor, in names that programs choose.
_NO_CONTROLS = dict.fromkeys(b"\a\b\t\v\f\r")


def bold(text: str) -> str:
    return style(text, "bold")


class Screen:
    """Where lines are shown. Styled ones (ansi.style) keep their colours only where these are wanted."""

    def __init__(self, file: IO[str], columns: int, colours: bool = False) -> None:
        self._file = file
        self._columns = columns
        self._colours = colours

    @property
    def columns(self) -> int:
        return self._columns

    def line(self, text: str) -> None:
        """Wrapped between words."""
        for part in _wrapped(text, self._columns):
            self.whole_line(part)

    def whole_line(self, text: str) -> None:
        """What somebody may copy, such as a path: the terminal wraps it where it likes."""
        shown = text if self._colours else unstyle(text)
        self._file.write(f"{shown.translate(_NO_CONTROLS)}\n")

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]], left: Container[str]) -> None:
        """Columns as wide as their cells, those named in `left` aligned to the left; what is too wide is cut."""
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        aligned = [str.ljust if name in left else str.rjust for name in header]
        lines = [
            cut(
                _GAP.join(align(cell, width) for align, cell, width in zip(aligned, row, widths, strict=True)).rstrip(),
                self._columns,
            )
            for row in (header, *rows)
        ]
        self.whole_line(style(lines[0], "dim"))
        for line in lines[1:]:
            self.whole_line(line)


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _wrapped(text: str, columns: int) -> Iterator[str]:
    line, length = "", 0
    for word in text.split(" "):
        wide = len(unstyle(word))
        if line and length + 1 + wide > columns:
            yield line
            line, length = word, wide
        else:
            line, length = (f"{line} {word}", length + 1 + wide) if line else (word, wide)
    yield line
