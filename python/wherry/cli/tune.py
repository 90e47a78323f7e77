"""The command `wherry tune`."""

from __future__ import annotations

from pathlib import Path

import click

from wherry import units
from wherry.cli.common import (
    check_writable,
    examples,
    file_option,
    given_options,
    numbers,
    progress_bar,
    results_console,
)
from wherry.errors import UsageError
from wherry.measure import harness
from wherry.run.mpis import choose_mpi
from wherry.tune import ahead, library, model, results, tables


@click.command(
    context_settings={"allow_interspersed_args": False},
    epilog=examples(
        "wherry tune -n 4 --operations alltoall --sizes 64,1024",
        "wherry tune -- mpiexec -n 64 --hostfile hosts",
        "wherry tune --model",
        "wherry tune --model -- mpiexec -n 16 --hostfile hosts",
        "wherry tune --library --mpi mpich -n 4,8 -o mpich.json",
    ),
)
@click.option("--mpi", "mpi_name", metavar="NAME", help="MPI to use, as `wherry info` names it.")
@click.option("-n", "ranks", metavar="LIST", callback=numbers, help="Numbers of ranks, with commas.")
@click.option("--netlab", is_flag=True, help="Run on emulated hosts with Gigabit links; needs root.")
@click.option("--hosts", type=click.IntRange(1, 64), default=4, show_default=True, help="Number of emulated hosts.")
@click.option("--operations", metavar="LIST", help="Collectives, with commas.")
@click.option("--sizes", metavar="LIST", callback=numbers, help="Block sizes in bytes, with commas.")
@click.option("--model", "of_model", is_flag=True, help="Fit the constants of the cost model to this machine instead.")
@click.option("--library", "of_library", is_flag=True, help="Measure the MPI library's own algorithms instead.")
@click.option("--launches", type=click.IntRange(min=1), help="With --library or --model: number of launches.")
@file_option("-o", "file", help="With --library: file to write.")
@click.option("--quick", is_flag=True, help="Fewer calls and launches: a check, not a measurement.")
@click.argument("launcher", nargs=-1, type=click.UNPROCESSED, metavar="[-- LAUNCHER ...]")
def tune(
    mpi_name: str | None,
    ranks: tuple[int, ...] | None,
    netlab: bool,
    hosts: int,
    operations: str | None,
    sizes: tuple[int, ...] | None,
    of_model: bool,
    of_library: bool,
    launches: int | None,
    file: Path | None,
    quick: bool,
    launcher: tuple[str, ...],
) -> None:
    """Choose algorithms ahead of the runs that need them.

    Measures collectives of these sizes on so many ranks, and keeps the fastest algorithms in Wherry's tuning file. With
    --model: measures messages and copies, and keeps the constants of the cost model there. With --library: measures
    each algorithm that the MPI library can be told to use, for `wherry export`.
    """
    harness.check_hosts(given_options())
    mpi = choose_mpi(mpi_name) if mpi_name else None
    setup = harness.Setup(mpi, None, netlab, hosts, quick, launches, tuple(sorted(set(sizes))) if sizes else None)
    names = operations.split(",") if operations else None
    counts = ranks or ((8,) if netlab else (2,) if of_model else (4,))
    if of_model and (of_library or operations or sizes or file):
        raise UsageError("--model measures messages and copies; leave out --library, --operations, --sizes and -o")
    if of_library:
        tune_library(setup, counts, names, file, launcher)
        return
    if launcher and (ranks or netlab):
        raise UsageError("a launcher says itself how many ranks it starts and where; leave out -n and --netlab")
    if of_model:
        tune_model(setup, counts, launcher)
        return
    with progress_bar("tune") as setup.progress:
        trained = ahead.train(setup, counts, names, launcher)
    if trained.rows:
        results_console().print(tables.trained(trained.rows))
    click.echo(f"{len(trained.rows)} new or changed rows in {trained.file}; it held {trained.before} before")


def tune_model(setup: harness.Setup, ranks: tuple[int, ...], launcher: tuple[str, ...]) -> None:
    if len(ranks) > 1:
        raise UsageError("--model measures on one number of ranks; give one with -n")
    with progress_bar("tune") as setup.progress:
        found = model.fit(setup, ranks[0], launcher)
    results_console().print(tables.constants(found.constants))
    where = f"{units.plural(found.measured.ranks, 'rank')} on {units.plural(found.measured.nodes, 'node')}"
    library_name = " ".join(found.measured.mpi.split())
    click.echo(f"measured with {library_name} on {found.measured.machine}, {where}; stored in {found.file}")


def tune_library(
    setup: harness.Setup,
    ranks: tuple[int, ...],
    operations: list[str] | None,
    file: Path | None,
    launcher: tuple[str, ...],
) -> None:
    if launcher:
        raise UsageError("--library starts its programs itself; give --mpi and -n instead of a launcher")
    if file is None:
        raise UsageError("--library needs a file for its results; add for example -o results.json")
    check_writable(file)
    with progress_bar("tune") as setup.progress:
        found = library.measure(setup, ranks, operations)
    results.save(file, found)
    results_console().print(tables.library(found))
    for row in found.excluded:
        click.echo(f"left out: {row.operation} on {row.ranks} ranks, {row.algorithm.name}: {row.reason}")
    click.echo(f"statistic: {found.statistic}; {found.machine}; wrote {file}")
