"""The command `wherry run`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from wherry.cli.common import examples, no_separator
from wherry.run import runner


@click.command(
    context_settings={"allow_interspersed_args": False},
    epilog=examples(
        "wherry run -- mpiexec -n 8 ./app input.txt",
        "wherry run --report out -- mpirun -n 2 python script.py",
        "wherry run --profile-only -- srun -n 64 ./app",
        "wherry run -- mpiexec -n 4 ./ocean : -n 4 ./air",
    ),
)
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    metavar="DIR",
    callback=no_separator,
    help="Keep the records and a report.html in DIR.",
)
@click.option("--profile-only", is_flag=True, help="Record, but replace nothing.")
@click.option("-v", "--verbose", count=True, help="Rank 0 says what Wherry found; twice: every decision.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- LAUNCHER ... APP ...")
def run(report: Path | None, profile_only: bool, verbose: int, command: tuple[str, ...]) -> None:
    """Run an unmodified MPI program with Wherry.

    Ends with a summary of where the communication went (on stderr, so that the program's output stays its
    own). The exit code is the program's.
    """
    options = runner.Options(report, profile_only, verbose)
    sys.exit(runner.run(command, options))
