"""out/report.html: what was compared, the times, what could not run, and the profile of one run per program."""

from __future__ import annotations

import html
import platform
from collections.abc import Sequence
from importlib import resources

from rich.text import Text

from wherry import __version__, report, units
from wherry.analysis import analyse, record, replaced
from wherry.demo import bar_chart, results
from wherry.demo.cases import Skipped
from wherry.demo.measure import WITH, WITHOUT, Run, measure_name
from wherry.demo.programs import PROGRAMS, Measure
from wherry.demo.results import Line
from wherry.draw import charts
from wherry.draw.markup import Markup, join, table, tag
from wherry.measure.harness import STATISTIC
from wherry.provenance import commit, machine

_STYLE = """
.times td, .times th { white-space: nowrap; }
details.profile { border: 1px solid var(--line); border-radius: 8px; padding: 8px 16px; margin: 10px 0; }
details.profile > summary { font-size: 15px; }
details.profile h2 { font-size: 16px; margin-top: 24px; }
details.profile td:first-child { white-space: nowrap; }
td.faster { color: var(--accent); font-weight: 600; }
td.slower { color: var(--c3); font-weight: 600; }
svg .grid.one { stroke: var(--soft); }
"""

_VERDICTS = {"faster": "times faster with Wherry", "equal": "equal", "slower": "slower", "unclear": "too noisy to tell"}


def page(runs: Sequence[Run], skipped: Sequence[Skipped]) -> str:
    style = resources.files("wherry.report").joinpath("report.css").read_text(encoding="utf-8")
    head = tag(
        "head",
        Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        tag("title", "Wherry: the demo"),
        tag("style", Markup(style + _STYLE)),
    )
    sections = join([_problems(runs, skipped), _times(runs), _launches(runs), _profiles(runs), _about(runs)])
    body = tag("body", tag("main", _heading(runs, skipped), sections))
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _heading(runs: Sequence[Run], skipped: Sequence[Skipped]) -> Markup:
    found = results.lines(runs)
    cards = [(str(sum(run.compared for run in runs)), "answers compared")]
    cards.append((str(sum(1 for run in runs if run.problems)), "cases failed"))
    for verdict, text in _VERDICTS.items():
        cards.append((str(sum(line.verdict == verdict for line in found)), text))
    if skipped:
        cards.append((str(len(skipped)), "cases skipped"))
    boxes = [tag("div", tag("b", value), tag("span", text), class_="card") for value, text in cards]
    text = (
        "Unmodified programs, each launched in turns without and with Wherry preloaded. Their answers are compared"
        f" first, then the times that they themselves report: the {STATISTIC}."
    )
    return join([tag("h1", "Wherry: the demo"), tag("p", text), tag("div", *boxes, class_="cards")])


def _section(title: str, text: str, *content: Markup) -> Markup:
    return tag("section", tag("h2", title), tag("p", text, class_="soft") if text else None, *content)


def _times(runs: Sequence[Run]) -> Markup:
    rows = [_time_row(line) for line in results.lines(runs)]
    if not rows:
        return Markup()
    text = (
        f"Ratio: time without / time with, above 1 Wherry is faster; within {units.percent(results.EQUAL)} of 1 both"
        " count as equal. For several sizes: the geometric mean, then the lowest and the highest. A question mark: of"
        f" all pairs of a launch without and one with Wherry, fewer than {units.percent(results.CLEAR)} point its way."
    )
    headers = ("program", "MPI", "ranks", "time of", "without", "with", "ratio")
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in headers)))
    return _section("Times", text, tag("div", tag("table", head, tag("tbody", *rows)), class_="scroll times"))


def _time_row(line: Line) -> Markup:
    times = (results.time_text(line.without_s), results.time_text(line.with_s))
    what = f"{line.what}, {line.detail}" if line.detail else line.what
    cells = (line.case.title, line.case.mpi, line.case.place, what, *times)
    ratio = tag("td", line.ratio_text, class_=f"n {line.verdict}")
    return tag("tr", *(tag("td", cell) for cell in cells), ratio)


