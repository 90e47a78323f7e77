"""Lines on stderr, without rich and click, which take long to import."""

from __future__ import annotations

import os
import sys
from typing import IO, cast

from wherry.ansi import style

#: By the level of a message.
_STYLES = {"error": "red", "warning": "yellow", "note": "dim"}


def takes_colours() -> bool:
    """Whether standard error is a terminal that shows colours to somebody who wants them."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "") in ("dumb", "unknown")
    return not plain and sys.stderr.isatty()


def say(text: str, level: str = "") -> None:
    """`wherry: text`, in the level's colour on a terminal that takes colours."""
    line = f"wherry: {text}"
    shown = style(line, _STYLES[level]) if level in _STYLES and takes_colours() else line
    unfailing_stderr().write(f"{shown}\n")


class _Unfailing:
    """Standard error, for what must go on if nobody reads it any more or its disk is full: the rest is dropped."""

    def __init__(self) -> None:
        self.encoding = sys.stderr.encoding

    def write(self, text: str) -> int:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            # What is left in the buffer would fail again when Python ends, and change the exit code.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
        return len(text)

    def flush(self) -> None:
        pass  # each write does

    def isatty(self) -> bool:
        return sys.stderr.isatty()

    def fileno(self) -> int:
        return sys.stderr.fileno()


def unfailing_stderr() -> IO[str]:
    """Standard error, for messages that must not change an exit code."""
    return cast(IO[str], _Unfailing())
