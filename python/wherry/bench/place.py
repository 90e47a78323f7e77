"""Where a program of `wherry bench programs` runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from wherry.run.mpis import Mpi

OURS = Path(__file__).resolve().parents[3] / "bench" / "programs"  # in the sources


@dataclass(frozen=True)
class Place:
    """mpis: all that are installed, by name. folder: empty, of the row alone."""

    mpi: Mpi
    mpis: Mapping[str, Mpi]
    ranks: int
    folder: Path