def _launches(runs: Sequence[Run]) -> Markup:
    """All measures and all launches, so that neither a mean nor a minimum hides anything."""
    sections: list[Markup] = []
    for program in PROGRAMS:
        mine = [run for run in runs if run.case.program is program and not run.problems]
        found = [_bar(run, measure) for run in mine for measure in run.measures]
        if found:
            title = f"Time of each launch of {program.title}, relative to the best without Wherry"
            about = tag("p", f"{program.about}. Answer: {program.answer}.", class_="soft")
            sections += [tag("h3", program.title), about, bar_chart.picture(title, found), _numbers(mine)]
    text = (
        "A dot is a launch: its time relative to the best launch without Wherry, on a logarithmic scale (left is"
        " faster). The large dots are compared; their ratio is on the right. Launches far to the right met"
        " a busy machine."
    )
    colours = [("without", bar_chart.WITHOUT_STYLE), ("with Wherry", bar_chart.WITH_STYLE)]
    return _section("Every launch", text, charts.legend(colours), *sections) if sections else Markup()


def _bar(run: Run, measure: Measure) -> bar_chart.Bar:
    where = run.case.place
    what = measure_name(measure)
    words = (run.case.variant, run.case.mpi, where, what)
    launches = {variant: run.launches(measure, variant) for variant in (WITHOUT, WITH)}
    return bar_chart.Bar(", ".join(word for word in words if word), launches[WITHOUT], launches[WITH])


def _numbers(runs: Sequence[Run]) -> Markup:
    rows = [
        (run.case.mpi, run.case.place, measure_name(measure), variant, _list(run.launches(measure, variant)))
        for run in runs
        for measure in run.measures
        for variant in (WITHOUT, WITH)
    ]
    headers = ("MPI", "ranks", "time of", "", "launches, in order")
    return tag("details", tag("summary", "numbers"), table(headers, rows))


def _list(times: Sequence[float]) -> str:
    return ", ".join(map(units.seconds, times))


def _problems(runs: Sequence[Run], skipped: Sequence[Skipped]) -> Markup:
    failed = [tag("li", tag("b", f"{run.case}: "), text) for run in runs for text in run.problems]
    missing = [tag("li", tag("b", f"{row.case}: "), row.reason) for row in skipped]
    boxes = [
        tag("div", tag("strong", title), tag("ul", *rows), class_="warn")
        for title, rows in (("Failed", failed), ("Skipped", missing))
        if rows
    ]
    return join(boxes)


def _profiles(runs: Sequence[Run]) -> Markup:
    """Of the launch that learned, because it shows the trials."""
    boxes = [box for run in runs if (box := _profile(run)) is not None]
    text = (
        "What Wherry recorded in one launch of each case: where the time went, who sent to whom, and what was tried and"
        " chosen. It is the first launch, which had nothing learned to start from; it is not among the times above."
    )
    return _section("Profiles", text, *boxes) if boxes else Markup()


def _profile(run: Run) -> Markup | None:
    found = record.read_all(run.profile)
    if not found.ranks:
        return None
    analysis = analyse(found)
    lines = [tag("li", Markup(_plain(line))) for line in replaced.sentences(analysis)]
    body = join(section(analysis) for section in report.SECTIONS)
    return tag("details", tag("summary", str(run.case)), tag("ul", *lines), body, class_="profile")


def _plain(line: str) -> str:
    """A line of the terminal's summary without its colours."""
    return html.escape(Text.from_markup(line).plain)


def _about(runs: Sequence[Run]) -> Markup:
    versions = {run.ready.mpi.name: run.ready.mpi.version for run in runs}
    most = max((len(run.launches(run.measures[0], WITH)) for run in runs if run.measures), default=0)
    rows = [
        ("machine", machine()),
        ("system", f"{platform.system()} {platform.release()}"),
        ("MPI", ", ".join(f"{name} {version}" for name, version in versions.items())),
        ("launches", f"up to {most} without and {most} with Wherry of each case, in turns"),
        ("statistic", STATISTIC),
        ("Wherry", f"{__version__} ({commit()})"),
        ("raw samples", "demo.json beside this page"),
    ]
    return _section("About this page", "", table(("", ""), rows))
