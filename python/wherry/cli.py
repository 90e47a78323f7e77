"""The command line: parses, calls the functions that do the work, prints. Nothing is computed here."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click
from click.exceptions import NoArgsIsHelpError
from click.shell_completion import get_completion_class
from rich.console import Console
from rich.markup import escape

from wherry import __version__, cli_ahead, cli_study, cli_trace, paths, plan, report, runner
from wherry.bench import frame, output, picture, registry
from wherry.cli_common import (
    Commands,
    check_plot,
    check_writable,
    errors_console,
    examples,
    given_options,
    launching_options,
    no_separator,
    numbers,
    progress_bar,
    unfailing_console,
)
from wherry.compare.command import compare_
from wherry.errors import UsageError, WherryError, unknown
from wherry.explain import show as show_explanation
from wherry.files import write_records
from wherry.info import gather
from wherry.info import show as show_info
from wherry.tune import kept


class Bytes(click.IntRange):
    """So called in messages."""

    name = "number of bytes"


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="wherry")
def wherry() -> None:
    """See where an MPI program's communication goes, and get its collectives faster.

    Start with: wherry run -- mpiexec -n 4 ./app
    """


@wherry.command(
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
@click.option("--profile-only", is_flag=True, help="Look, but replace nothing.")
@click.option("-v", "--verbose", count=True, help="Rank 0 says what Wherry found; twice: every decision.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- LAUNCHER ... APP ...")
def run(report: Path | None, profile_only: bool, verbose: int, command: tuple[str, ...]) -> None:
    """Run an unmodified MPI program with Wherry.

    Ends with a summary of where the communication went (on stderr, so that the program's output stays its
    own). The exit code is the program's.
    """
    options = runner.Options(report, profile_only, verbose)
    sys.exit(runner.run(command, options, unfailing_console()))


@wherry.command(epilog=examples("wherry info", "wherry info --json | jq .mpis"))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def info(as_json: bool) -> None:
    """Show the MPI libraries found, the processor, Wherry's files, and every setting with its origin."""
    found = gather()
    if as_json:
        click.echo(json.dumps(found, indent=1))
    else:
        show_info(Console(), found)


_RANKS = click.option("-n", "ranks", type=click.IntRange(1, plan.MOST_RANKS), required=True, help="Number of ranks.")
_DRAWN_RANKS = click.option(
    "-n", "ranks", type=click.IntRange(1, plan.MOST_DRAWN_RANKS), required=True, help="Number of ranks."
)
_NODES = click.option("--nodes", type=click.IntRange(min=1), help="Number of nodes, filled as evenly as possible.")
_NODE_OF = click.option("--node-of", metavar="LIST", help="Node of every rank, such as 0,0,1.")
_GRID = click.option("--grid", metavar="EXTENTS", help="Of neighbourhoods: the grid of the ranks, such as 4x4x4.")
_REACH = click.option("--reach", type=click.IntRange(min=1), help="Steps to the farthest neighbour; default 1.")
_ROOT = click.option("--root", type=click.IntRange(min=0), help="Root, of operations that have one; default 0.")


@wherry.command(
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
@click.option("--mpi", "mpi_name", metavar="NAME", help="Price by the constants that were fitted with this MPI.")
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
    """Tell what would run for a collective, why, and what else was considered.

    OPERATION is MPI's name in small letters: alltoall(v|w), allgather(v), bcast, gather, scatter, reduce, allreduce,
    reduce_scatter(_block), barrier, neighbor_alltoall(v|w) or neighbor_allgather(v). Of bcast, reduce and allreduce, -m
    is the whole buffer. Of neighbourhoods, --grid says who the neighbours are: all around, and the grid wraps around.
    """
    if size is None and operation != "barrier":
        raise click.MissingParameter(ctx=click.get_current_context(), param_hint="'-m'", param_type="option")
    mpi = frame.choose_mpi(mpi_name) if mpi_name else None
    priced_by = kept.constants_for(paths.tuning_file(), mpi)
    answer = plan.explain(operation, plan.Placement(ranks, nodes, node_of, grid, reach), size, root, priced_by)
    if as_json:
        click.echo(json.dumps(answer, indent=1))
    else:
        show_explanation(Console(), answer, paths.tuning_file())


@wherry.command(
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
    """Draw the schedule of a strategy: as text, or with -o as an SVG picture.

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


@wherry.command(name="report", epilog=examples("wherry run --report out -- mpiexec -n 4 ./app", "wherry report out"))
@click.argument("directory", type=click.Path(path_type=Path), metavar="DIR")
def report_(directory: Path) -> None:
    """Write DIR/report.html from what `wherry run --report DIR` recorded: one page, no network needed."""
    path = report.from_directory(directory)
    click.echo(f"wrote {path}")


@wherry.command(
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
@click.option("--json", "file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write records.")
@click.option(
    "--plot",
    "picture_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.svg",
    help="Draw the ratios.",
)
@click.option("--quick", is_flag=True, help="Fewer and shorter launches: a look, not a measurement.")
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
    setup = frame.Setup(
        mpi=frame.choose_mpi(mpi_name) if "--mpi" in registry.find(name).options else None,
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
    output.show(Console(), results)
    if file is not None:
        write_records(file, [result.data() for result in results])
    if picture_file is not None:
        picture.draw(results, picture_file)


for _command in (compare_, cli_ahead.tune, cli_ahead.export_, cli_ahead.simulate_, cli_study.study_, cli_trace.trace_):
    wherry.add_command(_command)

_SHELLS = ("bash", "zsh", "fish")


@wherry.command(epilog=examples('eval "$(wherry completion bash)"  # in ~/.bashrc'))
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(shell: str) -> None:
    """Print what a shell needs to complete wherry's commands and options."""
    kind = get_completion_class(shell)
    if kind is None:
        raise unknown("shell", shell, _SHELLS)
    click.echo(kind(wherry, {}, "wherry", "_WHERRY_COMPLETE").source())


def complain(sentence: str) -> None:
    errors_console().print(f"wherry: {escape(sentence)}", style="red", highlight=False, soft_wrap=True)


def _sentence(error: click.ClickException) -> str:
    """What click says, as Wherry's own messages are written."""
    message = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "wherry"
    return f"{message[:1].lower()}{message[1:]} (see `{command} --help`)"


def main() -> None:
    """Entry point: errors become one sentence on stderr and an exit code."""
    try:
        code = wherry(prog_name="wherry", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except (click.exceptions.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read the output has enough; Python must not complain while it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except NoArgsIsHelpError as error:
        error.show()
        sys.exit(2)
    except click.ClickException as error:
        complain(_sentence(error))
        sys.exit(2)
    except (WherryError, OSError) as error:
        complain(str(error))
        sys.exit(error.exit_code if isinstance(error, WherryError) else 1)


if __name__ == "__main__":
    main()
