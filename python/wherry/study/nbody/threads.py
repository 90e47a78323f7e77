"""From how many bodies a thread on do threads pay, and does it matter how rows are dealt to them?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wherry.draw import figures
from wherry.measure.harness import Setup
from wherry.measure.record import Measurement, only, values
from wherry.study.nbody import runs
from wherry.study.parts import StudyPart, StudyTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEALS = {"fair": "as many pairs to each", "rows": "schedule(static, 8)"}
PER_THREAD = (32, 64, 128, 256, 512, 1024, 4096)
QUICK_PER_THREAD = (64, 256)


def thread_counts() -> list[int]:
    """Powers of two above one, up to the cores."""
    cores = runs.cores()
    return [count for count in (2**k for k in range(1, 9)) if count <= cores] or [2]


def measure(setup: Setup) -> list[Measurement]:
    cases = [
        runs.SchemeCase(each * threads, "replicated", 1, count, deal)
        for each in (QUICK_PER_THREAD if setup.quick else PER_THREAD)
        for threads in thread_counts()
        for count, deal in ((1, "fair"), *((threads, deal) for deal in DEALS))
    ]
    rows = runs.measure(setup, list(dict.fromkeys(cases)), 12 if setup.quick else 60)
    return only(rows, metric="computing", side="native")


def efficiency(records: Sequence[Measurement], row: Measurement) -> float:
    """Of the threads: one thread's time / (threads * theirs)."""
    (alone,) = only(records, bodies=row["bodies"], threads=1)
    return float(alone["value"] / (row["threads"] * row["value"]))


def tabulate(records: Sequence[Measurement]) -> StudyTable:
    several = [row for row in records if row["threads"] > 1]
    cases = dict.fromkeys((row["threads"], row["bodies"]) for row in several)
    rows = [_words(records, only(several, threads=threads, bodies=bodies)) for threads, bodies in cases]
    return StudyTable(("threads (*: > cores)", "bodies a thread", *DEALS.values()), rows)


def _words(records: Sequence[Measurement], case: Sequence[Measurement]) -> tuple[str, ...]:
    """Of as many bodies and threads, dealt in each of the manners."""
    first = case[0]
    threads = f"{first['threads']}{' *' if first['oversubscribed'] else ''}"
    shares = [f"{100 * efficiency(records, row):.0f} %" for deal in DEALS for row in only(case, deal=deal)]
    return (threads, str(first["bodies"] // first["threads"]), *shares)


def draw(records: Sequence[Measurement]) -> str:
    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        counts = [count for count in values(records, "threads") if count > 1]
        for number, threads in enumerate(counts):
            colour = figures.style(number)["color"]
            for deal, style in zip(DEALS, ("o-", "s--"), strict=True):
                rows = only(records, threads=threads, deal=deal)
                xs, ys = [row["bodies"] / threads for row in rows], [100 * efficiency(records, row) for row in rows]
                axes.plot(xs, ys, style, color=colour, label=f"{threads} threads, {DEALS[deal]}")
        axes.axhline(90, color=figures.LINES, linestyle=":", linewidth=1)
        axes.set(xscale="log", xlabel="bodies a thread", ylabel="% of the best speedup", ylim=(0, None))
        axes.legend(fontsize=8)

    return figures.svg(6.0, 3.4, paint)


PART = StudyPart("threads", __doc__ or "", measure, tabulate, draw, runs.why_not, runs.OPTIONS)
