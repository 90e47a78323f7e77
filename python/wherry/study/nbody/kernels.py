"""How fast is each kernel, how near to what the processor could do, and how large is its error?"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wherry import paths
from wherry.draw import figures
from wherry.errors import WherryError
from wherry.measure.harness import Setup
from wherry.measure.record import Measurement, only, values
from wherry.study.parts import StudyPart, StudyTable, record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BODIES = (2048, 16384, 65536)
QUICK_BODIES = (512,)
TRIANGLE = "triangle"


def why_not(setup: Setup) -> str:
    if paths.kernels_program().exists():
        return ""
    return "nbody_kernels is not built; as root: apt-get install libhwy-dev, then: make all"


def measure(setup: Setup) -> list[Measurement]:
    bodies = ",".join(map(str, QUICK_BODIES if setup.quick else BODIES))
    with tempfile.TemporaryDirectory(prefix="wherry-") as folder:
        file = Path(folder, "kernels.json")
        options = ["--bodies", bodies, "--turns", "3" if setup.quick else "5", "--no-progress", "--json", str(file)]
        done = subprocess.run([str(paths.kernels_program()), *options], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise WherryError(f"nbody_kernels failed with code {done.returncode}: {done.stderr.strip()}")
        return [_record(row) for row in json.loads(file.read_text(encoding="utf-8"))]


def _record(row: dict[str, Any]) -> Measurement:
    bodies, _, kernel = str(row["case"]).partition(" bodies, ")
    return record(
        case=row["case"],
        metric=row["metric"],
        unit="s",
        value=row["value"],
        baseline=row["baseline"],
        mpi="",
        ranks=1,
        samples=[{"launch": 0, kernel: row["samples"]}],
        statistic="median, all kernels in turns",
        bodies=int(bodies),
        kernel=kernel,
        **{name: row[name] for name in ("instructions", "interactions_per_s", "error", "share_of_port_bound")},
    )


def tabulate(records: Sequence[Measurement]) -> StudyTable:
    head = ("kernel", "pairs", "bodies", "interactions/s", "x autovectorised", "port bound", "error")
    return StudyTable(head, [_words(row) for row in records])


def _words(row: Measurement) -> tuple[str, ...]:
    share = row["share_of_port_bound"]
    return (
        str(row["kernel"]),
        str(row["metric"]),
        str(row["bodies"]),
        f"{row['interactions_per_s']:.3g}",
        f"{row['ratio']:.2f}",
        "" if share is None else f"{100 * share:.0f} %",
        f"{row['error']:.1e}",
    )


def draw(records: Sequence[Measurement]) -> str:
    sizes = values(records, "bodies")

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(sizes), squeeze=False, sharey=True)[0]
        for size, axes in zip(sizes, panels, strict=True):
            rows = only(records, bodies=size)
            colours = [figures.COLOURS[0 if row["metric"] == TRIANGLE else 1] for row in rows]
            labels = [f"{row['kernel']}, {row['metric']}" for row in rows]
            axes.barh(labels, [row["interactions_per_s"] / 1e9 for row in rows], color=colours, height=0.7)
            axes.set_title(f"{size} bodies", fontsize=9, loc="left")
        panels[0].invert_yaxis()
        figure.supxlabel("1e9 interactions a second, one core", fontsize=9)

    return figures.svg(2.2 + 2.2 * len(sizes), 0.8 + 0.22 * len(records) / len(sizes), paint)


PART = StudyPart("kernels", __doc__ or "", measure, tabulate, draw, why_not)
