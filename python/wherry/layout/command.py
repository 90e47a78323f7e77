"""`wherry layout`: the command line. Parses and prints."""

from __future__ import annotations

from pathlib import Path

import click

from wherry.cli.common import check_plot, examples, file_option
from wherry.files import write_whole
from wherry.layout import text
from wherry.layout.advice import advise
from wherry.layout.picture import picture


@click.command(
    name="layout",
    epilog=examples(
        "wherry layout ./app Particle",
        "wherry layout ./app 'md::Cell<double, 3>' -o cell.svg",
        "wherry layout libmd.so Particle",
    ),
)
@click.argument("program", type=click.Path(path_type=Path))
@click.argument("type_name", metavar="TYPE")
@file_option("-o", "--svg", "file", metavar="FILE.svg", help="Write an SVG picture instead of text.")
def layout_(program: Path, type_name: str, file: Path | None) -> None:
    """Show where the members of TYPE lie in memory, and the holes.

    Beside them an order without holes.

    PROGRAM is a program, library or object file that was compiled with -g. TYPE is a class, structure or union of C,
    C++ or Fortran, or a typedef of one, with or without its namespaces.
    """
    from wherry.layout.dwarf import find_layout

    check_plot(file)
    layout = find_layout(program, type_name)
    advice = advise(layout)
    if file is None:
        for line in text.report(layout, advice):
            click.echo(line)
        return
    write_whole(file, picture(layout, advice))
    click.echo(f"wrote {file}")
