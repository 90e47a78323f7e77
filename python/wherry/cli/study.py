"""The command `wherry study`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import click
from rich.markup import escape

from wherry import study
from wherry.cli.common import errors_console, examples, given_options, launching_options, progress_bar
from wherry.errors import UsageError
from wherry.measure import harness
from wherry.run.mpis import choose_mpi

Write = Callable[[study.Study, study.StudyPart, list[study.Measurement]], list[Path]]
_ALWAYS = ("--list", "--quick", "-o", "--redraw")
_OF_REDRAWING = ("--list", "-o", "--redraw")


@click.command(
    name="study",
    epilog=examples(
        "wherry study --list",
        "wherry study cache eviction",
        "wherry study cache --netlab -o docs",
        "wherry study cache sizes -o docs --redraw",
    ),
)
@click.argument("name", required=False)
@click.argument("parts", nargs=-1, metavar="[PART]...")
@click.option("--list", "listing", is_flag=True, help="Name the studies, their parts and the questions.")
@launching_options
@click.option(
    "-o",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write DIR/results/*/*/*.json and DIR/images/*.svg, and the tables in DIR/studies/NAME.md.",
)
@click.option("--redraw", is_flag=True, help="With -o: measure nothing, make tables and pictures of DIR/results again.")
@click.option("--quick", is_flag=True, help="Small and few cases: a check, not a measurement.")
def study_(
    name: str | None,
    parts: tuple[str, ...],
    listing: bool,
    mpi_name: str | None,
    ranks: int | None,
    netlab: bool,
    hosts: int,
    launches: int | None,
    folder: Path | None,
    redraw: bool,
    quick: bool,
) -> None:
    """Answer the questions of a study, or of some PARTs of it.

    A part that cannot be answered here, for want of a program or of rights, is left out with the reason, unless it is
    named.
    """
    if listing:
        show_studies()
        return
    if name is None:
        raise UsageError("which study? write `wherry study NAME`; `wherry study --list` names them")
    found = study.find(name)
    chosen = found.find(parts)
    check_options(found, chosen if parts else (), given_options())
    if redraw and folder is None:
        raise UsageError("--redraw reads what was measured before; say with -o where that is")
    # Those of every installation need none to be chosen.
    uses_mpi = not redraw and any("--mpi" in part.options for part in chosen if mpi_name or not part.every_mpi)
    setup = harness.Setup(
        mpi=choose_mpi(mpi_name) if uses_mpi else None,
        ranks=ranks,
        netlab=netlab,
        hosts=hosts,
        quick=quick,
        launches=launches,
    )
    to = study.Folder(folder) if folder else None
    if to is not None:
        to.prepare()
    if redraw and to is not None:
        for part in chosen:
            tell(found, part, to.read(found, part), to.show, to)
        return
    asked = answerable(chosen, setup, named=bool(parts))
    if quick and to is not None:
        to.check_quick(found, asked)
    for part in asked:
        with progress_bar(part.name) as setup.progress:
            records = study.measured(found, part, setup)
        tell(found, part, records, to.write if to else None, to)


def answerable(chosen: Sequence[study.StudyPart], setup: harness.Setup, named: bool) -> list[study.StudyPart]:
    """Those that can be answered; says which are left out, and why, before the first takes hours.

    named: by the user; then one that cannot be answered raises WherryError.
    """
    if named:
        for part in chosen:
            study.check(part, setup)
        return list(chosen)
    reasons = {part.name: part.why_too_few(setup) or part.why_not(setup) for part in chosen}
    for name, why in reasons.items():
        if why:
            errors_console().print(f"left out: {name}: {escape(why)}", highlight=False, soft_wrap=True)
    return [part for part in chosen if not reasons[part.name]]


def tell(
    found: study.Study,
    part: study.StudyPart,
    records: list[study.Measurement],
    write: Write | None,
    to: study.Folder | None,
) -> None:
    """Shows a part, and writes it to the folder where one was asked for."""
    tables = "\n".join(table.text() for table in part.tables(records))
    click.echo(f"{part.question}\n\n{tables}\n{study.provenance(records)}\n")
    if to is None or write is None:
        return
    click.echo(f"wrote {', '.join(str(path) for path in write(found, part, records))}\n")
    if why := to.why_no_place(found, part):
        errors_console().print(escape(why), highlight=False, soft_wrap=True)


def show_studies() -> None:
    for found in study.STUDIES:
        click.echo(f"{found.name}: {found.summary}")
        for part in found.parts:
            click.echo(f"  {part.name:<13} {part.question}")


def check_options(found: study.Study, named: Sequence[study.StudyPart], given: Sequence[str]) -> None:
    """Raises UsageError for an option that the study would not use, or one of the parts that the user named."""
    takes = (*found.options, *_ALWAYS)
    for option in given:
        if option not in takes:
            raise UsageError(f"study '{found.name}' does not use {option}; leave it out (it takes {', '.join(takes)})")
        if "--redraw" in given and option not in _OF_REDRAWING:
            raise UsageError(f"--redraw measures nothing, so it does not use {option}; leave one of them out")
        if option not in _ALWAYS:
            check_parts(found, named, option)
    # The parts of a study without --netlab run on emulated hosts in any case: --hosts needs nothing besides.
    if "--netlab" in takes:
        harness.check_hosts(given)


def check_parts(found: study.Study, named: Sequence[study.StudyPart], option: str) -> None:
    """Raises UsageError for a part that would not use the option."""
    users = ", ".join(part.name for part in found.parts if option in part.options)
    for part in named:
        if option not in part.options:
            raise UsageError(
                f"part '{part.name}' does not use {option}, which is for {users}; leave it out, or name only such parts"
            )
