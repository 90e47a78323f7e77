"""The command `wherry report`."""

from __future__ import annotations

from pathlib import Path

import click

from wherry import report
from wherry.cli.common import examples


@click.command(name="report", epilog=examples("wherry run --report out -- mpiexec -n 4 ./app", "wherry report out"))
@click.argument("directory", type=click.Path(path_type=Path), metavar="DIR")
def report_(directory: Path) -> None:
    """Write DIR/report.html from what `wherry run --report DIR` recorded.

    The page needs no network.
    """
    path = report.from_directory(directory)
    click.echo(f"wrote {path}")
