"""The command line: parses, calls the functions that do the work, prints. Nothing is computed here."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

import click
from click.exceptions import NoArgsIsHelpError

from wherry import __version__
from wherry.errors import WherryError, unknown
from wherry.messages import say

#: Module below `wherry` and name in it. A command is imported when it runs: `wherry run` must not wait for the others.
COMMANDS = {
    "bench": "cli.bench:bench",
    "compare": "compare.command:compare_",
    "completion": "cli.completion:completion",
    "draw": "cli.schedules:draw",
    "explain": "cli.schedules:explain",
    "export": "cli.export:export_",
    "info": "cli.info:info",
    "layout": "layout.command:layout_",
    "report": "cli.report:report_",
    "run": "cli.run:run",
    "simulate": "cli.simulate:simulate_",
    "study": "cli.study:study_",
    "trace": "cli.trace:trace_",
    "tune": "cli.tune:tune",
}


class Commands(click.Group):
    """Imports its commands on demand, and suggests the nearest name for an unknown one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(f"wherry.{module}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            raise unknown("command", args[0], COMMANDS)
        return super().resolve_command(ctx, args)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="wherry")
def wherry() -> None:
    """Measure and reduce the time that an MPI program spends in communication.

    The program needs no change.

    Start with: wherry run -- mpiexec -n 4 ./app
    """


def _sentence(error: click.ClickException) -> str:
    """What click says, as Wherry's own messages are written."""
    message = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "wherry"
    return f"{message[:1].lower()}{message[1:]} (see `{command} --help`)"


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
        code = wherry(prog_name="wherry", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except (click.exceptions.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read the output has enough; Python must not complain while it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except NoArgsIsHelpError as error:
        error.show()
        sys.exit(2)
    except click.ClickException as error:
        say(_sentence(error), "error")
        sys.exit(2)
    except (WherryError, OSError) as error:
        say(str(error), "error")
        sys.exit(error.exit_code if isinstance(error, WherryError) else 1)
