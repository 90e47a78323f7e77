"""`wherry compare`: the command line of a comparison. Parses and prints."""

from __future__ import annotations

import os
import random
import re
from contextlib import nullcontext
from pathlib import Path

import click

from wherry.cli.common import check_writable, examples, file_option, no_separator, progress_bar, results_console
from wherry.compare import rounds, text
from wherry.compare.launching import Reading, Started, on_cluster
from wherry.errors import UsageError
from wherry.files import write_records
from wherry.netlab import Cluster, commands
from wherry.run import launch, runner
from wherry.run.check import check

_SEEDS = 1 << 31


class Pattern(click.ParamType):  # type: ignore[type-arg]
    name = "regular expression"

    def convert(
        self, value: str | re.Pattern[str], parameter: click.Parameter | None, context: click.Context | None
    ) -> re.Pattern[str]:
        if isinstance(value, re.Pattern):
            return value
        try:
            return re.compile(value, re.MULTILINE)
        except re.error as error:
            self.fail(f"'{value}' is no regular expression: {error}", parameter, context)


@click.command(
    name="compare",
    context_settings={"allow_interspersed_args": False},
    epilog=examples(
        "wherry compare -- mpiexec -n 2 ./app input.txt",
        "wherry compare --time 'loop (\\S+)' --answer 'energy (\\S+)' -- mpiexec -n 2 python bench/programs/heat.py",
        "wherry compare --why -n 20 --json out.json -- mpiexec -n 4 ./app",
        "wherry compare --netlab -- mpiexec -n 8 ./app",
    ),
)
@click.option("-n", "count", type=click.IntRange(min=2), default=10, show_default=True, help="Rounds.")
@click.option(
    "--time",
    type=Pattern(),
    metavar="REGEX",
    callback=no_separator,
    help="A time that the program prints: the first group, the last match. It is compared instead of the wall time.",
)
@click.option(
    "--answer",
    type=Pattern(),
    metavar="REGEX",
    callback=no_separator,
    help="What the program prints that must not depend on Wherry: the groups of all matches.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    help="Relative difference that numbers in answers may have.",
)
@click.option("--why", is_flag=True, help="Leave out one part of Wherry at a time: which one makes the difference?")
@file_option("--json", "file", callback=no_separator, help="Write records with the samples of all runs.")
@click.option("--netlab", is_flag=True, help="Run on emulated hosts with Gigabit links; needs root.")
@click.option("--hosts", type=click.IntRange(1, 64), default=4, show_default=True, help="Number of emulated hosts.")
@click.option("--seed", type=click.IntRange(0, _SEEDS), help="Seed of the random order; default: a new one.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- LAUNCHER ... APP ...")  # fmt: skip
def compare_(
    count: int,
    time: re.Pattern[str] | None,
    answer: re.Pattern[str] | None,
    tolerance: float,
    why: bool,
    file: Path | None,
    netlab: bool,
    hosts: int,
    seed: int | None,
    command: tuple[str, ...],
) -> None:
    """Compare a whole program with and without Wherry.

    Runs it in rounds, with and without Wherry once in a round, in random order, and shows the ratio of the times with
    its confidence interval: above 1, Wherry is faster. Beside it CPU time, page faults, context switches and memory.
    """
    check_writable(file)
    started, given = prepare(command, netlab)
    experiment = rounds.Experiment(
        count, random.randrange(_SEEDS) if seed is None else seed, why, Reading(time, answer), tolerance
    )
    with Cluster(hosts) if netlab else nullcontext() as cluster, progress_bar("compare") as progress:
        placed = on_cluster(started, cluster) if cluster else started
        result = rounds.compare(placed, given, experiment, progress)
    text.show(results_console(), result)
    if file is not None:
        write_records(file, text.records(result, command, f"{hosts} emulated hosts" if netlab else "as started"))


def prepare(command: tuple[str, ...], netlab: bool) -> tuple[Started, dict[str, str]]:
    """What to start, and the caller's settings for Wherry. Raises UsageError before anything has started."""
    if not command:
        raise UsageError("nothing to run; write for example: wherry compare -- mpiexec -n 4 ./app")
    launcher = launch.find_launcher(command)
    findings = check(launcher, launch.programs(command, launcher))
    runner.show_findings(findings)
    if netlab:
        commands.check(command, launcher)
    given = {name: value for name, value in os.environ.items() if name.startswith("WHERRY_")}
    if any(finding.profile_only for finding in findings):
        given |= runner.PROFILE_ONLY
    return Started(command, launcher), given
