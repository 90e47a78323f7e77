"""The commands, each of which is imported when it runs, and what click says of a mistake."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import click
from click.exceptions import NoArgsIsHelpError

from wherry import __version__
from wherry.errors import UsageError, unknown

#: Module below `wherry` and name in it. A command is imported when it runs, and waits for no other.
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


def run_command(arguments: Sequence[str]) -> int:
    """Runs the command that the arguments name and returns its exit code. Raises UsageError where they are wrong."""
    try:
        code = wherry(list(arguments), prog_name="wherry", standalone_mode=False)
    except click.exceptions.Abort:
        return 130
    except NoArgsIsHelpError as error:
        error.show()
        return 2
    except click.ClickException as error:
        raise UsageError(_sentence(error)) from error
    return code if isinstance(code, int) else 0
