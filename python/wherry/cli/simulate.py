"""The command `wherry simulate`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from wherry import simulate, units
from wherry.cli.common import check_plot, check_writable, examples, file_option, numbers, progress_bar, results_console
from wherry.errors import UsageError
from wherry.measure import record
from wherry.schedule import plan
from wherry.simulate.output import show as show_simulation
from wherry.simulate.picture import draw as draw_simulation
from wherry.simulate.smpi import TimeLimit


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
@file_option("--json", "file", help="Write records.")
@file_option("--plot", help="Draw an SVG picture.")
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
    """Run NAME on a simulated machine.

    By SimGrid's SMPI, with Wherry's schedules.

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
        show_simulation(results_console(), settings[-1])
    if file is not None:
        record.write(file, [row for setting in settings for row in simulate.records(setting)])
    if plot is not None:
        draw_simulation(settings, plot)


def simulate_application(requests: Sequence[simulate.application.ApplicationRequest], file: Path | None) -> None:
    records = []
    for request in requests:
        with progress_bar(f"simulate {request.name}, {units.plural(request.machine.ranks, 'rank')}"):
            try:
                outcome = simulate.application.run(request)
            except TimeLimit as limit:
                raise TimeLimit(f"{limit}; --limit allows more") from limit
        results_console().print(outcome.text, end="", markup=False, highlight=False, soft_wrap=True)
        records += outcome.records
    if file is not None:
        record.write(file, records)
