"""The command `wherry bench`."""

from __future__ import annotations

from pathlib import Path

import click

from wherry.bench import output, picture, registry
from wherry.cli.common import (
    check_plot,
    check_writable,
    examples,
    file_option,
    given_options,
    launching_options,
    numbers,
    progress_bar,
    results_console,
)
from wherry.errors import UsageError
from wherry.measure import harness, record
from wherry.run.mpis import choose_mpi


@click.command(
    epilog=examples(
        "wherry bench --list",
        "wherry bench preload --mpi mpich",
        "wherry bench alltoall --netlab -n 8 --json alltoall.json",
        "wherry bench alltoall -n 4 --sizes 64,4096 --strategies wherry,mesh,bruck2",
        "wherry bench grid -n 8 --operations allreduce,bcast --plot grid.svg",
    )
)
@click.argument("name", required=False)
@click.option("--list", "listing", is_flag=True, help="Name the benchmarks and their questions.")
@launching_options
@click.option("--operations", metavar="LIST", help="Collectives, with commas.")
@click.option("--sizes", metavar="LIST", callback=numbers, help="Block sizes in bytes, with commas.")
@click.option(
    "--strategies",
    metavar="LIST",
    help="Strategies to compare, with commas; Wherry's own choice: wherry, of sparse auto.",
)
@file_option("--json", "file", help="Write records.")
@file_option("--plot", "picture_file", metavar="FILE.svg", help="Draw the ratios.")
@click.option("--quick", is_flag=True, help="Fewer and shorter launches: a check, not a measurement.")
def bench(
    name: str | None,
    listing: bool,
    mpi_name: str | None,
    ranks: int | None,
    netlab: bool,
    hosts: int,
    launches: int | None,
    operations: str | None,
    sizes: tuple[int, ...] | None,
    strategies: str | None,
    file: Path | None,
    picture_file: Path | None,
    quick: bool,
) -> None:
    """Run the benchmark NAME. Ratios above 1: Wherry is faster."""
    if listing:
        for row in registry.BENCHES:
            click.echo(f"{row.name:<10} {row.question}")
        return
    if name is None:
        raise UsageError("which benchmark? write `wherry bench NAME`; `wherry bench --list` names them")
    registry.check_options(name, given_options())
    check_writable(file)
    check_plot(picture_file)
    names = tuple(strategies.split(",")) if strategies else None
    if names:
        registry.check_strategies(name, names)
    setup = harness.Setup(
        mpi=choose_mpi(mpi_name) if "--mpi" in registry.find(name).options else None,
        ranks=ranks,
        netlab=netlab,
        hosts=hosts,
        quick=quick,
        launches=launches,
        sizes=sizes,
        strategies=names,
        operations=tuple(operations.split(",")) if operations else None,
    )
    with progress_bar(name) as setup.progress:
        results = registry.run(name, setup)
    output.show(results_console(), results)
    if file is not None:
        record.write(file, results)
    if picture_file is not None:
        picture.draw(results, picture_file)
