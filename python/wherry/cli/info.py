"""The command `wherry info`."""

from __future__ import annotations

import json

import click
from rich.console import Console

from wherry.cli.common import examples
from wherry.run.info import gather, show


@click.command(epilog=examples("wherry info", "wherry info --json | jq .mpis"))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def info(as_json: bool) -> None:
    """Show MPI libraries, processor, files and settings."""
    found = gather()
    if as_json:
        click.echo(json.dumps(found, indent=1))
    else:
        show(Console(), found)
