"""Where a program of `wherry bench programs` runs, and what starts it there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from wherry.run.mpis import Mpi

OURS = Path(__file__).resolve().parents[3] / "bench" / "programs"  # in the sources


class Missing(Exception):
    """Why a program cannot be run here, and what to do."""


@dataclass(frozen=True)
class Place:
    """mpis: all that are installed, by name. folder: empty, of the row alone."""

    mpi: Mpi
    mpis: Mapping[str, Mpi]
    ranks: int
    folder: Path


@dataclass(frozen=True)
class Start:
    """The command of one rank, and what it needs in its environment."""

    args: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)


Find = Callable[[Place], Start]  # raises Missing


def our_file(name: str) -> Path:
    """Of bench/programs. Raises Missing where only the tool is installed."""
    found = OURS / name
    if not found.exists():
        raise Missing(f"{found} is not there: it comes with the sources of Wherry")
    return found
