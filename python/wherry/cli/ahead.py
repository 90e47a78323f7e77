"""The commands that look ahead: tune, export, simulate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from wherry import export, simulate, units
from wherry.cli.common import check_plot, check_writable, examples, given_options, numbers, progress_bar
from wherry.errors import UsageError
from wherry.files import write_records
from wherry.measure import harness
from wherry.schedule import plan
from wherry.simulate.output import show as show_simulation
from wherry.simulate.picture import draw as draw_simulation
from wherry.simulate.smpi import TimeLimit
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
@click.option("--netlab", is_flag=True, help="On emulated hosts with Gigabit links (root).")
@click.option("--hosts", type=click.IntRange(1, 64), default=4, show_default=True, help="Emulated hosts.")
@click.option("--operations", metavar="LIST", help="Collectives, with commas.")
@click.option("--sizes", metavar="LIST", callback=numbers, help="Block sizes in bytes, with commas.")
@click.option("--model", "of_model", is_flag=True, help="Fit the constants of the cost model to this machine instead.")
@click.option("--library", "of_library", is_flag=True, help="Measure the MPI library's own algorithms instead.")
@click.option("--launches", type=click.IntRange(min=1), help="With --library or --model: launches.")
@click.option("-o", "file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="With --library.")
@click.option("--quick", is_flag=True, help="Fewer calls and launches: a look, not a measurement.")
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
    """Learn ahead of time, so that programs need not.

    Fills Wherry's tuning file for collectives of these sizes on so many ranks. With --model: measures messages and
    copies, and puts the constants of the cost model there. With --library: measures each algorithm that the MPI library
    can be told to use, for `wherry export`.
    """
    harness.check_hosts(given_options())
    mpi = harness.choose_mpi(mpi_name) if mpi_name else None
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
        kept = ahead.train(setup, counts, names, launcher)
    if kept.rows:
        Console().print(tables.kept(kept.rows))
    click.echo(f"{len(kept.rows)} new or changed rows in {kept.file}; it held {kept.before} before")


def tune_model(setup: harness.Setup, ranks: tuple[int, ...], launcher: tuple[str, ...]) -> None:
    if len(ranks) > 1:
        raise UsageError("--model measures on one number of ranks; give one with -n")
    with progress_bar("tune") as setup.progress:
        found = model.fit(setup, ranks[0], launcher)
    Console().print(tables.constants(found.constants))
    where = f"{units.plural(found.measured.ranks, 'rank')} on {units.plural(found.measured.nodes, 'node')}"
    library_name = " ".join(found.measured.mpi.split())
    click.echo(f"measured with {library_name} on {found.measured.machine}, {where}; kept in {found.file}")


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
    Console().print(tables.library(found))
    for row in found.excluded:
        click.echo(f"left out: {row.operation} on {row.ranks} ranks, {row.algorithm.name}: {row.reason}")
    click.echo(f"statistic: {found.statistic}; {found.machine}; wrote {file}")


@click.command(
    name="export",
    epilog=examples(
        "wherry export results.json --format openmpi -o rules",
        "wherry export results.json --format mpich -o selection.json",
        "wherry export results.json --format intel -n 8 -o intel.env",
    ),
)
@click.argument("source", type=click.Path(path_type=Path), metavar="RESULTS")
@click.option("--format", "format_name", required=True, metavar="FORMAT", help="openmpi, openmpi-json, mpich or intel.")
@click.option("-n", "ranks", type=click.IntRange(min=1), help="Only what was measured on so many ranks.")
@click.option(
    "-o", "file", type=click.Path(path_type=Path, dir_okay=False), required=True, metavar="FILE", help="File to write."
)
def export_(source: Path, format_name: str, ranks: int | None, file: Path) -> None:
    """Write the fastest algorithms of an MPI library as settings of that library.

    RESULTS is a file of `wherry tune --library`.
    """
    form = export.find(format_name)
    check_writable(file)
    done = export.export(source, form, file, ranks)
    wanted = ", ".join(dict.fromkeys(row.operation for row in done.rules))
    click.echo(f"wrote {file}: {wanted}")
    click.echo(f"to use it: . {done.settings or file}")


def rank_counts(context: click.Context, parameter: click.Parameter, value: str) -> tuple[int, ...]:
    counts = numbers(context, parameter, value) or ()
    for count in counts:
        if not 1 <= count <= plan.MOST_RANKS:
            raise click.BadParameter(f"{count} is not in the range 1 to {plan.MOST_RANKS}")
        if counts.count(count) > 1:
            raise click.BadParameter(
                f"{count} stands there {counts.count(count)} times; give each number of ranks once"
            )
    return counts


@click.command(
    name="simulate",
    epilog=examples(
        "wherry simulate alltoall --platform gigabit -n 64 --sizes 64,1024",
        "wherry simulate allreduce --platform lemieux -n 64,256,1024 --sizes 64 --json out.json --plot out.svg",
        "wherry simulate alltoall --platform gigabit -n 16 --per-node 4 --strategies native,native:mpich,node_aware",
        "wherry simulate radix_sort --platform lemieux -n 16 --sizes 2048,8192",
        "wherry simulate nbody --platform gigabit -n 16 --sizes 4096,16384 --strategies ring,grid,auto",
    ),
)
@click.argument("name")
@click.option("--platform", required=True, metavar="NAME", help="Simulated machine, such as gigabit or lemieux.")
@click.option("-n", "ranks", metavar="LIST", callback=rank_counts, required=True, help="Numbers of ranks, with commas.")
@click.option("--per-node", type=click.IntRange(min=1), help="Ranks per node; default: the platform's own.")
@click.option("--sizes", metavar="LIST", callback=numbers, help="Bytes of a block; of applications see above.")
@click.option(
    "--strategies",
    metavar="LIST",
    help="Strategies to compare, with commas; native: the simulator's own; wherry: what Wherry learns to run.",
)
@click.option(
    "--limit",
    "limit_s",
    type=click.FloatRange(min=0, min_open=True),
    default=simulate.LIMIT_S,
    show_default=True,
    metavar="SECONDS",
    help="Stop a case whose simulation computes for longer.",
)
@click.option("--json", "file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write records.")
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Draw an SVG picture.")
def simulate_(
    name: str,
    platform: str,
    ranks: tuple[int, ...],
    per_node: int | None,
    sizes: tuple[int, ...] | None,
    strategies: str | None,
    limit_s: float,
    file: Path | None,
    plot: Path | None,
) -> None:
    """Run NAME on a simulated machine: SimGrid's SMPI with Wherry's schedules.

    NAME is a collective (alltoall, allgather, bcast, gather, scatter, reduce, allreduce, reduce_scatter_block or
    barrier) or an application (radix_sort, pme, lcc, barnes_hut or nbody). Of applications, --sizes are the bytes of
    radix_sort's messages, the scale of lcc's graph, or the bodies of barnes_hut and nbody; --strategies are nbody's
    schemes. Times are simulated, so they are the same in every run.
    """
    check_writable(file)
    check_plot(plot)
    names = strategies.split(",") if strategies else None
    application = simulate.application
    if name in application.NAMES:
        if plot:
            raise UsageError(f"{name} compares plain MPI with Wherry, in a table; leave out --plot")
        asked = [application.request(name, platform, count, per_node, sizes, limit_s, names) for count in ranks]
        simulate_application(asked, file)
        return
    requests = [simulate.request(name, platform, count, per_node) for count in ranks]
    for request in requests:
        request.sizes = sizes or request.sizes
        request.strategies = names
        request.limit_s = limit_s
    # All are checked before the first simulation, which may take long.
    checked = [simulate.cases(request) for request in requests]
    settings = []
    for request, cases in zip(requests, checked, strict=True):
        with progress_bar(f"simulate {name}, {units.plural(request.machine.ranks, 'rank')}") as request.progress:
            settings.append(simulate.run(request, cases))
        show_simulation(Console(), settings[-1])
    if file is not None:
        write_records(file, [row for setting in settings for row in simulate.records(setting)])
    if plot is not None:
        draw_simulation(settings, plot)


def simulate_application(requests: Sequence[simulate.application.Request], file: Path | None) -> None:
    records = []
    for request in requests:
        with progress_bar(f"simulate {request.name}, {units.plural(request.machine.ranks, 'rank')}"):
            try:
                outcome = simulate.application.run(request)
            except TimeLimit as limit:
                raise TimeLimit(f"{limit}; --limit allows more") from limit
        Console().print(outcome.text, end="", markup=False, highlight=False, soft_wrap=True)
        records += outcome.records
    if file is not None:
        write_records(file, records)
