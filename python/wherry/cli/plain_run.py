"""`wherry run` as most people write it, read without click, which takes long to import."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from wherry.run.options import Options

_VERBOSE = re.compile(r"--verbose|-(v+)")


def read(arguments: Sequence[str]) -> tuple[Options, list[str]] | None:
    """Options and command of `run [options] -- command`; None for all else, and for mistakes: click names them."""
    if arguments[:1] != ["run"] or "--" not in arguments:
        return None
    end = arguments.index("--")
    options, rest = Options(), iter(arguments[1:end])
    for word in rest:
        name, is_one_word, value = word.partition("=")
        if name == "--report":
            value = value if is_one_word else next(rest, "")
            if not value or value.startswith("-"):
                return None
            options = replace(options, report=Path(value))
        elif word == "--profile-only":
            options = replace(options, profile_only=True)
        elif found := _VERBOSE.fullmatch(word):
            options = replace(options, verbose=options.verbose + len(found[1] or "v"))
        else:
            return None
    return options, list(arguments[end + 1 :])
