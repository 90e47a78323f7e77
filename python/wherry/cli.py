"""The command line: parses, calls the functions that do the work, prints. Nothing is computed here."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from wherry import __version__, runner
from wherry.errors import WherryError, unknown


class Commands(click.Group):
    """Knows the nearest name of a misspelt command."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            raise unknown("command", args[0], self.list_commands(ctx))
        return super().resolve_command(ctx, args)


def errors_console() -> Console:
    return Console(stderr=True)


def _examples(*lines: str) -> str:
    r"""Text under the options of --help; \b keeps click from re-wrapping it."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="wherry")
def wherry() -> None:
    """See where an MPI program's communication goes, and get its all-to-alls faster.

    Start with: wherry run -- mpiexec -n 4 ./app
    """


@wherry.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog=_examples(
        "wherry run -- mpiexec -n 8 ./app input.txt",
        "wherry run --report out -- mpirun -n 2 python script.py",
        "wherry run --profile-only -- srun -n 64 ./app",
        "wherry run -- mpiexec -n 4 ./ocean : -n 4 ./air",
    ),
)
@click.option(
    "--report", type=click.Path(path_type=Path), metavar="DIR", help="Keep the records and a report.html in DIR."
)
@click.option("--profile-only", is_flag=True, help="Look, but replace nothing.")
@click.option("-v", "--verbose", count=True, help="Let the ranks say what Wherry found; twice: every decision.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- LAUNCHER ... APP ...")
def run(report: Path | None, profile_only: bool, verbose: int, command: tuple[str, ...]) -> None:
    """Run an unmodified MPI program with Wherry.

    Ends with a summary of where the communication went (on stderr, so that the program's output stays its
    own). The exit code is the program's.
    """
    options = runner.Options(report, profile_only, verbose)
    sys.exit(runner.run(command, options, errors_console()))


def main() -> None:
    """Entry point: errors become one sentence on stderr and an exit code."""
    try:
        wherry(standalone_mode=False)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except WherryError as error:
        errors_console().print(f"wherry: {escape(str(error))}", style="red", highlight=False, soft_wrap=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
