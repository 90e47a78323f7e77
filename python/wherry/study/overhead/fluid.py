"""What does each step win for the whole simulation, on one node and between emulated hosts?

All variants move the same fluid from the same state, in turns of so many steps within each launch; the program checks
that all end at the same places, bit by bit. A repetition is a turn of all variants. A gain is the share of the time of
Boost.MPI's default that is saved: of the ratio of the two in each repetition, whose interval is Student's.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from wherry import units
from wherry.compare.ratios import STATISTIC, Ratio, paired_ratio
from wherry.draw import figures
from wherry.measure.harness import BenchTable, Setup, Testbed
from wherry.measure.record import Measurement, Measurements, only, values
from wherry.netlab import why_unavailable
from wherry.study import parts
from wherry.study.datatypes.pictures import csv_text
from wherry.study.overhead import program
from wherry.study.overhead.program import BOOST, FIELDS, VARIANTS, WHERRY
from wherry.study.parts import StudyPart, in_words, record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RANKS = HOSTS = 2
LAUNCHES, TURNS, STEPS = 3, 10, 50  # 30 repetitions, as the source has
QUICK = (1, 3, 10)
#: The share of a step's time that Wherry is to save, by particles of a rank, on one node.
GAINS = {1000: 0.038, 10_000: 0.091}
_BYTES = ", bytes"


def measure(setup: Setup, netlab: bool) -> list[Measurement]:
    mpi = program.installation(setup)
    assert mpi is not None  # or why_not() says so
    launches, turns, steps = QUICK if setup.quick else (setup.launches or LAUNCHES, TURNS, STEPS)
    sizes = (1000,) if setup.quick else tuple(GAINS)
    table = BenchTable()
    with Testbed(dataclasses.replace(setup, netlab=netlab, hosts=HOSTS), mpi) as place:
        for done, (launch, size) in enumerate([(n, size) for n in range(launches) for size in sizes]):
            setup.progress(f"{size} particles of a rank", done, launches * len(sizes))
            words = ["--particles-per-rank", str(size), "--turns", str(turns), "--steps", str(steps)]
            words += ["--equilibrate", "50" if setup.quick else "500"]
            table.rows += program.launch(place, setup.ranks or RANKS, words, launch).rows
        like = {"mpi": mpi.name, "ranks": setup.ranks or RANKS, "network": place.network}
    return records_of(table, like | {"validated": not setup.quick, "netlab": netlab})


def records_of(table: BenchTable, like: dict[str, Any]) -> list[Measurement]:
    return [
        _record(table, case, variant, like)
        for case in table.cases()
        if "particles" in case.split()[1:2]
        for variant in VARIANTS
        if table.of(case, variant)
    ]


def _record(table: BenchTable, case: str, variant: str, like: dict[str, Any]) -> Measurement:
    against = BOOST if table.of(case, BOOST) else FIELDS
    times, base, fields = (_all(table, case, name) for name in (variant, against, FIELDS))
    ratio = paired_ratio(base, times)
    over_fields = paired_ratio(fields, times)
    per_rank = int(case.split()[0])
    goal, reached = _goal(variant, against, per_rank, ratio, like)
    known = {name: value for name, value in like.items() if name not in ("validated", "netlab")}
    return record(
        case=f"{case}, {VARIANTS[variant]}",
        metric="timestep",
        unit="s",
        value=statistics.median(times),
        baseline=statistics.median(base),
        ratio=ratio.value,
        samples=table.samples(case, variant, against),
        statistic=f"time: median over repetitions, ratio: {STATISTIC}",
        goal=goal,
        reached=reached,
        fluid=case,
        particles=per_rank,
        variant=variant,
        against=against,
        low=ratio.low,
        high=ratio.high,
        over_fields=over_fields.value,
        over_fields_low=over_fields.low,
        over_fields_high=over_fields.high,
        step_bytes=statistics.fmean(_all(table, case, variant + _BYTES)),
        **known,
    )


def _all(table: BenchTable, case: str, variant: str) -> list[float]:
    return [value for row in table.of(case, variant) for value in row.values]


def _goal(variant: str, against: str, per_rank: int, ratio: Ratio, like: dict[str, Any]) -> tuple[str, bool | None]:
    """Of Wherry against Boost.MPI on one node; a quick check is not validated."""
    if variant != WHERRY or against != BOOST or like["netlab"] or per_rank not in GAINS:
        return "", None
    asked = GAINS[per_rank]
    return f"saves >= {100 * asked:.1f} %", gain(ratio.value) >= asked if like["validated"] else None


def gain(ratio: float) -> float:
    """The share of the time that is saved."""
    return 1 - 1 / ratio


def tabulate(records: Measurements) -> parts.StudyTable:
    """Time per step, as a share of Boost.MPI's, and bytes that all ranks send."""
    fluids = values(records, "fluid")
    rows = []
    for variant in VARIANTS:
        found = {row["fluid"]: row for row in only(records, variant=variant)}
        if found:
            rows.append((VARIANTS[variant], *(_cell(found[name]) for name in fluids)))
    return parts.StudyTable(("time / share of Boost.MPI's / bytes of a step", *fluids), rows)


