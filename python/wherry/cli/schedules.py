"""The commands about schedules: explain, draw."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console

from wherry import paths
from wherry.cli.common import examples
from wherry.run.mpis import choose_mpi
from wherry.schedule import plan
from wherry.schedule.explain import show
from wherry.tune import store


class Bytes(click.IntRange):
    """So called in messages."""

    name = "number of bytes"


_RANKS = click.option("-n", "ranks", type=click.IntRange(1, plan.MOST_RANKS), required=True, help="Number of ranks.")
_DRAWN_RANKS = click.option(
    "-n", "ranks", type=click.IntRange(1, plan.MOST_DRAWN_RANKS), required=True, help="Number of ranks."
)
_NODES = click.option("--nodes", type=click.IntRange(min=1), help="Number of nodes, filled as evenly as possible.")
_NODE_OF = click.option("--node-of", metavar="LIST", help="Node of every rank, such as 0,0,1.")
_GRID = click.option(
    "--grid", metavar="EXTENTS", help="For neighborhood collectives: the grid of the ranks, such as 4x4x4."
)
_REACH = click.option("--reach", type=click.IntRange(min=1), help="Steps to the farthest neighbor; default 1.")
_ROOT = click.option("--root", type=click.IntRange(min=0), help="Rank of the root, where there is one; default 0.")


@click.command(
    epilog=examples(
        "wherry explain alltoall -n 24 --nodes 5 -m 512",
        "wherry explain allreduce -n 24 --nodes 5 -m 1048576",
        "wherry explain bcast -n 3 --node-of 0,0,1 --root 2 -m 4096",
        "wherry explain neighbor_alltoall -n 64 --grid 4x4x4 --nodes 8 -m 64",
    )
)
@click.argument("operation", metavar="OPERATION")
@_RANKS
@_NODES
@_NODE_OF
@_GRID
@_REACH
@_ROOT
@click.option("-m", "size", type=Bytes(min=0), help="Bytes that each rank sends to each, or of the whole buffer.")
@click.option("--mpi", "mpi_name", metavar="NAME", help="Estimate by the constants that were fitted with this MPI.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def explain(
    operation: str,
    ranks: int,
    nodes: int | None,
    node_of: str | None,
    grid: str | None,
    reach: int | None,
    root: int | None,
    size: int | None,
    mpi_name: str | None,
    as_json: bool,
) -> None:
    """Tell what would run for a collective, why, and what the other candidates are.

    OPERATION is MPI's name in small letters: alltoall(v|w), allgather(v), bcast, gather, scatter, reduce, allreduce,
    reduce_scatter(_block), barrier, neighbor_alltoall(v|w) or neighbor_allgather(v). Of bcast, reduce and allreduce, -m
    is the whole buffer. Of neighborhoods, --grid is the
    periodic grid of the ranks, whose neighbors are all around them, diagonal ones too.
    """
    if size is None and operation != "barrier":
        raise click.MissingParameter(ctx=click.get_current_context(), param_hint="'-m'", param_type="option")
    mpi = choose_mpi(mpi_name) if mpi_name else None
    constants = store.constants_for(paths.tuning_file(), mpi)
    answer = plan.explain(operation, plan.Placement(ranks, nodes, node_of, grid, reach), size, root, constants)
    if as_json:
        click.echo(json.dumps(answer, indent=1))
    else:
        show(Console(), answer, paths.tuning_file())


@click.command(
    epilog=examples(
        "wherry draw mesh -n 16",
        "wherry draw mesh -n 16 -o mesh.svg",
        "wherry draw allreduce rabenseifner -n 8 --svg rabenseifner.svg",
        "wherry draw bcast chain -n 8 --root 2 --depth 4",
    )
)
@click.argument("names", nargs=-1, required=True, metavar="[OPERATION] STRATEGY")
@_DRAWN_RANKS
@_NODES
@_NODE_OF
@_GRID
@_REACH
@_ROOT
@click.option("--depth", type=click.IntRange(min=1), help="Segments of a pipeline; default 4.")
@click.option("-o", "--svg", "file", type=click.Path(path_type=Path), metavar="FILE.svg", help="Write an SVG picture.")
def draw(
    names: tuple[str, ...],
    ranks: int,
    nodes: int | None,
    node_of: str | None,
    grid: str | None,
    reach: int | None,
    root: int | None,
    depth: int | None,
    file: Path | None,
) -> None:
    """Draw the schedule of a strategy.

    As text, or with -o as an SVG picture.

    Without OPERATION, STRATEGY is one of alltoall.
    """
    picture = plan.draw(
        names, plan.Placement(ranks, nodes, node_of, grid, reach), "svg" if file else "text", root, depth
    )
    if file is None:
        click.echo(picture, nl=False)
        return
    plan.save_picture(file, picture)
    click.echo(f"wrote {file}")
