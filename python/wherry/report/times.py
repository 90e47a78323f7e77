"""Where the time went: by function, by call site, by rank, and waiting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wherry import units
from wherry.analysis import Analysis, RankRow, faults, paths
from wherry.analysis.record_format import KINDS
from wherry.draw import charts
from wherry.draw.charts import Bar, BarPart
from wherry.draw.markup import Markup
from wherry.report.parts import IDLE_STYLE, MOST_BARS, WAIT_STYLE, kind_style, numbers, section, table_and_rest

_MOST_COLUMNS = 96


def functions(analysis: Analysis) -> Markup:
    if not analysis.functions:
        return Markup()
    n = max(len(analysis.ranks), 1)
    total = sum(row.totals.seconds for row in analysis.functions) or 1.0
    bars, rows = [], []
    for row in analysis.functions:
        t = row.totals
        mean, share = units.seconds(t.seconds / n), units.percent(t.seconds / total)
        tip = f"{row.function}: {mean} per rank, {units.count(t.calls)} calls, {units.bytes_(t.bytes)}"
        bars.append(Bar(row.function, [BarPart(t.seconds / n, kind_style(row.kind), tip)], f"{mean} ({share})"))
        counts = (units.count(t.calls), units.bytes_(t.bytes), units.seconds(t.longest_seconds))
        rows.append((row.function, row.kind, mean, share, *counts, units.count(t.derived_calls)))
    headers = ("function", "kind", "time per rank", "of MPI", "calls", "bytes", "longest", "derived types")
    kinds = [kind for kind in KINDS if any(row.kind == kind for row in analysis.functions)]
    return section(
        "Time by call",
        "Mean over ranks.",
        charts.legend([(kind, kind_style(kind)) for kind in kinds]),
        charts.horizontal_bars("Time in each MPI function, mean over ranks", bars[:MOST_BARS]),
        numbers(headers, rows),
    )


def sites(analysis: Analysis) -> Markup:
    found = paths.places(analysis)
    if not found:
        return Markup()
    total = sum(row.totals.seconds for row in analysis.functions) or 1.0
    n = max(len(analysis.ranks), 1)
    rows = [
        (
            row.function,
            row.place,
            units.seconds(row.totals.seconds / n),
            units.percent(row.totals.seconds / total),
            units.count(row.totals.calls),
            units.bytes_(row.totals.bytes),
            row.ranks,
            f"{row.samples} of {row.of_samples}" if row.samples < row.of_samples else "",
        )
        for row in found
    ]
    headers = ("function", "called from", "time per rank", "of MPI", "calls", "bytes", "ranks", "samples")
    text = (
        "Functions and lines come from the program's debug information; without it, the module and the address. After"
        " “<” stands who called that function. Where a place is reached in several ways, time, calls and bytes of each"
        " are estimated by so many samples."
    )
    return section("Call sites", text, *table_and_rest(headers, rows))


def ranks(analysis: Analysis) -> Markup:
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
            _seconds(r.wait_seconds),
            _seconds(r.cpu_seconds),
            _seconds(r.system_seconds),
            "unknown" if r.faults is None else units.count(r.faults),
            "yes" if r.finalized else "no",
        )
        for r in analysis.ranks
    ]
    headers = (
        "rank",
        "host",
        "time",
        "in MPI",
        "share",
        "waiting (est.)",
        "processor",
        "in the kernel",
        "page faults",
        "finalized",
    )
    return section(
        "Time per rank",
        " ".join(_notes(analysis)),
        charts.legend([("outside MPI", IDLE_STYLE), ("MPI", 0), ("waiting in collectives (estimate)", WAIT_STYLE)]),
        charts.columns(title, bars, units.seconds),
        numbers(headers, rows),
    )


def _notes(analysis: Analysis) -> Iterator[str]:
    if analysis.wait_note:
        yield f"Waiting time: {analysis.wait_note}."
    for row in analysis.machines:
        if row.crowded:
            yield f"{row.crowd()}."
    for binding in analysis.bindings:
        yield f"{binding.problem()}."
    if processor := faults.processor(analysis):
        yield f"{processor[0].upper()}{processor[1:]}."


def _seconds(value: float | None) -> str:
    return "unknown" if value is None else units.seconds(value)


def _rank_groups(ranks: Sequence[RankRow]) -> list[tuple[str, Sequence[RankRow]]]:
    step = -(-len(ranks) // _MOST_COLUMNS)
    groups = [ranks[i : i + step] for i in range(0, len(ranks), step)]
    return [(f"{g[0].rank}" if len(g) == 1 else f"{g[0].rank}-{g[-1].rank}", g) for g in groups]


def _rank_parts(label: str, members: Sequence[RankRow]) -> list[BarPart]:
    n = len(members)
    total = sum(r.seconds for r in members) / n
    mpi = min(sum(r.mpi_seconds for r in members) / n, total)
    wait = min(sum(r.wait_seconds or 0.0 for r in members) / n, mpi)
    tip = f"rank {label}: {units.seconds(total)}, in MPI {units.seconds(mpi)}, waiting {units.seconds(wait)}"
    return [BarPart(wait, WAIT_STYLE, tip), BarPart(mpi - wait, 0, tip), BarPart(total - mpi, IDLE_STYLE, tip)]


def waits(analysis: Analysis) -> Markup:
    if not analysis.waits:
        return Markup()
    bars, rows = [], []
    for row in analysis.waits:
        tip = f"{row.function}: {units.percent(row.share)} of its time was waiting"
        parts = [BarPart(row.wait_seconds, WAIT_STYLE, tip), BarPart(max(row.seconds - row.wait_seconds, 0.0), 0, tip)]
        bars.append(Bar(row.function, parts, f"{units.percent(row.share)} waiting"))
        rows.append((row.function, row.calls, units.seconds(row.wait_seconds), units.seconds(row.seconds)))
    text = (
        "Entry of the last rank minus own entry, summed over ranks, in the collectives whose arrival times were kept"
        " (every 2^k-th call). It is time that no faster collective can win: the load is uneven, or there are too few"
        " cores."
    )
    return section(
        "Waiting in collectives",
        text,
        charts.legend([("waiting for others", WAIT_STYLE), ("communicating", 0)]),
        charts.horizontal_bars("Waiting and communicating time by collective", bars[:MOST_BARS]),
        numbers(("function", "collectives", "waiting", "time"), rows),
    )
