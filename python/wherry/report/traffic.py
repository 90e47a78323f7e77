"""How much data went where: sizes of calls, who sends to whom, communicators and datatypes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from wherry import units
from wherry.analysis import Analysis
from wherry.analysis.record_format import KINDS, PEER_CLASSES
from wherry.draw import charts
from wherry.draw.charts import Bar, BarPart
from wherry.draw.markup import Markup, join, table, tag
from wherry.report.parts import comm_names, kind_style, numbers, section, table_and_rest


def sizes(analysis: Analysis) -> Markup:
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
    return section(
        "Sizes",
        "Bytes per call in classes of powers of two; sums over ranks.",
        charts.legend([(kind, kind_style(kind)) for kind in kinds]),
        tag("h3", "Calls"),
        charts.columns("Calls by size of their data", calls, units.count, 190.0),
        tag("h3", "Time"),
        charts.columns("Time in calls by size of their data", times, units.seconds, 190.0),
        numbers(("bytes per call", "kind", "calls", "bytes", "time"), rows),
    )


def _size_bars(
    analysis: Analysis, buckets: Iterable[int], value: Callable[..., float], format_: charts.Format
) -> list[Bar]:
    bars = []
    for bucket in buckets:
        members = sorted((row for row in analysis.sizes if row.bucket == bucket), key=lambda row: kind_style(row.kind))
        label = units.bucket(bucket)
        parts = [
            BarPart(value(row), kind_style(row.kind), f"{label}, {row.kind}: {format_(value(row))}") for row in members
        ]
        bars.append(Bar(label, parts))
    return bars


def matrix(analysis: Analysis) -> Markup:
    if not analysis.peers:
        return Markup()
    pictures = []
    for kind in PEER_CLASSES:
        entries = [(row.origin, row.target, float(row.bytes)) for row in analysis.peers if row.kind == kind]
        if any(value > 0 for _, _, value in entries):
            cells, labels = charts.aggregate(analysis.size, entries)
            picture = charts.matrix(f"Bytes between ranks, {kind}", cells, labels, units.bytes_)
            total = units.bytes_(sum(value for _, _, value in entries))
            pictures.append(tag("div", tag("h3", f"{kind}, {total}"), picture))
    rows = [
        (row.origin, row.target, row.kind, row.messages, units.bytes_(row.bytes))
        for row in sorted(analysis.peers, key=lambda row: -row.bytes)
    ]
    text = "Bytes by sender and receiver (one-sided: by origin and target); darker is more, on a logarithmic scale."
    return section(
        "Who sends to whom", text, tag("div", *pictures, class_="row"),
        numbers(("from", "to", "kind", "messages", "bytes"), rows),
    )  # fmt: skip


def comms(analysis: Analysis) -> Markup:
    if not analysis.comms:
        return Markup()
    names = comm_names(analysis)
    rows = [
        (
            names[row.key],
            row.size,
            row.nodes or "unknown",
            units.count(row.totals.calls),
            units.bytes_(row.totals.bytes),
            units.seconds(row.totals.seconds / max(row.size, 1)),
        )
        for row in analysis.comms
    ]
    headers = ("communicator", "ranks", "nodes", "calls", "bytes", "time per rank")
    return section("Communicators", "", *table_and_rest(headers, rows))


def types(analysis: Analysis) -> Markup:
    one_sided = [row for row in analysis.functions if row.kind == "one-sided"]
    parts = []
    if analysis.types:
        rows = [(row.name, units.count(row.calls), units.bytes_(row.bytes)) for row in analysis.types]
        parts.append(section("Derived datatypes", "", table(("built by", "calls", "bytes"), rows)))
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
            section("One-sided communication", "", table(("function", "calls", "bytes", "time per rank"), calls))
        )
    return join(parts)
