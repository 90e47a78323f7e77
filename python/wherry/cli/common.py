"""What the commands share: examples in --help, lists of numbers, progress."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from wherry.errors import UsageError
from wherry.files import check_picture, followed, stays

if TYPE_CHECKING:
    from rich.console import Console

    from wherry.measure import harness

_LOG_WIDTH = 120
_Command = TypeVar("_Command", bound=Callable[..., Any])


def errors_console() -> Console:
    from rich.console import Console

    return Console(stderr=True)


def results_console() -> Console:
    """Of standard output; where no terminal tells its width, wide enough that no column is cut."""
    from rich.console import Console

    console = Console()
    return console if console.is_terminal else Console(width=_LOG_WIDTH)


def examples(*lines: str) -> str:
    r"""Text under the options of --help; \b keeps click from re-wrapping it."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def numbers(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    if value is None:
        return None
    words = value.split(",")
    if not all(word.isdigit() for word in words):
        raise click.BadParameter("write numbers with commas, such as 64,1024")
    return tuple(map(int, words))


def no_separator(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Refuses `--report -- mpiexec ...`: what separates options from a command is no option's value."""
    if "--" in (str(value), getattr(value, "pattern", "")):
        raise click.BadParameter("a value is missing before the '--'")
    return value


def given_options() -> list[str]:
    """The options on the command line of the command that runs, by their first names."""
    context = click.get_current_context()
    return [
        parameter.opts[0]
        for parameter in context.command.params
        if isinstance(parameter, click.Option)
        and parameter.name
        and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    ]


def launching_options(command: _Command) -> _Command:
    """Of commands that measure: what is launched, and where. Parameters mpi_name, ranks, netlab, hosts, launches."""
    options = (
        click.option("--mpi", "mpi_name", metavar="NAME", help="MPI to use, as `wherry info` names it."),
        click.option("-n", "ranks", type=click.IntRange(min=1), help="Number of ranks."),
        click.option("--netlab", is_flag=True, help="Run on emulated hosts with Gigabit links; needs root."),
        click.option(
            "--hosts", type=click.IntRange(1, 64), default=4, show_default=True, help="Number of emulated hosts."
        ),
        click.option("--launches", type=click.IntRange(min=1), help="Interleaved launches."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def file_option(*names: str, metavar: str = "FILE", **more: Any) -> Callable[[_Command], _Command]:
    """An option that names a file to write."""
    return click.option(*names, type=click.Path(path_type=Path, dir_okay=False), metavar=metavar, **more)


def check_writable(file: Path | None) -> None:
    """Before an hour of measuring, not after it."""
    if file is None:
        return
    if file.is_dir():
        raise UsageError(f"cannot write {file}: it is a folder; name a file in it")
    if stays(file):
        if not os.access(file, os.W_OK):
            raise UsageError(f"cannot write {file}: it is nothing that you can write to; name another file")
        return
    folder = followed(file).parent
    if not os.access(folder, os.W_OK):
        raise UsageError(f"cannot write {file}: {folder} is not a directory that you can write to")


def check_plot(file: Path | None) -> None:
    """Before long work: that a picture can be written there, and replaces nothing but a picture."""
    check_writable(file)
    if file is not None:
        check_picture(file)


@contextmanager
def progress_bar(title: str) -> Iterator[harness.Progress]:
    """On a terminal a bar on stderr, elsewhere nothing."""
    from rich.progress import Progress, TimeElapsedColumn

    console = errors_console()
    if not console.is_terminal:
        yield lambda what, done, total: None
        return
    with Progress(*Progress.get_default_columns(), TimeElapsedColumn(), console=console, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda what, done, total: bar.update(task, description=f"{title}: {what}", completed=done, total=total)
