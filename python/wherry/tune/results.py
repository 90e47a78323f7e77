"""What was measured of a library's own algorithms, and its file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, get_args

from wherry.collective_names import OPERATIONS
from wherry.errors import UsageError
from wherry.files import read_json, write_json
from wherry.measure.harness import STATISTIC
from wherry.run.mpis import Family
from wherry.tune.algorithms import Algorithm

#: The first word of the file, so that other JSON is told apart, and the version of its form.
KIND, VERSION = "wherry-library-algorithms", 1


@dataclass(frozen=True)
class AlgorithmTime:
    """One algorithm at one number of ranks and one size; seconds is the statistic of the samples."""

    operation: str
    ranks: int
    bytes: int
    algorithm: Algorithm
    seconds: float
    samples: list[list[float]]  # one list for each launch


@dataclass(frozen=True)
class Excluded:
    """An algorithm that failed, with its last words: it is never selected."""

    operation: str
    ranks: int
    algorithm: Algorithm
    reason: str


@dataclass
class Results:
    mpi: str
    family: Family
    version: str
    machine: str
    commit: str
    network: str
    statistic: str = STATISTIC
    measurements: list[AlgorithmTime] = field(default_factory=list)
    excluded: list[Excluded] = field(default_factory=list)
    selection: dict[str, Any] | None = None  # MPICH: what the library would select, which a file must repeat

    def provenance(self) -> str:
        """One line for the head of exported files."""
        return f"measured with {self.mpi} {self.version} ({self.network}) on {self.machine}; wherry {self.commit}"


def save(path: Path, results: Results) -> None:
    write_json(path, {"kind": KIND, "format": VERSION, **asdict(results)})


def load(path: Path) -> Results:
    """Raises UsageError if the file is not whole, or not what `wherry tune --library` writes."""
    try:
        data = read_json(path)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}; write it with `wherry tune --library`") from error
    except ValueError as error:
        raise _damaged(path, str(error)) from error
    if not isinstance(data, dict) or data.get("kind") != KIND:
        raise UsageError(f"{path} holds no results of `wherry tune --library`; make them with it")
    if data.get("format") != VERSION:
        raise UsageError(f"{path} has format {data.get('format')}, this Wherry reads {VERSION}: measure again")
    try:
        return _results(data)
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(path, f"{type(error).__name__}: {error}") from error


def _damaged(path: Path, how: str) -> UsageError:
    return UsageError(f"{path} is damaged: {how}; measure again with `wherry tune --library`")


def _results(data: Mapping[str, Any]) -> Results:
    if data["family"] not in get_args(Family):
        raise ValueError(f"unknown family {data['family']!r}")
    if data["family"] == "mpich" and not isinstance(data["selection"], dict):
        raise ValueError("the library's own selection is missing")
    texts = {name: str(data[name]) for name in ("mpi", "version", "machine", "commit", "network", "statistic")}
    return Results(
        **texts,
        family=data["family"],
        measurements=[_measurement(row) for row in data["measurements"]],
        excluded=[
            Excluded(row["operation"], int(row["ranks"]), _algorithm(row["algorithm"]), str(row["reason"]))
            for row in data["excluded"]
        ],
        selection=data["selection"],
    )


def _measurement(row: Mapping[str, Any]) -> AlgorithmTime:
    found = AlgorithmTime(
        operation=row["operation"],
        ranks=int(row["ranks"]),
        bytes=int(row["bytes"]),
        algorithm=_algorithm(row["algorithm"]),
        seconds=float(row["seconds"]),
        samples=[[float(value) for value in launch] for launch in row["samples"]],
    )
    if found.operation not in OPERATIONS:
        raise ValueError(f"unknown operation {found.operation!r}")
    if found.ranks < 1 or found.bytes < 0 or not (math.isfinite(found.seconds) and found.seconds > 0):
        raise ValueError(f"impossible measurement of {found.operation}")
    return found


def _algorithm(data: Mapping[str, Any]) -> Algorithm:
    found = Algorithm(str(data["id"]), str(data["name"]))
    # Ids are written into the settings of a library; nothing else may come with them.
    if not found.id.replace("_", "").isalnum():
        raise ValueError(f"impossible algorithm {found.id!r}")
    return found
