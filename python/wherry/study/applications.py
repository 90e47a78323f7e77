"""Runs applications of apps/ in interleaved launches and joins their records."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from wherry import paths
from wherry.measure.harness import STATISTIC, Setup, Testbed, best_median
from wherry.measure.record import Measurement


def why_without_highway(setup: Setup, name: str) -> str:
    """Why an application with vector kernels cannot be run here; empty if it can."""
    if paths.application(setup.installation().name, name).exists():
        return ""
    return f"{name} is not built; as root: apt-get install libhwy-dev, then: make all"


def launched(
    place: Testbed, ranks: int, name: str, words: Sequence[str], env: Mapping[str, str] | None = None
) -> list[Measurement]:
    """The records of one launch. Raises WherryError if it fails or a result is wrong."""
    program = paths.built(paths.application(place.mpi.name, name))
    with tempfile.TemporaryDirectory(prefix="wherry-") as folder:
        file = Path(folder, "records.json")
        place.run(ranks, [str(program), *words, "--no-progress", "--json", str(file)], env or {})
        return [Measurement.from_json(row) for row in json.loads(file.read_text(encoding="utf-8"))]


def joined(launches: Sequence[Sequence[Measurement]], network: str) -> list[Measurement]:
    """The records of several launches of the same as one each, with the statistic of benchmarks.

    What else a record says is the same in all.
    """
    return [_joined(rows, network) for rows in zip(*launches, strict=True)]


def _joined(rows: Sequence[Measurement], network: str) -> Measurement:
    samples = [sample | {"launch": launch} for launch, row in enumerate(rows) for sample in row["samples"]]
    value = best_median([sample["wherry"] for sample in samples])
    baseline = best_median([sample["native"] for sample in samples])
    figures = {"value": value, "baseline": baseline, "ratio": baseline / value if value > 0 else None}
    return rows[0] | figures | {"samples": samples, "statistic": STATISTIC, "network": network}
