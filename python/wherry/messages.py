"""Lines on stderr. Without rich, which takes longer to import than all that `wherry run` does before the start."""

from __future__ import annotations

import os
import sys
from typing import IO, cast

import click

#: By the level of a message.
_STYLES = {"error": {"fg": "red"}, "warning": {"fg": "yellow"}, "note": {"dim": True}}


def takes_colours() -> bool:
    """Whether standard error is a terminal that shows colours to somebody who wants them."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "") in ("dumb", "unknown")
    return not plain and sys.stderr.isatty()


def say(text: str, level: str = "") -> None:
    """`wherry: text`, in the level's colour on a terminal that takes colours."""
    style = _STYLES.get(level, {}) if takes_colours() else {}
    click.secho(f"wherry: {text}", file=unfailing_stderr(), **style)  # type: ignore[arg-type]


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
