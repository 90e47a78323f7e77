"""out/report.html from the records of the demo: the table first, then a picture, then how to do the same."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib import resources

from wherry import __version__, units
from wherry.demo import results
from wherry.demo.picture import picture
from wherry.demo.rows import Group
from wherry.draw.markup import Markup, join, table, tag
from wherry.measure.record import Measurement, values
from wherry.report.parts import numbers, section

_STYLE = """
main { max-width: 1080px; }
td.faster { color: var(--accent); font-weight: 600; }
td.slower { color: var(--c3); font-weight: 600; }
td.ratio, td.time { white-space: nowrap; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 10px 14px; }
pre { overflow-x: auto; font-size: 13px; }
td ul { margin: 0; padding-left: 16px; }
svg .grid.one { stroke: var(--ink); }
"""

_GROUPS: dict[Group, tuple[str, str]] = {
    "node": ("As many ranks as cores", ""),
    "cluster": (
        "On an emulated cluster",
        "Hosts in network namespaces of this machine, joined by links of 1 Gbit/s. Ranks share this machine's cores.",
    ),
    "crowded": (
        "More ranks than cores",
        "Here ranks also wait for a core. MPI libraries that spin while they wait become slow; Wherry's waits yield"
        " the core. This says nothing about machines with enough cores.",
    ),
}


def page(records: Sequence[Measurement]) -> str:
    style = resources.files("wherry.report").joinpath("report.css").read_text(encoding="utf-8")
    head = tag(
        "head",
        Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        tag("title", "Programs with and without Wherry"),
        tag("style", Markup(style + _STYLE)),
    )
    parts = [_heading(records), _tables(records), _left_out(records), _picture(records), _own(), _about(records)]
    body = tag("body", tag("main", *parts))
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _heading(records: Sequence[Measurement]) -> Markup:
    text = (
        "Wherry is a library that is loaded into MPI programs when they start. These programs were not changed or"
        " rebuilt for it. Each ran several times with and without Wherry, in turns; the times are those that the"
        " programs print of their own main loops, and the answers that they print were compared."
    )
    title = tag("h1", "Programs with and without Wherry")
    return join([title, tag("p", text), tag("p", tag("b", f"{_sentence(results.conclusion(records))}."))])


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _tables(records: Sequence[Measurement]) -> Markup:
    groups = []
    for place, (title, text) in _GROUPS.items():
        rows = [record for record in results.measured(records) if record["place"] == place]
        if rows:
            groups.append(section(title, text, _table(rows)))
    return join(groups)


def _table(records: Sequence[Measurement]) -> Markup:
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in (*results.HEADERS, "what Wherry did"))))
    body = tag("tbody", *(_row(record) for record in records))
    return tag("div", tag("table", head, body), class_="scroll")


def _row(record: Measurement) -> Markup:
    title, where, without, with_, ratio, verdict, answers = results.cells(record)
    return tag(
        "tr",
        tag("td", tag("b", title), Markup("<br>"), record["about"]),
        tag("td", where),
        tag("td", without, class_="time"),
        tag("td", with_, class_="time"),
        tag("td", ratio, class_=f"ratio {verdict.split()[0]}"),
        tag("td", verdict, class_=verdict.split()[0]),
        tag("td", answers),
        tag("td", tag("ul", *(tag("li", line) for line in results.did(record)))),
    )


def _left_out(records: Sequence[Measurement]) -> Markup:
    return join(
        tag("div", tag("strong", title), tag("ul", *(tag("li", line) for line in lines)), class_="warn")
        for title, why in (("Failed", "failed"), ("Not run here", "skipped"))
        if (lines := results.left_out(records, why))
    )


def _picture(records: Sequence[Measurement]) -> Markup:
    rows = results.measured(records)
    if not rows:
        return Markup()
    text = (
        "A dot is the ratio of the two times, its bar the 95% confidence interval. Grey: the bar reaches across 1, so"
        " no difference could be measured in these runs. Bars become shorter with more rounds."
    )
    headers = ("program", "", "round", "program's time", "wall time", "page faults", "context switches, waiting")
    return section("The ratios", text, picture(rows), numbers(headers, [line for row in rows for line in _runs(row)]))


def _runs(record: Measurement) -> list[tuple[str, ...]]:
    """Every run that counts, in the order of starts."""
    name = f"{record['title']}, {record['where']}"
    return [
        (
            name, run["variant"], str(run["round"] + 1), units.seconds(run["program"]), units.seconds(run["wall_s"]),
            units.count(run["faults"]), units.count(run["waits"]),
        )
        for run in record.samples[1:]
    ]  # fmt: skip


def _own() -> Markup:
    commands = (
        "wherry run -- mpiexec -n 4 ./app                  # with Wherry, and a summary\n"
        "wherry compare -- mpiexec -n 4 ./app              # this table for your program\n"
        "wherry compare --why -- mpiexec -n 4 ./app        # which part of Wherry makes the difference\n"
        "wherry run --report out -- mpiexec -n 4 ./app     # where the program's communication goes, with pictures"
    )
    text = (
        "Put wherry in front of the command that starts your program; it may be in C, C++, Fortran or Python and use"
        " Open MPI, MPICH or Intel MPI. The command is .venv/bin/wherry after make demo."
    )
    return section("The same with your program", text, tag("pre", commands))


def _about(records: Sequence[Measurement]) -> Markup:
    rows = results.measured(records)
    counts = sorted({results.rounds(row) for row in rows})
    number = " to ".join(map(str, dict.fromkeys([*counts[:1], *counts[-1:]])))
    facts = [
        ("machine", ", ".join(values(records, "machine"))),
        ("system", f"{platform.system()} {platform.release()}"),
        ("MPI", ", ".join(values(rows, "library"))),
        ("runs", f"{number} rounds, each with one run of either kind, in random order, after one run uncounted"),
        ("statistic", ", ".join(values(records, "statistic"))),
        ("Wherry", f"{__version__}, commit {', '.join(values(records, 'commit'))}"),
        ("all runs", "demo.json beside this page"),
    ]
    return section("How it was measured", "", table(("", ""), facts))
