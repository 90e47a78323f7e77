"""What the caller of `wherry run` may ask for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Options:
    report: Path | None = None  # folder for the records and report.html; none: they are not kept
    profile_only: bool = False  # record, and replace nothing
    verbose: int = 0  # rank 0 says 1: what Wherry found, 2: every decision, too