def _cell(row: Measurement) -> str:
    return f"{units.seconds(row['value'])} / {1 / row['ratio']:.3f} / {row['step_bytes'] / 1000:.1f} kB"


def answers(records: Measurements) -> parts.StudyTable:
    rows = []
    for row in only(records, variant=WHERRY):
        if row["against"] == BOOST:
            asked = row["goal"].removeprefix("saves ") or "-"
            validated = in_words(row["reached"]) if row["goal"] else "-"
            rows.append((f"saved of Boost.MPI's step, {row['fluid']}", asked, _saved(row), validated))
        slower = row["over_fields_high"] < 1
        validated = in_words(None if row["quick"] else not slower)
        rows.append((f"needed fields' time / Wherry's, {row['fluid']}", "no slower", _over_fields(row), validated))
    return parts.StudyTable(("Wherry", "asked", "measured (95 %)", "reached"), rows)


def _saved(row: Measurement) -> str:
    low, high = 100 * gain(row["low"]), 100 * gain(row["high"])
    return f"{100 * gain(row['ratio']):.1f} % ({low:.1f} to {high:.1f})"


def _over_fields(row: Measurement) -> str:
    return f"{row['over_fields']:.3f} ({row['over_fields_low']:.3f} to {row['over_fields_high']:.3f})"


def sheet(records: Measurements) -> str:
    figures_of: dict[str, Callable[[Measurement], float]] = {
        "seconds": lambda row: row["value"],
        "share": lambda row: 1 / row["ratio"],
        "share_low": lambda row: 1 / row["high"],
        "share_high": lambda row: 1 / row["low"],
        "step_bytes": lambda row: row["step_bytes"],
    }
    return csv_text(records, ("mpi", "network", "ranks", "fluid", "variant"), figures_of)


def draw(records: Measurements) -> str:
    """Dots with intervals: time of a step; bars: bytes."""
    fluids = values(records, "fluid")
    shown = [variant for variant in VARIANTS if only(records, variant=variant)]

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, 2, sharey=True)
        for number, fluid in enumerate(fluids):
            _paint(panels, only(records, fluid=fluid), shown, number, len(fluids))
        panels[0].set_yticks(range(len(shown)), [VARIANTS[variant] for variant in shown], fontsize=8)
        panels[0].invert_yaxis()
        panels[0].set_xlabel(f"time of a step / {VARIANTS[records[0]['against']]}'s")
        panels[1].set_xlabel("bytes of a step / the same")
        for axes in panels:
            axes.axvline(1, color=figures.LINES, linewidth=0.8)
            axes.set_xlim(left=0)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", fontsize=8, ncols=len(fluids))

    return figures.svg(9.6, 4.2, paint)


def _paint(panels: Sequence[Axes], records: Measurements, shown: Sequence[str], number: int, of: int) -> None:
    rows = {row["variant"]: row for row in records}
    base = rows[records[0]["against"]]
    y = [shown.index(variant) + (number - (of - 1) / 2) * 0.8 / of for variant in rows]
    shares = [1 / row["ratio"] for row in rows.values()]
    below = [share - 1 / row["high"] for share, row in zip(shares, rows.values(), strict=True)]
    above = [1 / row["low"] - share for share, row in zip(shares, rows.values(), strict=True)]
    style = {"color": figures.COLOURS[number], "label": records[0]["fluid"]}
    panels[0].errorbar(shares, y, xerr=[below, above], fmt="o", markersize=3.5, linewidth=1.2, **style)
    panels[1].plot([row["step_bytes"] / base["step_bytes"] for row in rows.values()], y, "o", markersize=3.5, **style)


def _why_no_cluster(setup: Setup) -> str:
    if not setup.netlab:
        return "it runs on emulated hosts; give --netlab, as root"
    return why_unavailable() or program.why_not(setup)


def _part(name: str, where: str, netlab: bool) -> StudyPart:
    return StudyPart(
        name,
        f"What does a fluid's step cost by each scheme to send particles, {where}?",
        lambda setup: measure(setup, netlab),
        tabulate,
        draw,
        _why_no_cluster if netlab else program.why_not,
        ("--mpi", "--launches", "-n", *(("--netlab",) if netlab else ())),
        fewest_ranks=2,
        every_mpi=True,
        answers=answers,
        sheet=sheet,
    )


PARTS = (_part("node", "within a node", False), _part("cluster", "between hosts", True))
