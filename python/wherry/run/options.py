"""What the caller of `wherry run` may ask for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Options:
    report: Path | None = None  # where records and report.html are kept
    profile_only: bool = False
    verbose: int = 0
