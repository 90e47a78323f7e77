"""Which scheme makes most timesteps a second on this machine, and on emulated hosts with Gigabit links?"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from wherry.draw import figures
from wherry.measure.harness import Setup
from wherry.measure.record import Measurement, only, values
from wherry.netlab import why_unavailable
from wherry.study.nbody import runs
from wherry.study.parts import StudyPart, StudyTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SCHEMES = ("equal", "balanced", "replicated", "overlapped", "allgather", "ring", "quorum", "grid")
#: On one node `overlapped` is `replicated`.
_OF_A_NODE = tuple(name for name in SCHEMES if name != "overlapped")
_STEPS, _QUICK_STEPS = 96, 12


def on_node(setup: Setup) -> list[Measurement]:
    ranks = (1, 2) if setup.quick else (1, 2, 4, 8, 16)
    bodies = (512,) if setup.quick else (4096, 16384)
    return _measure(setup, ranks, bodies, _OF_A_NODE)


def on_gigabit(setup: Setup) -> list[Measurement]:
    """One rank on each host."""
    bodies = (512,) if setup.quick else (1024, 4096, 16384)
    return _measure(dataclasses.replace(setup, netlab=True), (setup.hosts,), bodies, SCHEMES)


def _measure(setup: Setup, ranks: Sequence[int], bodies: Sequence[int], schemes: Sequence[str]) -> list[Measurement]:
    cases = [runs.SchemeCase(n, scheme, p) for n in bodies for p in ranks for scheme in schemes]
    return runs.measure(setup, cases, _QUICK_STEPS if setup.quick else _STEPS)


def why_no_gigabit(setup: Setup) -> str:
    return runs.why_not(setup) or why_unavailable() or ""


def share_exchanging(records: Sequence[Measurement], step: Measurement) -> float:
    (exchanging,) = _of(records, "exchanging", step)
    return float(exchanging["value"] / step["value"])


def _of(records: Sequence[Measurement], metric: str, like: Measurement) -> list[Measurement]:
    same = {name: like[name] for name in ("side", "bodies", "scheme", "ranks")}
    return only(records, metric=metric, **same)


def tabulate(records: Sequence[Measurement]) -> StudyTable:
    """With the wins beside the times: the fastest scheme of plain MPI for each number of bodies and ranks is bold."""
    steps = only(records, metric="timestep", side="native")
    return StudyTable(
        ("bodies", "ranks (*: > cores)", "scheme", "timesteps/s", "with Wherry", "exchanging"),
        [_row(records, step, _is_best(steps, step)) for step in steps],
    )


def tabulate_gigabit(records: Sequence[Measurement]) -> StudyTable:
    """Beside the larger of what the slowest rank computed and what the wire takes for the bytes of the model."""
    steps, table = only(records, metric="timestep", side="native"), tabulate(records)
    shares = [f"{100 * _bound_s(records, step) / step['value']:.0f} %" for step in steps]
    rows = [(*row, share) for row, share in zip(table.rows, shares, strict=True)]
    return StudyTable((*table.head, "of max(compute, wire)"), rows)


def _bound_s(records: Sequence[Measurement], step: Measurement) -> float:
    (computing,) = _of(records, "computing", step)
    wire_s = (step["sent_bytes"] + step["sent_while_computing_bytes"]) / runs.WIRE_BYTES_PER_S
    return float(max(computing["value"], wire_s))


def _is_best(steps: Sequence[Measurement], step: Measurement) -> bool:
    rivals = only(steps, bodies=step["bodies"], ranks=step["ranks"])
    return bool(step["value"] == min(rival["value"] for rival in rivals))


def _row(records: Sequence[Measurement], step: Measurement, best: bool) -> tuple[str, ...]:
    (ours,) = _of(records, "timestep", step | {"side": "wherry"})
    ranks = f"{step['ranks']}{' *' if step['oversubscribed'] else ''}"
    scheme = f"**{step['scheme']}**" if best else str(step["scheme"])
    rates = (f"{1 / step['value']:.4g}", f"{1 / ours['value']:.4g}")
    return (str(step["bodies"]), ranks, scheme, *rates, f"{100 * share_exchanging(records, step):.1f} %")


def draw(records: Sequence[Measurement]) -> str:
    """Over the number of ranks, if there are several, else over that of bodies."""
    steps = only(records, metric="timestep", side="native")
    across, along = ("bodies", "ranks") if len(values(steps, "ranks")) > 1 else ("ranks", "bodies")
    panels_of = values(steps, across)

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(panels_of), squeeze=False)[0]
        for value, axes in zip(panels_of, panels, strict=True):
            _paint(axes, only(steps, **{across: value}), along)
            axes.set_title(f"{value} {across}", fontsize=9, loc="left")
        panels[0].set_ylabel("timesteps a second")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize=8)

    return figures.svg(1.8 + 3.2 * len(panels_of), 3.4, paint)


def _paint(axes: Axes, steps: Sequence[Measurement], along: str) -> None:
    for number, scheme in enumerate(values(steps, "scheme")):
        rows = only(steps, scheme=scheme)
        rates = [1 / row["value"] for row in rows]
        axes.plot([row[along] for row in rows], rates, label=scheme, **figures.style(number))
    axes.set(yscale="log", xlabel=along)
    figures.scale_logarithmically(axes, values(steps, along))
    crowded = [row[along] for row in steps if row["oversubscribed"]] if along == "ranks" else []
    if crowded:
        axes.axvspan(min(crowded) / 1.4, max(crowded) * 1.2, color=figures.LINES, alpha=0.15, label="more than cores")


NODE = StudyPart(
    "node",
    "Which scheme makes most timesteps a second on this machine?",
    on_node,
    tabulate,
    draw,
    runs.why_not,
    runs.OPTIONS,
)
GIGABIT = StudyPart(
    "gigabit",
    "Which scheme makes most timesteps a second on emulated hosts with Gigabit links?",
    on_gigabit,
    tabulate_gigabit,
    draw,
    why_no_gigabit,
    (*runs.OPTIONS, "--hosts"),
)
