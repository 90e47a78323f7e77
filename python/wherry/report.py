"""`wherry report`: one self-contained HTML page from an Analysis. Each picture has its numbers in a table below it."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterable, Sequence
from importlib import resources
from pathlib import Path

from wherry import __version__, plots, units
from wherry.analysis import Analysis, DecisionRow, RankRow, UseRow, analyse, from_data
from wherry.errors import UsageError, WherryError
from wherry.files import write_json, write_whole
from wherry.markup import Markup, join, table, tag
from wherry.plots import Bar, Part, Span
from wherry.record import KINDS, PEER_CLASSES, read_all

_MOST_BARS = 12
_MOST_COLUMNS = 96
_MOST_ROWS = 400  # of a table in the page; report-data.json has all
_MOST_LANES = 24  # of the timeline
_STRATEGY_STYLES = (0, 1, 2, 3, 4, 5, 6, 9, 10, 11)
_WAIT_STYLE, _OTHER_STYLE, _IDLE_STYLE = 3, 7, 8


def write(directory: Path, analysis: Analysis) -> Path:
    """Writes report.html and report-data.json, each whole or not at all; returns the page's path. Raises OSError."""
    path = directory / "report.html"
    write_json(directory / "report-data.json", analysis.data())
    write_whole(path, page(analysis))
    return path


def from_directory(directory: Path) -> Path:
    """The page for what is in a directory: records of ranks, or the summary.json of a run. Raises WherryError."""
    if not directory.is_dir():
        raise UsageError(f"{directory} is not a directory; name the one that `wherry run --report DIR` filled")
    analysis = load(directory)
    try:
        return write(directory, analysis)
    except OSError as error:
        raise WherryError(f"cannot write the report to {directory}: {error.strerror or error}") from error


