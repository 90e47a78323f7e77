"""The command `wherry export`."""

from __future__ import annotations

from pathlib import Path

import click

from wherry import export
from wherry.cli.common import check_writable, examples, file_option


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
@file_option("-o", "file", required=True, help="File to write.")
def export_(source: Path, format_name: str, ranks: int | None, file: Path) -> None:
    """Write the fastest algorithms as settings of the MPI library.

    RESULTS is a file of `wherry tune --library`.
    """
    form = export.find(format_name)
    check_writable(file)
    done = export.export(source, form, file, ranks)
    wanted = ", ".join(dict.fromkeys(row.operation for row in done.rules))
    click.echo(f"wrote {file}: {wanted}")
    click.echo(f"to use it: . {done.settings or file}")
