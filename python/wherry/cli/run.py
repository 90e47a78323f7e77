"""The command `wherry run`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from wherry.cli.common import examples, no_separator
from wherry.run import runner
from wherry.run.options import Options


@click.command(
    context_settings={"allow_interspersed_args": False},
    epilog=examples(
        "wherry run -- mpiexec -n 8 ./app input.txt",
        "wherry run --report out -- mpirun -n 2 python script.py",
        "wherry run --profile-only -- srun -n 64 ./app",
        "wherry run -- mpiexec -n 4 ./ocean : -n 4 ./air",
        "wherry run --netlab -- mpiexec -n 8 ./app",
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
@click.option("--netlab", is_flag=True, help="Run on emulated hosts with Gigabit links; needs root.")
@click.option("--hosts", type=click.IntRange(1, 64), default=4, show_default=True, help="Number of emulated hosts.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- LAUNCHER ... APP ...")
def run(
    report: Path | None, profile_only: bool, verbose: int, netlab: bool, hosts: int, command: tuple[str, ...]
) -> None:
    """Run an unmodified MPI program with Wherry.

    Ends with a summary on stderr: the time in MPI, by call and by place, and what Wherry replaced. The exit code is
    the program's.
    """
    options = Options(report, profile_only, verbose)
    sys.exit(_on_cluster(command, options, hosts) if netlab else runner.run(command, options))


def _on_cluster(command: tuple[str, ...], options: Options, hosts: int) -> int:
    from wherry.netlab import Cluster, commands
    from wherry.run.launch import find_launcher

    commands.check(command, find_launcher(command) if command else None)
    with Cluster(hosts) as cluster:
        return runner.run(command, options, lambda words, launcher: commands.spread(words, launcher, cluster))