def load(directory: Path) -> Analysis:
    """Records count more than a summary: they are the source."""
    records = read_all(directory)
    summary = directory / "summary.json"
    if records.ranks or not summary.is_file():
        if not records.ranks:
            found = "; ".join(records.problems) or "it holds no rank-*.wrec and no summary.json"
            raise UsageError(
                f"nothing to report in {directory}: {found}; record a run: wherry run --report {directory} -- ..."
            )
        return analyse(records)
    try:
        return from_data(json.loads(summary.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise WherryError(f"{summary} is damaged ({error}); record the run again") from error


def page(analysis: Analysis) -> str:
    name = analysis.program.rsplit("/", 1)[-1] or "program"
    title = f"Wherry: {name} on {units.plural(analysis.size, 'rank')}"
    style = resources.files("wherry").joinpath("report.css").read_text(encoding="utf-8")
    head = tag(
        "head",
        Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        tag("title", title),
        tag("style", Markup(style)),
    )
    sections = join(section(analysis) for section in SECTIONS)
    body = tag("body", tag("main", _heading(analysis, name), sections, _about(analysis)))
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _heading(analysis: Analysis, name: str) -> Markup:
    hosts = ", ".join(f"{host} ({n})" for host, n in list(analysis.hosts.items())[:8])
    more = f" and {len(analysis.hosts) - 8} more hosts" if len(analysis.hosts) > 8 else ""
    where = f"{analysis.mpi_version or 'unknown MPI'}; ranks per host: {hosts}{more}; started {analysis.started}"
    return join([tag("h1", name), tag("p", where, class_="soft"), _cards(analysis), _warnings(analysis)])


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
    if analysis.gain_seconds is not None:
        cards.append((units.seconds(analysis.gain_seconds), "won per rank (estimate from trials)"))
    return tag(
        "div", *(tag("div", tag("b", value), tag("span", what), class_="card") for value, what in cards), class_="cards"
    )


def _warnings(analysis: Analysis) -> Markup:
    if not analysis.warnings:
        return Markup()
    return tag(
        "div", tag("strong", "Read with care"), tag("ul", *(tag("li", w) for w in analysis.warnings)), class_="warn"
    )


def _section(title: str, text: str, *content: Markup) -> Markup:
    return tag("section", tag("h2", title), tag("p", text, class_="soft") if text else None, *content)


def _numbers(headers: Sequence[str], rows: Sequence[Sequence[Markup | str | float]]) -> Markup:
    """The numbers behind a picture, folded away."""
    left_out = len(rows) - _MOST_ROWS
    more = tag("p", f"{left_out} more rows are in report-data.json", class_="soft") if left_out > 0 else None
    return tag("details", tag("summary", "numbers"), table(headers, rows[:_MOST_ROWS]), more)


def _ranks(analysis: Analysis) -> Markup:
    if not analysis.ranks:
        return Markup()
    groups = _rank_groups(analysis.ranks)
    bars = [Bar(label, _rank_parts(label, members)) for label, members in groups]
    title = "Time of each rank: outside MPI, in MPI, and waiting for others in collectives"
    rows = [
        (
            r.rank,
            r.host,
            units.seconds(r.seconds),
            units.seconds(r.mpi_seconds),
            units.percent(r.share),
            _optional(r),
            "yes" if r.finalized else "no",
        )
        for r in analysis.ranks
    ]
    headers = ("rank", "host", "time", "in MPI", "share", "waiting (est.)", "finalized")
    return _section(
        "Time per rank",
        analysis.wait_note and f"Waiting time: {analysis.wait_note}.",
        plots.legend([("outside MPI", _IDLE_STYLE), ("MPI", 0), ("waiting in collectives (estimate)", _WAIT_STYLE)]),
        plots.columns(title, bars, units.seconds),
        _numbers(headers, rows),
    )


def _optional(rank: RankRow) -> str:
    return "unknown" if rank.wait_seconds is None else units.seconds(rank.wait_seconds)


def _rank_groups(ranks: Sequence[RankRow]) -> list[tuple[str, Sequence[RankRow]]]:
    step = -(-len(ranks) // _MOST_COLUMNS)
    groups = [ranks[i : i + step] for i in range(0, len(ranks), step)]
    return [(f"{g[0].rank}" if len(g) == 1 else f"{g[0].rank}-{g[-1].rank}", g) for g in groups]


def _rank_parts(label: str, members: Sequence[RankRow]) -> list[Part]:
    n = len(members)
    total = sum(r.seconds for r in members) / n
    mpi = min(sum(r.mpi_seconds for r in members) / n, total)
    wait = min(sum(r.wait_seconds or 0.0 for r in members) / n, mpi)
    tip = f"rank {label}: {units.seconds(total)}, in MPI {units.seconds(mpi)}, waiting {units.seconds(wait)}"
    return [Part(wait, _WAIT_STYLE, tip), Part(mpi - wait, 0, tip), Part(total - mpi, _IDLE_STYLE, tip)]


def _functions(analysis: Analysis) -> Markup:
    if not analysis.functions:
        return Markup()
    n = max(len(analysis.ranks), 1)
    total = sum(row.totals.seconds for row in analysis.functions) or 1.0
    bars, rows = [], []
    for row in analysis.functions:
        t = row.totals
        mean, share = units.seconds(t.seconds / n), units.percent(t.seconds / total)
        tip = f"{row.function}: {mean} per rank, {units.count(t.calls)} calls, {units.bytes_(t.bytes)}"
        bars.append(Bar(row.function, [Part(t.seconds / n, _kind_style(row.kind), tip)], f"{mean} ({share})"))
        numbers = (units.count(t.calls), units.bytes_(t.bytes), units.seconds(t.longest_seconds))
        rows.append((row.function, row.kind, mean, share, *numbers, units.count(t.derived_calls)))
    headers = ("function", "kind", "time per rank", "of MPI", "calls", "bytes", "longest", "derived types")
    kinds = [kind for kind in KINDS if any(row.kind == kind for row in analysis.functions)]
    return _section(
        "Time by call",
        "Mean over ranks.",
        plots.legend([(kind, _kind_style(kind)) for kind in kinds]),
        plots.horizontal_bars("Time in each MPI function, mean over ranks", bars[:_MOST_BARS]),
        _numbers(headers, rows),
    )


def _kind_style(kind: str) -> int:
    return KINDS.index(kind) if kind in KINDS else _OTHER_STYLE


def _sites(analysis: Analysis) -> Markup:
    if not analysis.sites:
        return Markup()
    total = sum(row.totals.seconds for row in analysis.functions) or 1.0
    n = max(len(analysis.ranks), 1)
    rows = [
        (
            row.function,
            row.site,
            units.seconds(row.totals.seconds / n),
            units.percent(row.totals.seconds / total),
            units.count(row.totals.calls),
            units.bytes_(row.totals.bytes),
            row.ranks,
        )
        for row in analysis.sites
    ]
    headers = ("function", "called from", "time per rank", "of MPI", "calls", "bytes", "ranks")
    text = "Functions and lines come from the program's debug information; without it, the module and the address."
    rest = _numbers(headers, rows[_MOST_BARS:]) if len(rows) > _MOST_BARS else None
    return _section("Call sites", text, table(headers, rows[:_MOST_BARS]), rest or Markup())


def _sizes(analysis: Analysis) -> Markup:
    if not analysis.sizes:
        return Markup()
    last = max(row.bucket for row in analysis.sizes)
    first = min(row.bucket for row in analysis.sizes)
    kinds = [kind for kind in KINDS if any(row.kind == kind for row in analysis.sizes)]
    rows = [
        (units.bucket(row.bucket), row.kind, row.calls, units.bytes_(row.bytes), units.seconds(row.seconds))
        for row in analysis.sizes
    ]
    calls = _size_bars(analysis, range(first, last + 1), lambda row: float(row.calls), units.count)
    times = _size_bars(analysis, range(first, last + 1), lambda row: row.seconds, units.seconds)
    return _section(
        "Sizes",
        "Bytes per call in classes of powers of two; sums over ranks.",
        plots.legend([(kind, _kind_style(kind)) for kind in kinds]),
        tag("h3", "Calls"),
        plots.columns("Calls by size of their data", calls, units.count, 190.0),
        tag("h3", "Time"),
        plots.columns("Time in calls by size of their data", times, units.seconds, 190.0),
        _numbers(("bytes per call", "kind", "calls", "bytes", "time"), rows),
    )


def _size_bars(
    analysis: Analysis, buckets: Iterable[int], value: Callable[..., float], format_: plots.Format
) -> list[Bar]:
    bars = []
    for bucket in buckets:
        members = sorted((row for row in analysis.sizes if row.bucket == bucket), key=lambda row: _kind_style(row.kind))
        label = units.bucket(bucket)
        parts = [
            Part(value(row), _kind_style(row.kind), f"{label}, {row.kind}: {format_(value(row))}") for row in members
        ]
        bars.append(Bar(label, parts))
    return bars


def _matrix(analysis: Analysis) -> Markup:
    if not analysis.peers:
        return Markup()
    pictures = []
    for kind in PEER_CLASSES:
        entries = [(row.origin, row.target, float(row.bytes)) for row in analysis.peers if row.kind == kind]
        if any(value > 0 for _, _, value in entries):
            cells, labels = plots.aggregate(analysis.size, entries)
            picture = plots.matrix(f"Bytes between ranks, {kind}", cells, labels, units.bytes_)
            total = units.bytes_(sum(value for _, _, value in entries))
            pictures.append(tag("div", tag("h3", f"{kind}, {total}"), picture))
    rows = [
        (row.origin, row.target, row.kind, row.messages, units.bytes_(row.bytes))
        for row in sorted(analysis.peers, key=lambda row: -row.bytes)
    ]
    text = "Bytes by sender and receiver (one-sided: by origin and target); darker is more, on a logarithmic scale."
    return _section(
        "Who sends to whom", text, tag("div", *pictures, class_="row"),
        _numbers(("from", "to", "kind", "messages", "bytes"), rows),
    )  # fmt: skip


def _waits(analysis: Analysis) -> Markup:
    if not analysis.waits:
        return Markup()
    bars, rows = [], []
    for row in analysis.waits:
        tip = f"{row.function}: {units.percent(row.share)} of its time was waiting"
        parts = [Part(row.wait_seconds, _WAIT_STYLE, tip), Part(max(row.seconds - row.wait_seconds, 0.0), 0, tip)]
        bars.append(Bar(row.function, parts, f"{units.percent(row.share)} waiting"))
        rows.append((row.function, row.calls, units.seconds(row.wait_seconds), units.seconds(row.seconds)))
    text = (
        "Entry of the last rank minus own entry, summed over ranks, in the collectives whose arrival times were kept"
        " (every 2^k-th call). It is time that no faster collective can win: the load is uneven."
    )
    return _section(
        "Waiting in collectives",
        text,
        plots.legend([("waiting for others", _WAIT_STYLE), ("communicating", 0)]),
        plots.horizontal_bars("Waiting and communicating time by collective", bars[:_MOST_BARS]),
        _numbers(("function", "collectives", "waiting", "time"), rows),
    )


def _choices(analysis: Analysis) -> Markup:
    if not analysis.uses and not analysis.decisions:
        return Markup()
    styles = _strategy_styles(analysis)
    return _section(
        "What Wherry chose",
        "",
        plots.legend(list(styles.items())),
        _native_against(analysis, styles),
        _decisions(analysis, styles),
        tag("h3", "How often each ran"),
        table(
            ("function", "block", "communicator", "ran", "calls", "mean time"),
            [
                (
                    use.function,
                    units.bucket(use.bucket),
                    use.comm or use.comm_key,
                    use.strategy,
                    units.count(use.calls),
                    units.seconds(use.seconds / max(use.calls, 1)),
                )
                for use in analysis.uses[:_MOST_ROWS]
            ],
        ),
    )


def _strategy_styles(analysis: Analysis) -> dict[str, int]:
    names = {use.strategy for use in analysis.uses} | {row.strategy for row in analysis.decisions}
    others = sorted(names - {"native"})
    return {"native": _OTHER_STYLE} | {
        name: _STRATEGY_STYLES[i % len(_STRATEGY_STYLES)] for i, name in enumerate(others)
    }


def _native_against(analysis: Analysis, styles: dict[str, int]) -> Markup:
    known = [use for use in analysis.replaced if use.native_seconds and use.strategy_seconds]
    chief = _most_used(known)
    if not known:
        return tag("p", "No strategy replaced the library's own collective with a known native time.", class_="soft")
    bars: list[Bar] = []
    for use in chief[: _MOST_BARS // 2]:
        native, chosen = use.native_seconds or 0.0, use.strategy_seconds or 0.0
        what = f"{use.function.removeprefix('MPI_')} {units.bucket(use.bucket)}"
        ratio = f"{units.seconds(chosen)}, {native / chosen:.2f} times as fast"
        bars.append(Bar(what, [Part(native, _OTHER_STYLE, f"native: {units.seconds(native)}")], units.seconds(native)))
        bars.append(Bar(use.strategy, [Part(chosen, styles[use.strategy], f"{use.strategy}: {ratio}")], ratio))
    return join(
        [
            tag("h3", "Native against Wherry, one call (agreed among the ranks during the trials)"),
            plots.horizontal_bars("Time of one call, native and chosen strategy", bars),
            _numbers(
                ("function", "block", "communicator", "strategy", "native", "strategy time", "calls", "gain"),
                [_gain_row(use) for use in known],
            ),
        ]
    )


def _most_used(uses: Sequence[UseRow]) -> list[UseRow]:
    """Per communicator, function and block the strategy that ran most; the others were trials."""
    best: dict[tuple[str, str, int], UseRow] = {}
    for use in uses:
        other = best.setdefault((use.comm_key, use.function, use.bucket), use)
        if use.calls > other.calls:
            best[use.comm_key, use.function, use.bucket] = use
    return sorted(best.values(), key=lambda use: -use.seconds)


def _gain_row(use: UseRow) -> tuple[str, ...]:
    return (
        use.function,
        units.bucket(use.bucket),
        use.comm or use.comm_key,
        use.strategy,
        units.seconds(use.native_seconds or 0.0),
        units.seconds(use.strategy_seconds or 0.0),
        units.count(use.calls),
        units.seconds(use.gain_seconds or 0.0) + " per rank",
    )


def _decisions(analysis: Analysis, styles: dict[str, int]) -> Markup:
    if not analysis.decisions:
        return Markup()
    lanes: dict[tuple[str, str, int], list[DecisionRow]] = {}
    for row in analysis.decisions:
        lanes.setdefault((row.comm_key, row.function, row.bucket), []).append(row)
    end = max(analysis.seconds, max(row.at_seconds for row in analysis.decisions))
    labels, spans = [], []
    for i, ((_, function, bucket), rows) in enumerate(list(lanes.items())[:_MOST_LANES]):
        labels.append(f"{function.removeprefix('MPI_')} {units.bucket(bucket)}, {rows[0].comm_size} ranks")
        ends = [max(row.at_seconds, 0.0) for row in rows[1:]] + [end]
        for row, until in zip(rows, ends, strict=True):
            tip = f"{row.strategy} ({row.reason}) from call {row.call}, {units.seconds(max(row.at_seconds, 0.0))}"
            begin, style = max(row.at_seconds, 0.0), styles[row.strategy]
            spans.append(Span(i, begin, until, style, tip, row.reason in ("trial", "dropped")))
    more = f"The first {_MOST_LANES} of {len(lanes)}." if len(lanes) > _MOST_LANES else ""
    return join(
        [
            tag("h3", "Decisions over time (pale: trials)"),
            tag("p", more, class_="soft") if more else None,
            plots.timeline("Which strategy ran when", labels, spans, end, units.seconds),
            _numbers(
                ("at", "function", "block", "communicator", "call", "strategy", "reason", "time", "native"),
                [_decision_row(row) for row in analysis.decisions],
            ),
        ]
    )


def _decision_row(row: DecisionRow) -> tuple[str | float, ...]:
    return (
        units.seconds(max(row.at_seconds, 0.0)),
        row.function,
        units.bucket(row.bucket),
        row.comm or row.comm_key,
        row.call,
        row.strategy,
        row.reason,
        units.seconds(row.strategy_seconds) if row.strategy_seconds else "unknown",
        units.seconds(row.native_seconds) if row.native_seconds else "unknown",
    )


def _misses(analysis: Analysis) -> Markup:
    if not analysis.misses:
        return Markup()
    rows = [(row.function, row.reason, units.count(row.calls)) for row in analysis.misses]
    text = "Calls that Wherry could have replaced and left to the library."
    return _section("Left to the library", text, table(("function", "why", "calls"), rows))


def _comms(analysis: Analysis) -> Markup:
    if not analysis.comms:
        return Markup()
    rows = [
        (
            row.name or row.key,
            row.size,
            row.nodes or "unknown",
            units.count(row.totals.calls),
            units.bytes_(row.totals.bytes),
            units.seconds(row.totals.seconds / max(row.size, 1)),
        )
        for row in analysis.comms
    ]
    headers = ("communicator", "ranks", "nodes", "calls", "bytes", "time per rank")
    return _section("Communicators", "", table(headers, rows[:_MOST_BARS]), _numbers(headers, rows))


def _types(analysis: Analysis) -> Markup:
    one_sided = [row for row in analysis.functions if row.kind == "one-sided"]
    parts = []
    if analysis.types:
        rows = [(row.name, units.count(row.calls), units.bytes_(row.bytes)) for row in analysis.types]
        parts.append(_section("Derived datatypes", "", table(("built by", "calls", "bytes"), rows)))
    if one_sided:
        calls = [
            (
                row.function,
                units.count(row.totals.calls),
                units.bytes_(row.totals.bytes),
                units.seconds(row.totals.seconds / max(len(analysis.ranks), 1)),
            )
            for row in one_sided
        ]
        parts.append(
            _section("One-sided communication", "", table(("function", "calls", "bytes", "time per rank"), calls))
        )
    return join(parts)


def _about(analysis: Analysis) -> Markup:
    rows = [
        ("program", analysis.program or "unknown"),
        ("MPI", analysis.mpi_version or "unknown"),
        ("ABI", analysis.abi or "unknown"),
        ("thread level", analysis.thread_level or "unknown"),
        ("started", analysis.started or "unknown"),
        ("machine of this report", f"{platform.machine()}, {platform.system()} {platform.release()}"),
        ("Wherry", __version__),
    ]
    return _section("About this run", "", table(("", ""), rows))


SECTIONS: tuple[Callable[[Analysis], Markup], ...] = (
    _functions,
    _sites,
    _choices,
    _misses,
    _ranks,
    _waits,
    _sizes,
    _matrix,
    _comms,
    _types,
)
