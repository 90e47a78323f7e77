"""The command `wherry completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from wherry.cli.common import examples
from wherry.errors import unknown

_SHELLS = ("bash", "zsh", "fish")


@click.command(epilog=examples('eval "$(wherry completion bash)"  # in ~/.bashrc'))
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(shell: str) -> None:
    """Print a script that completes wherry's commands in SHELL."""
    kind = get_completion_class(shell)
    if kind is None:
        raise unknown("shell", shell, _SHELLS)
    click.echo(kind(click.get_current_context().find_root().command, {}, "wherry", "_WHERRY_COMPLETE").source())
