"""A study with a part that can be answered and one that cannot, which measures nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wherry.measure.record import Measurement
from wherry.measure.results import machine_name
from wherry.provenance import machine
from wherry.study.parts import Study, StudyPart, StudyTable, record


def count_of(value: float, **more: Any) -> Measurement:
    return record(case="a", metric="count", unit="", value=value, mpi="Some MPI", ranks=2, **more)


PART = StudyPart(
    "one",
    "How many?",
    lambda setup: [count_of(3.0, baseline=6.0)],
    lambda rows: StudyTable(("case", "count"), [(row["case"], f"{row['value']:g}") for row in rows]),
    lambda rows: f"<svg>{len(rows)}</svg>",
    options=("-n",),
    fewest_ranks=3,
    fewest_quick=2,
)
CLOSED = StudyPart("two", "Why?", PART.measure, PART.tabulate, PART.draw, lambda setup: "it is closed; open it")
STUDY = Study("some", "a study", (PART, CLOSED))


def file_of(folder: Path) -> Path:
    """Of the records of PART, measured here; its folder is made."""
    path = folder / "results/some-one" / machine_name(machine()) / "some-mpi.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
