"""Halos of three programs, by three kinds of calls, on every library: packed by hand, by derived types, under Wherry.

Made again after the description of T. Adefemi, "Do MPI Derived Datatypes Actually Help?", arXiv 2511.13804 (2025). All
variants of a program and calls take turns in one process, and must have equal cells; those of a small grid must be
those of a serial computation. Times are those of the exchanges alone on the slowest rank, packing included.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from wherry import units
from wherry.draw import figures
from wherry.measure.harness import IN_TURNS, BenchTable, Setup, Testbed, parse, preload, program
from wherry.measure.record import Measurement, Measurements, only, values
from wherry.run.mpis import Mpi
from wherry.study import parts
from wherry.study.datatypes import experiment
from wherry.study.datatypes.pictures import csv_text
from wherry.study.datatypes.schemes import median
from wherry.study.parts import StudyPart, in_words, record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

QUESTION = "Are halos by derived types as fast as halos packed by hand?"
PROGRAMS = ("Jacobi", "Life", "lattice")
CALLS = ("point-to-point", "neighborhood", "persistent")
PACKED, NATIVE, WHERRY = VARIANTS = ("packed", "native", "wherry")
EXCHANGE, STEP = METRICS = ("exchange", "step")
RANKS = 2
#: Of time over packing by hand, and over native; what differs less than 5% is called equal.
GOAL = 1.05
_PROGRAM = "halo_types"


def measure(setup: Setup) -> list[Measurement]:
    mpis, ranks = experiment.installations(setup, _PROGRAM), setup.ranks or RANKS
    launches = [(mpi, launch) for mpi in mpis for launch in range(setup.launches or (1 if setup.quick else 3))]
    tables, network = {mpi.name: BenchTable() for mpi in mpis}, ""
    for done, (mpi, launch) in enumerate(launches):
        setup.progress(f"matrix, {mpi.name}, launch {launch + 1}", done, len(launches))
        with Testbed(setup, mpi) as place:
            args = [program(mpi, _PROGRAM), *words(setup.quick)]
            tables[mpi.name].rows += parse(place.run(ranks, args, preload(WHERRY_MEMORY="leave")), launch)
            network = place.network
    return [row for mpi in mpis for row in _records(tables[mpi.name], mpi, ranks, network, setup.quick)]


def words(quick: bool) -> list[str]:
    return ["--edge", "128" if quick else "1024", "--steps", "5", "--turns", "3" if quick else "12", "--warm", "16"]


def _records(table: BenchTable, mpi: Mpi, ranks: int, network: str, quick: bool) -> Iterable[Measurement]:
    for case in table.cases():
        name, calls, metric = case.split(", ")
        for variant in VARIANTS:
            ratio, over_native = (table.ratio(case, other, variant) for other in (PACKED, NATIVE))
            asked = variant == WHERRY and metric == EXCHANGE
            yield record(
                case=f"{name}, {calls}, {variant}",
                metric=metric,
                unit="s",
                value=table.best(case, variant),
                baseline=table.best(case, PACKED),
                ratio=ratio,
                mpi=mpi.name,
                ranks=ranks,
                network=network,
                samples=table.samples(case, *dict.fromkeys((PACKED, variant))),
                statistic=IN_TURNS,
                goal=f"time / packed and time / native <= {GOAL}" if asked else "",
                reached=min(ratio, over_native) >= 1 / GOAL if asked and not quick else None,
                against=PACKED,
                program=name,
                calls=calls,
                variant=variant,
                native_over_this=over_native,
                version=mpi.version,
            )


def over_packed(row: Measurement) -> float:
    return 1 / float(row["ratio"])


def tabulate(records: Measurements) -> parts.StudyTable:
    """A row for each program and calls; for each library the time packed by hand, and that of the others over it."""
    mpis = values(records, "mpi")
    rows = [
        (name, calls, *(_cell(only(records, metric=EXCHANGE, mpi=mpi, program=name, calls=calls)) for mpi in mpis))
        for name in PROGRAMS
        for calls in CALLS
    ]
    head = ("program", "calls", *(f"{mpi}: packed; native / packed; Wherry / packed" for mpi in mpis))
    return parts.StudyTable(head, rows)


def _cell(rows: Measurements) -> str:
    found = {row["variant"]: row for row in rows}
    if not found:
        return ""
    packed = units.seconds(found[PACKED]["value"])
    return f"{packed}; {over_packed(found[NATIVE]):.2f}; {over_packed(found[WHERRY]):.2f}"


def answers(records: Measurements) -> parts.StudyTable:
    """What the paper found, and what is found here, over all libraries."""
    native = only(records, metric=EXCHANGE, variant=NATIVE)
    ours = only(records, metric=EXCHANGE, variant=WHERRY)
    found: list[tuple[str, tuple[bool | None, str]]] = [
        ("no strategy is the fastest everywhere: native types win here and lose there", mixed(native)),
        ("in the Jacobi solver packing by hand is generally faster", packing_wins(native, "Jacobi")),
        ("in the Game of Life the library decides which is faster", flips(native, "Life")),
        ("MPICH loses with derived types in neighborhood and persistent calls", mpich_loses(native)),
        (f"with Wherry derived types take at most {GOAL} of packing by hand in every cell", everywhere(ours)),
        (f"and at most {GOAL} of native", never_worse(ours)),
    ]
    quick = any(row["quick"] for row in records)
    rows = [
        (claim, "not measured" if holds is None and not quick else in_words(None if quick else holds), figure)
        for claim, (holds, figure) in found
    ]
    return parts.StudyTable(("statement", "holds", "figure"), rows)


def mixed(native: Measurements) -> tuple[bool, str]:
    won, lost = (sum(fits(over_packed(row)) for row in native) for fits in (_wins, _loses))
    return won > 0 and lost > 0, f"faster in {won}, slower in {lost} of {len(native)} cells"


def _wins(quotient: float) -> bool:
    return quotient < 1 / GOAL


def _loses(quotient: float) -> bool:
    return quotient > GOAL


def packing_wins(native: Measurements, name: str) -> tuple[bool | None, str]:
    rows = only(native, program=name)
    lost = sum(_loses(over_packed(row)) for row in rows)
    return 2 * lost > len(rows) if rows else None, f"in {lost} of {len(rows)} cells"


def flips(native: Measurements, name: str) -> tuple[bool | None, str]:
    """By the median over the kinds of calls."""
    found = {
        mpi: median(over_packed(row) for row in only(native, program=name, mpi=mpi)) for mpi in values(native, "mpi")
    }
    holds = any(map(_wins, found.values())) and any(map(_loses, found.values()))
    return holds if len(found) > 1 else None, ", ".join(f"{mpi} {quotient:.2f}" for mpi, quotient in found.items())


def mpich_loses(native: Measurements) -> tuple[bool | None, str]:
    rows = [row for row in native if "mpich" in row["mpi"] and row["calls"] != CALLS[0]]
    lost = sum(_loses(over_packed(row)) for row in rows)
    return 2 * lost > len(rows) if rows else None, f"in {lost} of {len(rows)} cells"


def everywhere(ours: Measurements) -> tuple[bool, str]:
    return _at_most([over_packed(row) for row in ours])


def never_worse(ours: Measurements) -> tuple[bool, str]:
    return _at_most([1 / float(row["native_over_this"]) for row in ours])


def _at_most(quotients: list[float]) -> tuple[bool, str]:
    kept = sum(not _loses(each) for each in quotients)
    return kept == len(quotients), f"in {kept} of {len(quotients)} cells; at most {max(quotients):.2f}"


def sheet(records: Measurements) -> str:
    places = ("mpi", "network", "program", "calls", "metric", "variant")
    return csv_text(records, places, {"seconds": lambda row: row["value"], "over_packed": over_packed})


def draw(records: Measurements) -> str:
    mpis = values(records, "mpi")

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(mpis), squeeze=False, sharey=True)[0]
        for mpi, axes in zip(mpis, panels, strict=True):
            _paint(axes, only(records, metric=EXCHANGE, mpi=mpi))
            axes.set_title(mpi, fontsize=8, loc="left")
        panels[0].set_ylabel("exchange: time / packed by hand")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, fontsize=8)

    return figures.svg(1.2 + 2.2 * len(mpis), 3.8, paint)


def _paint(axes: Axes, records: Measurements) -> None:
    names = [f"{name}, {calls}" for name in PROGRAMS for calls in CALLS]
    for number, (variant, label) in enumerate({NATIVE: "derived types, native", WHERRY: "under Wherry"}.items()):
        rows = only(records, variant=variant)
        at = [names.index(f"{row['program']}, {row['calls']}") + 0.4 * number - 0.2 for row in rows]
        axes.bar(at, [over_packed(row) for row in rows], 0.4, color=figures.COLOURS[number], label=label)
    axes.axhline(1, color=figures.LINES, linewidth=1)
    axes.set_xticks(range(len(names)), names, rotation=90, fontsize=7)


PART = StudyPart(
    "matrix",
    QUESTION,
    measure,
    tabulate,
    draw,
    lambda setup: experiment.why_not_built(setup, _PROGRAM),
    ("--mpi", "-n", "--launches"),
    every_mpi=True,
    answers=answers,
    sheet=sheet,
)
