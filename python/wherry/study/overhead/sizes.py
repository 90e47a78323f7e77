"""How many bytes is an object in a message, after each step?"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from wherry.draw import figures
from wherry.measure.harness import Setup, Testbed
from wherry.measure.record import COUNT, Measurement, Measurements, only, values
from wherry.study.overhead import program
from wherry.study.parts import StudyPart, StudyTable, in_words, record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PREFIX = "bytes of "
#: What the source says, and what a particle of its kind is to take at most under Wherry.
STATED = {
    ("std::array of three ints", program.BOOST): 22,
    ("std::array of three ints", "make_array"): 12,
    ("std::array of three ints", program.WHERRY): 12,
    ("particle in memory", program.BOOST): 624,
    ("particle in memory", "reordered"): 592,
    ("properties in memory", program.BOOST): 328,
    ("properties in memory", "reordered"): 304,
}
_OBJECT = "particle with 4 bonds and 2 exclusions"


def measure(setup: Setup) -> list[Measurement]:
    mpi = program.installation(setup)
    assert mpi is not None  # or why_not() says so
    with Testbed(dataclasses.replace(setup, netlab=False), mpi) as place:
        table = program.launch(place, 1, ["--particles-per-rank", ","], 0)
    return [
        _record(row.case.removeprefix(_PREFIX), row.variant, row.values[0], mpi.name)
        for row in table.rows
        if row.case.startswith(_PREFIX)
    ]


def _record(name: str, variant: str, size: float, mpi: str) -> Measurement:
    stated = STATED.get((name, variant))
    return record(
        case=f"{name}, {program.VARIANTS[variant]}",
        metric="bytes",
        unit="B",
        value=size,
        mpi=mpi,
        ranks=1,
        statistic=COUNT,
        object=name,
        variant=variant,
        goal="" if stated is None else f"{stated} B",
        reached=None if stated is None else size == stated,
    )


def tabulate(records: Measurements) -> StudyTable:
    objects = values(records, "object")
    rows = []
    for variant in values(records, "variant"):
        found = {row["object"]: f"{row['value']:.0f}" for row in only(records, variant=variant)}
        rows.append((program.VARIANTS[variant], *(found.get(name, "") for name in objects)))
    order = list(program.VARIANTS.values())
    return StudyTable(("bytes", *objects), sorted(rows, key=lambda row: order.index(row[0])))


def answers(records: Measurements) -> StudyTable:
    rows = [
        (row["case"], row["goal"], f"{row['value']:.0f} B", in_words(row["reached"])) for row in records if row["goal"]
    ]
    return StudyTable(("the source says", "bytes", "here", "the same"), rows)


def draw(records: Measurements) -> str:
    """The particle that migrates."""
    sizes = {row["variant"]: row["value"] for row in only(records, object=_OBJECT)}
    shown = [variant for variant in program.VARIANTS if variant in sizes]

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        axes.barh(range(len(shown)), [sizes[variant] for variant in shown], color=figures.COLOURS[0])
        for number, variant in enumerate(shown):
            axes.text(sizes[variant] + 5, number, f"{sizes[variant]:.0f}", va="center", fontsize=8)
        axes.set_yticks(range(len(shown)), [program.VARIANTS[variant] for variant in shown], fontsize=8)
        axes.invert_yaxis()
        axes.set_xlabel(f"bytes of a {_OBJECT}")

    return figures.svg(7.2, 3.2, paint)


PART = StudyPart(
    "bytes",
    "How many bytes is an object in a message, after each step?",
    measure,
    tabulate,
    draw,
    program.why_not,
    ("--mpi",),
    every_mpi=True,
    answers=answers,
)
