"""Both applications, with caches of each rank's own and with one that the ranks of a node share besides."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from wherry import units
from wherry.draw import figures
from wherry.measure.harness import Setup, Testbed
from wherry.measure.record import Measurement, Measurements, only, values
from wherry.study import applications
from wherry.study.cache.programs import (
    ADAPTIVE,
    PROGRAMS,
    CacheProgram,
    by_variant,
    hit_percent,
    launches,
    ranks_up_to,
)
from wherry.study.parts import StudyTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

QUESTION = "What is saved if the ranks of a node share what they have read?"
RANKS = (4, 8, 16)
SHARED_KIB = 8192
#: Longer ones than 480 bytes are not shared.
_AHEAD = ("--ahead-bytes", "256")
OWN, SHARED = "each for itself", "shared"
_PLAIN = "plain MPI"
_CACHES = {OWN: (), SHARED: ("--node-kib", str(SHARED_KIB))}
_COLOUR_OF = dict(zip((_PLAIN, OWN, SHARED), (figures.LINES, *figures.COLOURS), strict=False))

#: A program, how many ranks, and which caches.
Case = tuple[CacheProgram, int, str]


def measure(setup: Setup) -> list[Measurement]:
    mpi, counts = setup.installation(), ranks_up_to(setup, RANKS, 4 if setup.quick else 8)
    cases: list[Case] = list(product(PROGRAMS, counts, _CACHES))
    found: dict[Case, list[list[Measurement]]] = {case: [] for case in cases}
    with Testbed(setup, mpi) as place:
        for done, case in enumerate(steps := cases * launches(setup)):
            program, ranks, caches = case
            setup.progress(f"{program.name}, {units.plural(ranks, 'rank')}, {caches}", done, len(steps))
            words = [*program.run(program.problem(setup.quick), setup.quick), *_AHEAD, *_CACHES[caches]]
            found[case].append(applications.launched(place, ranks, program.name, words))
        network = place.network
    return [_row(case, by_variant(applications.joined(rows, network))[ADAPTIVE]) for case, rows in found.items()]


def _row(case: Case, row: Measurement) -> Measurement:
    program, ranks, caches = case
    name = f"{program.name}, {units.plural(ranks, 'rank')}, {caches}"
    place = {"workload": program.name, "ranks": ranks, "caches": caches, "hit_percent": hit_percent(row)}
    return row | {"case": name, "metric": "time"} | place


def tabulate(records: Measurements) -> StudyTable:
    times = (_PLAIN, OWN, SHARED, f"{OWN} / {SHARED}")
    head = ("workload", "ranks", *times, f"transfers: {OWN}", SHARED)
    return StudyTable(head, [_words(rows) for rows in _pairs(records)])


def _pairs(records: Measurements) -> list[dict[str, Measurement]]:
    """By workload and ranks: the rows of both kinds of caches."""
    keys = dict.fromkeys((row["workload"], row["ranks"]) for row in records)
    return [{row["caches"]: row for row in only(records, workload=work, ranks=ranks)} for work, ranks in keys]


def _words(rows: dict[str, Measurement]) -> tuple[str, ...]:
    own, shared = rows[OWN], rows[SHARED]
    times = (min(own["baseline"], shared["baseline"]), own["value"], shared["value"])
    moves = (str(own["moves"]), str(shared["moves"]))
    ratio = f"{own['value'] / shared['value']:.2f}"
    return (own["workload"], str(own["ranks"]), *map(units.seconds, times), ratio, *moves)


def draw(records: Measurements) -> str:
    workloads = values(records, "workload")

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(workloads), squeeze=False)[0]
        for axes, workload in zip(panels, workloads, strict=True):
            _paint(axes, _pairs(only(records, workload=workload)))
            axes.set_title(f"{workload}; {records[0]['network']}", fontsize=8, loc="left")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize=8)

    return figures.svg(4.0 * len(workloads), 3.2, paint)


def _paint(axes: Axes, pairs: list[dict[str, Measurement]]) -> None:
    ranks = [rows[OWN]["ranks"] for rows in pairs]
    lines = {
        _PLAIN: [rows[OWN]["baseline"] for rows in pairs],
        OWN: [rows[OWN]["value"] for rows in pairs],
        SHARED: [rows[SHARED]["value"] for rows in pairs],
    }
    for label, seconds in lines.items():
        axes.plot(ranks, seconds, color=_COLOUR_OF[label], marker=".", label=label)
    axes.set(yscale="log", xlabel="ranks", ylabel="seconds")
    figures.scale_logarithmically(axes, ranks)
