"""Lines on stderr. Without rich, which takes longer to import than all that `wherry run` does before the start."""

from __future__ import annotations

import os

import click

#: By the level of a message.
_STYLES = {"error": {"fg": "red"}, "warning": {"fg": "yellow"}, "note": {"dim": True}}


def say(text: str, level: str = "") -> None:
    """`wherry: text`, in the level's colour on a terminal that takes colours."""
    style = {} if os.environ.get("NO_COLOR") else _STYLES.get(level, {})
    click.secho(f"wherry: {text}", err=True, **style)  # type: ignore[arg-type]
