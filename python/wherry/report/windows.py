"""What cached windows remembered: hits as the program went on, and what more or less memory would have done."""

from __future__ import annotations

from itertools import pairwise

from wherry import units
from wherry.analysis import Analysis, window_gains
from wherry.analysis.record_format import NATIVE_GETS
from wherry.analysis.window_rows import TrackRow
from wherry.draw import charts
from wherry.draw.charts import Line
from wherry.draw.markup import Markup, table, tag
from wherry.report.parts import numbers, section


def cached(analysis: Analysis) -> Markup:
    said = window_gains.sentences(analysis)
    if not said:
        return Markup()
    parts = [tag("p", sentence) for sentence in said]
    parts += _not_cached(analysis)
    if tracks := [row for row in analysis.tracks if row.points]:
        parts += _hits(tracks)
    if tracks := [row for row in analysis.tracks if row.curve]:
        parts += _curves(tracks)
    return section("Cached windows", "", *parts)


def _not_cached(analysis: Analysis) -> list[Markup]:
    rows = [
        (row.caching, what, one.reason, units.count(one.count), units.bytes_(one.bytes))
        for row in analysis.windows
        for one in row.not_cached
        for what in ("native get" if one.reason in NATIVE_GETS else "range not kept",)
    ]
    if not rows:
        return []
    text = (
        "Gets that the library performed, and ranges that were fetched and not kept. Bytes as far as types were seen."
    )
    return [
        tag("h3", "What was not cached"),
        tag("p", text, class_="soft"),
        table(("windows", "what", "reason", "count", "bytes"), rows),
    ]


def _hits(tracks: list[TrackRow]) -> list[Markup]:
    series = [Line(_name(row), hit_ratios(row), at) for at, row in enumerate(tracks)]
    rows = [
        (_name(row), units.count(lookups), units.percent(ratio), units.bytes_(memory))
        for row in tracks
        for (lookups, ratio), (_, _, memory) in zip(hit_ratios(row), row.points, strict=True)
    ]
    text = "Of the ranges that were looked up. Hits in part count, too: some of their bytes had to be fetched."
    return [
        tag("h3", "Hits as the program went on"),
        tag("p", text, class_="soft"),
        charts.legend([(line.label, line.style) for line in series]),
        charts.lines("Share of lookups that hit, since the point before", series, units.count, units.percent),
        numbers(("window", "lookups so far", "hits since the point before", "memory"), rows),
    ]


def _curves(tracks: list[TrackRow]) -> list[Markup]:
    series = [
        Line(_name(row), [(max(memory, 1.0), share) for memory, share in row.curve], at)
        for at, row in enumerate(tracks)
    ]
    rows = [(_name(row), units.bytes_(memory), units.percent(missed)) for row in tracks for memory, missed in row.curve]
    text = "What LRU would miss with other amounts of memory, estimated from a sample of the ranges looked up."
    return [
        tag("h3", "Misses over memory"),
        tag("p", text, class_="soft"),
        charts.legend([(line.label, line.style) for line in series]),
        charts.lines("Share of lookups that miss, over memory", series, units.bytes_, units.percent, logarithmic=True),
        numbers(("window", "memory", "misses"), rows),
    ]


def hit_ratios(track: TrackRow) -> list[tuple[float, float]]:
    """For each point its lookups, and the share of hits, also in part, among those since the point before."""
    return [
        (float(lookups), (hits - hits_before) / max(lookups - before, 1))
        for (before, hits_before, _), (lookups, hits, _) in pairwise([[0, 0, 0], *track.points])
    ]


def _name(track: TrackRow) -> str:
    return f"rank {track.rank}, {track.caching}, {units.count(track.lookups)} lookups"
