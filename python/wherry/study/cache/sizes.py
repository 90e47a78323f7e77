"""Fixed sizes against adaptive ones, from many settings: the source's micro-benchmark and both applications."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from wherry import units
from wherry.draw import figures
from wherry.measure.harness import Setup, Testbed
from wherry.measure.record import Measurement, Measurements, only, values
from wherry.study import applications
from wherry.study.cache import replay
from wherry.study.cache.programs import (
    ADAPTIVE,
    BARNES_HUT,
    BLOCKS,
    FIXED,
    LCC,
    VARIANTS,
    CacheProgram,
    by_variant,
    hit_percent,
    launches,
)
from wherry.study.parts import StudyTable, in_words, record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

QUESTION = "Does the adaptive cache find the right size, wherever it starts?"
STORAGES_KIB = (64, 256, 1024, 4096)
ENTRIES = (64, 1024, 32768)
CEILING_KIB = 65536
RANKS = 2  # at least: one alone reads nothing from others
MICRO = "micro-benchmark"
#: Hits, and time, that adaptive sizes may lose against the best fixed ones.
MOST_LOSS = 0.05
_COLOUR_OF = dict(zip((BLOCKS, FIXED, ADAPTIVE), figures.COLOURS, strict=False))


@dataclass(frozen=True)
class StartSize:
    """A setting that a fixed cache keeps and an adaptive one starts from."""

    storage_kib: int
    entries: int

    def words(self) -> list[str]:
        cache = ["--cache-kib", str(self.storage_kib), "--entries", str(self.entries)]
        return [*cache, "--ceiling-kib", str(CEILING_KIB)]


def measure(setup: Setup) -> list[Measurement]:
    storages, entries = ((64, 1024), (64, 1024)) if setup.quick else (STORAGES_KIB, ENTRIES)
    starts = [StartSize(*each) for each in product(storages, entries)]
    workloads = [_micro, *(_of_program(program) for program in (LCC, BARNES_HUT))]
    rows: list[Measurement] = []
    for workload in workloads:
        found = workload(setup, starts)
        rows += found if setup.quick else _validated(found)
    return rows


def _micro(setup: Setup, starts: Sequence[StartSize]) -> list[Measurement]:
    """Gets of 2000 ranges of 8 bytes to 32 KiB, normally distributed, without an MPI: hits only."""
    setup.progress(MICRO, 0, 1)
    storages = dict.fromkeys(start.storage_kib for start in starts)
    entries = dict.fromkeys(start.entries for start in starts)
    words = ["--normal", "1", "--keys", "2000", "--length", "20000" if setup.quick else "100000"]
    words += ["--storages", replay.numbers(list(storages)), "--entries", replay.numbers(list(entries))]
    return [_micro_row(answer) for answer in replay.ask([*words, "--ceiling", str(CEILING_KIB)])]


def _micro_row(answer: dict[str, Any]) -> Measurement:
    start = StartSize(answer["storage_bytes"] >> 10, answer["index_entries"])
    variant = ADAPTIVE if answer["adaptive"] else FIXED
    percent = 100 * answer["hits"] / answer["references"]
    made = record(
        case=_case(MICRO, start, variant), metric="hits", unit="%", value=percent, mpi="", ranks=1, hit_percent=percent
    )
    names = ("references", "evictions", "conflicts", "adjustments", "storage_bytes_at_end", "index_slots_at_end")
    return made | _place(MICRO, start, variant) | {name: answer[name] for name in names}


def _of_program(program: CacheProgram) -> Callable[[Setup, Sequence[StartSize]], list[Measurement]]:
    """Runs it from every start, launch by launch."""

    def run(setup: Setup, starts: Sequence[StartSize]) -> list[Measurement]:
        mpi, ranks = setup.installation(), setup.ranks or RANKS
        words = program.run(program.problem(setup.quick), setup.quick)
        found: dict[StartSize, list[list[Measurement]]] = {start: [] for start in starts}
        with Testbed(setup, mpi) as place:
            for done, (_, start) in enumerate(steps := list(product(range(launches(setup)), starts))):
                setup.progress(f"{program.name}, {start.storage_kib} KiB, {start.entries} entries", done, len(steps))
                found[start].append(applications.launched(place, ranks, program.name, [*words, *start.words()]))
            joined = {start: by_variant(applications.joined(rows, place.network)) for start, rows in found.items()}
        return [
            _program_row(program, start, variant, rows[variant])
            for start, rows in joined.items()
            for variant in VARIANTS
        ]

    return run


def _program_row(program: CacheProgram, start: StartSize, variant: str, row: Measurement) -> Measurement:
    more = {"case": _case(program.name, start, variant), "metric": "time", "hit_percent": hit_percent(row)}
    return row | more | _place(program.name, start, variant)


def _case(workload: str, start: StartSize, variant: str) -> str:
    return f"{workload}, {units.bytes_(start.storage_kib << 10)}, {start.entries} entries, {variant}"


def _place(workload: str, start: StartSize, variant: str) -> dict[str, Any]:
    place = {"workload": workload, "storage_kib": start.storage_kib, "entries": start.entries, "variant": variant}
    return place | {"goal": "", "reached": None}


def _validated(rows: Sequence[Measurement]) -> list[Measurement]:
    """Of adaptive sizes, whether they lose more than they may: hits, which are counts."""
    best = max(row["hit_percent"] for row in rows if row["variant"] == FIXED)
    for row in rows:
        if row["variant"] == ADAPTIVE:
            row.goal = f">= {1 - MOST_LOSS:g} x hits of the best fixed setting"
            row.reached = row["hit_percent"] >= (1 - MOST_LOSS) * best
    return list(rows)


def tabulate(records: Measurements) -> StudyTable:
    starts, hits = ("workload", "memory at first", "entries at first"), ("hits, %: fixed", "adaptive", "block cache")
    head = (*starts, *hits, "time: plain MPI", "fixed", "adaptive", "block cache", "goal met")
    groups: dict[tuple[str, int, int], dict[str, Measurement]] = {}
    for row in records:
        groups.setdefault((row["workload"], row["storage_kib"], row["entries"]), {})[row["variant"]] = row
    return StudyTable(head, [_words(*key, rows) for key, rows in groups.items()])


def _words(workload: str, storage_kib: int, entries: int, rows: dict[str, Measurement]) -> tuple[str, ...]:
    order = (FIXED, ADAPTIVE, BLOCKS)
    hits = [f"{rows[variant]['hit_percent']:.1f}" if variant in rows else "" for variant in order]
    times = [units.seconds(rows[v]["value"]) if v in rows and rows[v]["unit"] == "s" else "" for v in order]
    plain = rows[FIXED]["baseline"]
    met = in_words(rows[ADAPTIVE]["reached"])
    first = (workload, units.bytes_(storage_kib << 10), str(entries), *hits)
    return (*first, "" if plain is None else units.seconds(plain), *times, met)


def draw(records: Measurements) -> str:
    workloads = values(records, "workload")

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(workloads), squeeze=False)[0]
        for axes, workload in zip(panels, workloads, strict=True):
            _paint(axes, only(records, workload=workload), workload)
        # The last one has all methods of reading; the micro-benchmark has no block cache.
        handles = dict(zip(*reversed(panels[-1].get_legend_handles_labels()), strict=True))
        figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=4, fontsize=8)

    return figures.svg(3.2 * len(workloads), 3.3, paint)


def _paint(axes: Axes, rows: Sequence[Measurement], title: str) -> None:
    """A line for each number of entries; the block cache has none."""
    entries = values(rows, "entries")
    markers = dict(zip(entries, "osD^v", strict=False))
    for variant, count in product(_COLOUR_OF, entries):
        line = only(rows, variant=variant, entries=count)
        if not line or (variant == BLOCKS and count != entries[0]):
            continue
        label = variant if variant == BLOCKS else f"{variant}, {count} entries"
        marker = "x" if variant == BLOCKS else markers[count]
        memory, hits = [row["storage_kib"] for row in line], [row["hit_percent"] for row in line]
        style = "-" if variant == ADAPTIVE else "--"
        axes.plot(memory, hits, style, color=_COLOUR_OF[variant], marker=marker, markersize=4, label=label)
    axes.set(xlabel="memory at first", ylabel="hits, %", ylim=(0, 102))
    figures.scale_logarithmically(axes, values(rows, "storage_kib"), lambda kib: units.bytes_(kib << 10))
    axes.set_title(title, fontsize=8, loc="left")
    axes.tick_params(labelsize=7)
