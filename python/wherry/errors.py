"""Errors that the command line shows as a sentence instead of a traceback, and "did you mean"."""

from __future__ import annotations

from collections.abc import Iterable


class WherryError(Exception):
    """Something did not work; exit code 1."""

    exit_code = 1


class UsageError(WherryError):
    """The request itself cannot be right; says what to write instead. Exit code 2."""

    exit_code = 2


def unknown(what: str, name: str, known: Iterable[str]) -> UsageError:
    """`unknown strategy 'brucks' (have: bruck, mesh); did you mean 'bruck'?`"""
    names = list(known)
    return UsageError(f"unknown {what} '{name}' (have: {', '.join(names) or 'none'}){did_you_mean(name, names)}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'bruck'?` or nothing, to end a message with."""
    import difflib  # here: of all runs only those with a mistake in them need it

    names = list(known)
    near = [near for word in (name, name.lower()) for near in difflib.get_close_matches(word, names, n=1, cutoff=0.5)]
    return f"; did you mean '{near[0]}'?" if near else ""
