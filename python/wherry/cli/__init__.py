"""The command line: parses, calls the functions that do the work, prints. Nothing is computed here."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from wherry.errors import WherryError
from wherry.messages import say


@contextmanager
def ending_politely() -> Iterator[None]:
    """A request to end is an exception, so that what was started ends, too, and temporary folders go."""

    def leave(number: int, frame: object) -> None:
        sys.exit(128 + number)

    default = [n for n in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) is signal.SIG_DFL]
    for number in default:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in default:
            signal.signal(number, signal.SIG_DFL)


def _mend_streams() -> None:
    """What is written to a closed standard error is lost; what standard output has no sign for is escaped."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - for the rest of the process
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def main() -> None:
    """Entry point: errors become one sentence on stderr and an exit code."""
    _mend_streams()
    with ending_politely():
        _main()


def _main() -> None:
    try:
        sys.exit(_run(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read the output has enough; Python must not complain while it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (WherryError, OSError) as error:
        say(str(error), "error")
        sys.exit(error.exit_code if isinstance(error, WherryError) else 1)


def _run(arguments: Sequence[str]) -> int:
    """Runs what the command line asks for and returns the exit code; a plain run without the import of click."""
    from wherry.cli import plain_run

    plain = plain_run.read(arguments)
    if plain is None:
        from wherry.cli import commands

        return commands.run_command(arguments)
    from wherry.run import runner

    options, command = plain
    return runner.run(command, options)
