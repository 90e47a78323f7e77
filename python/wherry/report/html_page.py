"""The page: its head, its sections in their order, and what is said about the run."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable
from importlib import resources

from wherry import __version__, units
from wherry.analysis import Analysis, gains
from wherry.draw.markup import Markup, join, table, tag
from wherry.report import choices, levers, times, traffic, windows
from wherry.report.parts import section

SECTIONS: tuple[Callable[[Analysis], Markup], ...] = (
    times.functions,
    times.sites,
    choices.choices,
    choices.fallbacks,
    times.ranks,
    times.waits,
    levers.waiting_and_memory,
    traffic.sizes,
    traffic.matrix,
    traffic.comms,
    windows.cached,
    traffic.types,
)


def page(analysis: Analysis) -> str:
    name = analysis.program.rsplit("/", 1)[-1] or "program"
    title = f"Wherry: {name} on {units.plural(analysis.size, 'rank')}"
    style, script = (_file(name) for name in ("report.css", "report.js"))
    head = tag(
        "head",
        Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        tag("title", title),
        tag("style", Markup(style)),
    )
    sections = join(part(analysis) for part in SECTIONS)
    main = tag("main", _heading(analysis, name), sections, _about(analysis))
    body = tag("body", main, tag("script", Markup(script)))
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _file(name: str) -> str:
    return resources.files("wherry.report").joinpath(name).read_text(encoding="utf-8")


def _heading(analysis: Analysis, name: str) -> Markup:
    hosts = ", ".join(f"{host} ({n})" for host, n in list(analysis.hosts.items())[:8])
    more = f" and {len(analysis.hosts) - 8} more hosts" if len(analysis.hosts) > 8 else ""
    mpi = re.split(r"[,\n]", analysis.mpi_version)[0] or "unknown MPI"  # all of it stands at the end of the page
    where = f"{mpi}; ranks per host: {hosts}{more}; started {_moment(analysis.started)}"
    return join([tag("h1", name), tag("p", where, class_="soft"), _cards(analysis), _warnings(analysis)])


def _moment(started: str) -> str:
    return started.replace("T", " ").replace("+00:00", " UTC")


def _cards(analysis: Analysis) -> Markup:
    cards = [
        (units.seconds(analysis.seconds), f"run time, {units.plural(analysis.size, 'rank')}"),
        (units.percent(analysis.mpi_share), "of it inside MPI (mean)"),
        (units.bytes_(sum(row.bytes for row in analysis.peers)), "sent between ranks"),
    ]
    if analysis.setup_seconds > 0:
        cards.append((units.seconds(analysis.setup_seconds), "to start and end MPI, not in the rest"))
    waits = [rank.wait_seconds for rank in analysis.ranks if rank.wait_seconds is not None]
    mpi = sum(rank.mpi_seconds for rank in analysis.ranks)
    if waits and mpi > 0:
        cards.append((units.percent(min(sum(waits) / mpi, 1.0)), "of the MPI time spent waiting (estimate)"))
    for row in [row for row in analysis.gains if row.low is not None][:1]:
        difference, interval = gains.claim(row)
        cards.append((difference, f"with Wherry's collectives on {gains.name(row)} ({interval})"))
    return tag(
        "div", *(tag("div", tag("b", value), tag("span", what), class_="card") for value, what in cards), class_="cards"
    )


def _warnings(analysis: Analysis) -> Markup:
    if not analysis.warnings:
        return Markup()
    return tag(
        "div", tag("strong", "Read with care"), tag("ul", *(tag("li", w) for w in analysis.warnings)), class_="warn"
    )


def _about(analysis: Analysis) -> Markup:
    rows = [
        ("program", analysis.program or "unknown"),
        ("MPI", analysis.mpi_version or "unknown"),
        ("ABI", analysis.abi or "unknown"),
        ("thread level", analysis.thread_level or "unknown"),
        ("started", _moment(analysis.started or "unknown")),
        ("machine of this report", f"{platform.machine()}, {platform.system()} {platform.release()}"),
        ("Wherry", __version__),
    ]
    return section("About this run", "", table(("", ""), rows))
