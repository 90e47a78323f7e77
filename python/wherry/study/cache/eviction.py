"""How good are the contents that the cache chooses, beside LRU's and what is possible?"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wherry.draw import figures
from wherry.measure.harness import Setup, Testbed
from wherry.measure.record import Measurement, Measurements, only, values
from wherry.study import applications
from wherry.study.cache import replay
from wherry.study.cache.programs import LCC
from wherry.study.parts import StudyTable, in_words, record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUESTION = "Which share of the gets hits, with memory for a part of all that is ever read?"
#: Percent of the working set.
SHARES = (1, 2, 5, 10, 25, 50, 75, 100)
VALIDATED = (5, 10, 25)
#: Of a smaller graph a few percent are less than the 4 KiB that a cache has at least, and all shares are the same.
_QUICK_SCALE = 11
POINTS = 5.0  # that hits may stay behind the best constant contents
#: What is drawn, by the member of a record.
LINES = {"value": "Wherry", "lru": "LRU", "constant": "best constant contents", "foresight": "best with foresight"}


@dataclass(frozen=True)
class Source:
    """A trace: its name, what the replay is told, and what makes it different from others."""

    name: str
    words: tuple[str, ...]


def measure(setup: Setup) -> list[Measurement]:
    shares = VALIDATED if setup.quick else SHARES
    with tempfile.TemporaryDirectory(prefix="wherry-") as folder:
        setup.progress("recording lcc", 0, 1)
        sources = [*_drawn(setup.quick), *_recorded(setup, Path(folder))]
        rows: list[Measurement] = []
        for done, source in enumerate(sources):
            setup.progress(source.name, done, len(sources))
            answers = replay.ask([*source.words, "--shares", replay.numbers(shares)])
            rows += [_row(source, answer, validated=not setup.quick) for answer in answers]
    return rows


def _drawn(quick: bool) -> list[Source]:
    length = ("--length", "10000" if quick else "60000")
    return [Source(f"Zipf {skew}", ("--zipf", skew, *length)) for skew in ("0.8", "1.0")]


def _recorded(setup: Setup, folder: Path) -> list[Source]:
    """Gets of adjacency lists of rank 0 of 2, as lcc makes them; without the scores that it gives, too."""
    scale = _QUICK_SCALE if setup.quick else LCC.usual
    trace, bare = folder / "lcc", folder / "bare"
    with Testbed(Setup(), setup.installation()) as place:
        applications.launched(place, 2, LCC.name, [*LCC.run(scale, quick=True), "--trace", str(trace)])
    lines = trace.read_text(encoding="ascii").splitlines()
    bare.write_text("".join(f"{line.rpartition(' ')[0]} 1\n" for line in lines), encoding="ascii")
    name = f"clustering coefficient, R-MAT {scale}"
    return [Source(f"{name}, scored", ("--trace", str(trace))), Source(name, ("--trace", str(bare)))]


def _row(source: Source, answer: dict[str, Any], validated: bool) -> Measurement:
    percent = {name: 100 * answer[name] / answer["references"] for name in ("hits", "lru", "constant", "foresight")}
    made = record(
        case=f"{source.name}, {answer['share']:g}% of the working set",
        metric="hits",
        unit="%",
        value=percent["hits"],
        baseline=percent["lru"],
        ratio=percent["hits"] / percent["lru"] if percent["lru"] > 0 else None,
        mpi="",
        ranks=1,
    )
    counts = {name: answer[name] for name in ("share", "bytes", "working_set", "references")}
    bounds = {name: percent[name] for name in ("lru", "constant", "foresight")}
    goal = _validation(percent) if validated and answer["share"] in VALIDATED else {"goal": "", "reached": None}
    return made | counts | bounds | goal | {"trace": source.name}


def _validation(percent: dict[str, float]) -> dict[str, Any]:
    reached = percent["hits"] >= max(percent["lru"], percent["constant"] - POINTS)
    return {"goal": f">= LRU, best constant contents - {POINTS:g} points", "reached": reached}


def tabulate(records: Measurements) -> StudyTable:
    rows = [row for row in records if row["share"] in VALIDATED]
    head = ("trace", "memory, % of working set", *(f"{name}, %" for name in LINES.values()), "goal met")
    return StudyTable(head, [_words(row) for row in rows])


def _words(row: Measurement) -> tuple[str, ...]:
    percent = (f"{row[name]:.1f}" for name in LINES)
    return (row["trace"], f"{row['share']:g}", *percent, in_words(row["reached"]))


def draw(records: Measurements) -> str:
    traces = values(records, "trace")
    across = min(2, len(traces))
    down = -(-len(traces) // across)

    def paint(figure: Figure) -> None:
        panels = list(figure.subplots(down, across, squeeze=False).flat)
        for axes, trace in zip(panels, traces, strict=False):
            rows = only(records, trace=trace)
            for colour, (name, label) in zip(figures.COLOURS, LINES.items(), strict=False):
                style = {"marker": "."} if name in ("value", "lru") else {"linestyle": "--"}
                axes.plot(_of(rows, "share"), _of(rows, name), color=colour, label=label, linewidth=1.3, **style)
            axes.set(xlabel="memory, % of the working set", ylabel="hits, %", ylim=(0, 100))
            axes.set_title(trace, fontsize=8, loc="left")
            figures.scale_logarithmically(axes, _of(rows, "share"), "{:g}".format)
        for axes in panels[len(traces) :]:
            axes.set_axis_off()
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=len(LINES), fontsize=8)

    return figures.svg(3.8 * across, 0.4 + 2.6 * down, paint)


def _of(rows: Sequence[Measurement], name: str) -> list[float]:
    return [row[name] for row in rows]
