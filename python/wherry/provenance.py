"""What results carry so that people can tell them apart: the machine, and the commit of what was measured."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

from wherry import __version__

_BUT_DOCUMENTS = ("--", ":/", ":(top,exclude)docs")
#: The commit that tools/build has installed from.
_BUILT = Path(sys.prefix) / ".wherry-commit"


def machine() -> str:
    """Cores and processor, for people who compare."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), name)
    except OSError:
        pass
    return f"{os.cpu_count()} x {name}"


def commit() -> str:
    """The commit of the sources that this runs from, else the version.

    "-dirty": something differs from it but the documents, which one benchmark writes before the next runs; or what is
    built is that of a commit that differs.
    """
    try:
        _git("ls-files", "--error-unmatch", Path(__file__).name)  # the repository around may be the user's own
        name = _git("describe", "--always")
        changed = _git("status", "--porcelain", *_BUT_DOCUMENTS) or _differs_from_built()
    except (OSError, subprocess.SubprocessError):
        return __version__
    return f"{name}-dirty" if changed else name


def _differs_from_built() -> bool:
    if not _BUILT.is_file():
        return False
    built = _BUILT.read_text().strip()
    return _git("rev-parse", "HEAD") != built and bool(_git("diff", "--name-only", built, "HEAD", *_BUT_DOCUMENTS))


def _git(*words: str) -> str:
    command = ["git", "-C", str(Path(__file__).resolve().parent), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
