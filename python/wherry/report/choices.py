"""What Wherry chose: native against chosen, decisions over time, and which calls fell back to native."""

from __future__ import annotations

from collections.abc import Sequence

from wherry import units
from wherry.analysis import Analysis, DecisionRow, Kind, UseRow, gains
from wherry.draw import charts
from wherry.draw.charts import Bar, BarPart, ChartSpan
from wherry.draw.markup import Markup, join, table, tag
from wherry.report.parts import MOST_BARS, MOST_ROWS, OTHER_STYLE, comm_names, numbers, section

_MOST_LANES = 24  # of the timeline
_STRATEGY_STYLES = (0, 1, 2, 3, 4, 5, 6, 9, 10, 11)


def choices(analysis: Analysis) -> Markup:
    if not analysis.uses and not analysis.decisions:
        return Markup()
    styles, names = _strategy_styles(analysis), comm_names(analysis)
    return section(
        "What Wherry chose",
        "Pale: only tried.",
        charts.legend(list(styles.items())),
        _gains(analysis),
        _native_against(analysis, styles, names),
        _decisions(analysis, styles, names),
        tag("h3", "How often each ran"),
        table(
            ("function", "block", "communicator", "ran", "calls", "of them trials", "mean time"),
            [
                (
                    use.kind.function,
                    use.kind.block,
                    names[use.kind.comm_key],
                    use.strategy,
                    units.count(use.calls),
                    units.count(use.calls - use.kept_calls),
                    units.seconds(use.seconds / max(use.calls, 1)),
                )
                for use in analysis.uses[:MOST_ROWS]
            ],
        ),
    )


def _strategy_styles(analysis: Analysis) -> dict[str, int]:
    names = {use.strategy for use in analysis.uses} | {row.strategy for row in analysis.decisions}
    others = sorted(names - {"native"})
    return {"native": OTHER_STYLE} | {
        name: _STRATEGY_STYLES[i % len(_STRATEGY_STYLES)] for i, name in enumerate(others)
    }


def _native_against(analysis: Analysis, styles: dict[str, int], names: dict[str, str]) -> Markup:
    known = [use for use in analysis.replaced if use.native_seconds and use.strategy_seconds]
    if not known:
        return tag("p", "No strategy replaced the native collective with a known native time.", class_="soft")
    last = {row.kind: row.strategy for row in analysis.decisions}
    bars: list[Bar] = []
    for use in _most_used(known)[: MOST_BARS // 2]:
        kept = last.get(use.kind) == use.strategy
        bars += _pair(use, kept, styles[use.strategy], names[use.kind.comm_key])
    return join(
        [
            tag(
                "h3", "Native and the strategy that ran most in its place, time of one call, each pair to its own scale"
            ),
            charts.horizontal_bars("Time of one call, native and in its place", bars),
            numbers(
                ("function", "block", "communicator", "strategy", "native", "strategy time", "calls"),
                [_times_row(use, names) for use in known],
            ),
        ]
    )


def _pair(use: UseRow, kept: bool, style: int, comm: str) -> list[Bar]:
    """Two bars, which their notes tell apart; the longer one is 1."""
    native, strategy = use.native_seconds or 0.0, use.strategy_seconds or 0.0
    ratio = f"{native / strategy:.3g} times as fast" if strategy <= native else f"{strategy / native:.3g} times as slow"
    first = f"native {units.seconds(native)}"
    second = f"{use.strategy} {units.seconds(strategy)}, {ratio}" + ("" if kept else "; not kept")
    longer = max(native, strategy)
    return [
        Bar(_what(use.kind, comm), [BarPart(native / longer, OTHER_STYLE, first)], first),
        Bar("", [BarPart(strategy / longer, style, second, pale=not kept)], second),
    ]


def _what(kind: Kind, comm: str) -> str:
    return f"{kind.function.removeprefix('MPI_')} {kind.block}, {comm.removeprefix('MPI_COMM_')}"


def _most_used(uses: Sequence[UseRow]) -> list[UseRow]:
    """Per communicator, function and block the strategy that ran most; the others were trials."""
    best: dict[Kind, UseRow] = {}
    for use in uses:
        other = best.setdefault(use.kind, use)
        if use.calls > other.calls:
            best[use.kind] = use
    return sorted(best.values(), key=lambda use: -use.seconds)


def _times_row(use: UseRow, names: dict[str, str]) -> tuple[str, ...]:
    return (
        use.kind.function,
        use.kind.block,
        names[use.kind.comm_key],
        use.strategy,
        units.seconds(use.native_seconds or 0.0),
        units.seconds(use.strategy_seconds or 0.0),
        units.count(use.calls),
    )


def _gains(analysis: Analysis) -> Markup:
    if not analysis.gains:
        return Markup()
    return join(
        [
            tag("h3", "What the choices are worth: stretches of the program's course with them, and native ones"),
            table(
                ("communicator", "ranks", "pairs of stretches", "native step", "step", "difference", "interval"),
                [
                    (
                        gains.name(row),
                        str(row.comm_size),
                        units.count(row.pairs),
                        units.seconds(row.native_seconds),
                        units.seconds(row.replaced_seconds),
                        *gains.claim(row),
                    )
                    for row in analysis.gains[:MOST_ROWS]
                ],
            ),
        ]
    )


def _decisions(analysis: Analysis, styles: dict[str, int], names: dict[str, str]) -> Markup:
    if not analysis.decisions:
        return Markup()
    lanes: dict[Kind, list[DecisionRow]] = {}
    for row in analysis.decisions:
        lanes.setdefault(row.kind, []).append(row)
    end = max(analysis.seconds, max(row.at_seconds for row in analysis.decisions))
    labels, spans = [], []
    for i, (kind, rows) in enumerate(list(lanes.items())[:_MOST_LANES]):
        labels.append(_what(kind, names[kind.comm_key]))
        ends = [max(row.at_seconds, 0.0) for row in rows[1:]] + [end]
        for row, until in zip(rows, ends, strict=True):
            tip = f"{row.strategy} ({row.reason}) from call {row.call}, {units.seconds(max(row.at_seconds, 0.0))}"
            begin, style = max(row.at_seconds, 0.0), styles[row.strategy]
            spans.append(ChartSpan(i, begin, until, style, tip, row.reason in ("trial", "dropped", "changed")))
    more = f"The first {_MOST_LANES} of {len(lanes)}." if len(lanes) > _MOST_LANES else ""
    return join(
        [
            tag("h3", "Decisions over time"),
            tag("p", more, class_="soft") if more else None,
            charts.timeline("Which strategy ran when", labels, spans, end, units.seconds),
            numbers(
                ("at", "function", "block", "communicator", "call", "strategy", "reason", "time", "native"),
                [_decision_row(row, names) for row in analysis.decisions],
            ),
        ]
    )


def _decision_row(row: DecisionRow, names: dict[str, str]) -> tuple[str | float, ...]:
    return (
        units.seconds(max(row.at_seconds, 0.0)),
        row.kind.function,
        row.kind.block,
        names[row.kind.comm_key],
        row.call,
        row.strategy,
        row.reason,
        units.seconds(row.strategy_seconds) if row.strategy_seconds else "unknown",
        units.seconds(row.native_seconds) if row.native_seconds else "unknown",
    )


def fallbacks(analysis: Analysis) -> Markup:
    if not analysis.fallbacks:
        return Markup()
    rows = [(row.function, row.reason, units.count(row.calls)) for row in analysis.fallbacks]
    text = "Calls that Wherry could have replaced and that fell back to the native collective."
    return section("Native fallbacks", text, table(("function", "why", "calls"), rows))
