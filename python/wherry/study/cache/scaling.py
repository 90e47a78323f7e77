"""Both applications on more and more ranks: the same problem, or one that grows with them; measured, and simulated."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from wherry import units
from wherry.draw import figures
from wherry.measure.harness import Setup, Testbed
from wherry.measure.record import Measurement, Measurements, only, values
from wherry.simulate import application
from wherry.study import applications
from wherry.study.cache.programs import (
    ADAPTIVE,
    BARNES_HUT,
    BLOCKS,
    FIXED,
    PROGRAMS,
    CacheProgram,
    by_variant,
    hit_percent,
    launches,
    ranks_up_to,
)
from wherry.study.parts import StudyTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STRONG = "How does the time of the same problem fall with the number of ranks?"
WEAK = "How does the time grow if the problem grows with the number of ranks?"
SIMULATED = "And on many ranks of a simulated cluster, where only communication takes time?"
RANKS = (2, 4, 8, 16, 32)
MOST_RANKS = 8  # measured, unless -n says so
SIMULATED_RANKS = (16, 32, 64, 128)
QUICK_SIMULATED_RANKS = (4, 8)
PLATFORM = "gigabit"
#: On which plain MPI is simulated too: the millions of its gets on more take hours.
_MOST_RANKS_OF_PLAIN = 16
#: As in the source's weak scaling of Barnes-Hut: memory and entries of each cache.
_CACHE = ("--cache-kib", "2048", "--entries", "30000", "--ceiling-kib", "16384")
#: Of computing, for a simulation: the longest took 49 minutes, and other processors are slower.
_LIMIT_S = 4 * 3600.0

_PLAIN = "plain MPI"
_LINES = (_PLAIN, BLOCKS, FIXED, ADAPTIVE)

#: How large a program's problem is on so many ranks.
SizeOf = Callable[[CacheProgram, int], int]


def _strong(quick: bool) -> SizeOf:
    return lambda program, ranks: program.problem(quick)


def _weak(scale: int, bodies: int) -> SizeOf:
    """So many bodies a rank, and a graph of 2^scale vertices a rank."""
    return lambda program, ranks: bodies * ranks if program is BARNES_HUT else scale + (ranks - 1).bit_length()


def measure_strong(setup: Setup) -> list[Measurement]:
    return _measured(setup, _strong(setup.quick))


def measure_weak(setup: Setup) -> list[Measurement]:
    return _measured(setup, _weak(6, 300) if setup.quick else _weak(10, 8192))


def _measured(setup: Setup, size_of: SizeOf) -> list[Measurement]:
    mpi, counts = setup.installation(), ranks_up_to(setup, RANKS, 4 if setup.quick else MOST_RANKS)
    cases = [(program, ranks) for program in PROGRAMS for ranks in counts]
    found: dict[tuple[CacheProgram, int], list[list[Measurement]]] = {case: [] for case in cases}
    with Testbed(setup, mpi) as place:
        for done, (program, ranks) in enumerate(steps := cases * launches(setup)):
            setup.progress(f"{program.name}, {units.plural(ranks, 'rank')}", done, len(steps))
            words = [*program.run(size_of(program, ranks), setup.quick), *_CACHE]
            found[program, ranks].append(applications.launched(place, ranks, program.name, words))
        network = place.network
    return [
        _row(program, ranks, size_of, row)
        for (program, ranks), rows in found.items()
        for row in applications.joined(rows, network)
    ]


def measure_simulated(setup: Setup) -> list[Measurement]:
    size_of = _weak(4, 100) if setup.quick else _weak(8, 8192)
    counts = ranks_up_to(setup, QUICK_SIMULATED_RANKS if setup.quick else SIMULATED_RANKS, max(SIMULATED_RANKS))
    cases = [(program, ranks) for program in PROGRAMS for ranks in counts]
    rows: list[Measurement] = []
    for done, (program, ranks) in enumerate(cases):
        setup.progress(f"{program.name}, {units.plural(ranks, 'rank')}", done, len(cases))
        size = size_of(program, ranks)
        words = _CACHE if ranks <= _MOST_RANKS_OF_PLAIN else (*_CACHE, "--no-plain")
        request = application.request(program.name, PLATFORM, ranks, None, (size,), _LIMIT_S, more=words)
        rows += [_row(program, ranks, size_of, row) for row in application.run(request).records]
    return rows


def why_not_simulated(setup: Setup) -> str:
    return next((why for program in PROGRAMS if (why := application.why_missing(program.name))), "")


def _row(program: CacheProgram, ranks: int, size_of: SizeOf, row: Measurement) -> Measurement:
    variant, size = row["strategies"][0], size_of(program, ranks)
    case = f"{program.name} {program.size.removeprefix('--')} {size}, {units.plural(ranks, 'rank')}, {variant}"
    place = {"workload": program.name, "size": size, "variant": variant, "hit_percent": hit_percent(row)}
    return row | {"case": case, "metric": "time", "ranks": ranks} | place


def tabulate(records: Measurements) -> StudyTable:
    head = ("workload", "ranks", "size", *_LINES, "plain MPI / adaptive", "hits, %: block cache", "adaptive")
    return StudyTable(head, [_words(rows) for rows in _groups(records)])


def _groups(records: Measurements) -> list[dict[str, Measurement]]:
    """By workload and ranks: the rows of all methods of reading."""
    keys = list(dict.fromkeys((row["workload"], row["ranks"]) for row in records))
    return [by_variant(only(records, workload=workload, ranks=ranks)) for workload, ranks in keys]


def _words(rows: dict[str, Measurement]) -> tuple[str, ...]:
    first = rows[ADAPTIVE]
    times = [units.seconds(_seconds(rows, line)) if _has(rows, line) else "" for line in _LINES]
    ratio = "" if first["ratio"] is None else f"{first['ratio']:.2f}"
    hits = [f"{rows[variant]['hit_percent']:.1f}" for variant in (BLOCKS, ADAPTIVE)]
    return (first["workload"], str(first["ranks"]), str(first["size"]), *times, ratio, *hits)


def _has(rows: dict[str, Measurement], line: str) -> bool:
    return line != _PLAIN or rows[FIXED]["baseline"] is not None


def _seconds(rows: dict[str, Measurement], line: str) -> float:
    """Plain MPI is measured once, and is the baseline of all."""
    return float(rows[FIXED]["baseline"] if line == _PLAIN else rows[line]["value"])


def draw(records: Measurements) -> str:
    workloads = values(records, "workload")
    colours = dict(zip(_LINES, (figures.LINES, *figures.COLOURS), strict=False))

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(workloads), squeeze=False)[0]
        for axes, workload in zip(panels, workloads, strict=True):
            groups = {rows[ADAPTIVE]["ranks"]: rows for rows in _groups(only(records, workload=workload))}
            for line in _LINES:
                times = {ranks: _seconds(rows, line) for ranks, rows in groups.items() if _has(rows, line)}
                axes.plot(list(times), list(times.values()), color=colours[line], marker=".", label=line)
            axes.set(yscale="log", xlabel="ranks", ylabel="seconds")
            figures.scale_logarithmically(axes, list(groups))
            axes.set_title(f"{workload}; {records[0]['network']}", fontsize=8, loc="left")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=len(_LINES), fontsize=8)

    return figures.svg(4.0 * len(workloads), 3.4, paint)
