"""Colours of a terminal, for what must not wait for the import of click."""

from __future__ import annotations

import re

_CODES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "bright_green": 92}
_SEQUENCE = re.compile(r"\033\[[;?0-9]*[A-Za-z]")


def style(text: str, *names: str) -> str:
    """The text between the escape sequences of `names`: a colour, "bold", "dim"."""
    return "".join(f"\033[{_CODES[name]}m" for name in names) + text + "\033[0m"


def unstyle(text: str) -> str:
    return _SEQUENCE.sub("", text)
