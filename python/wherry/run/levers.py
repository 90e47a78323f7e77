"""What the levers of waiting and memory can know and do on this machine, for `wherry info`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

_ROOT = Path("/")
_UNKNOWN = "unknown"


def cores(affinity: Callable[[int], set[int]] = os.sched_getaffinity, root: Path = _ROOT) -> str:
    """What decides whether ranks share cores; what cannot be read counts as unknown."""
    try:
        allowed = f"{len(affinity(0))} by affinity"
    except OSError as error:
        allowed = f"affinity {_UNKNOWN} ({error.strerror})"
    return f"{allowed}; {_quota(root)}"


def memory(libc: Callable[[str], str | None] = os.confstr, root: Path = _ROOT) -> str:
    """Whether WHERRY_MEMORY can do anything for a program with the C library of this Python."""
    try:
        version = libc("CS_GNU_LIBC_VERSION")
    except (ValueError, OSError):
        version = None
    if not version:
        return "the C library is not glibc: WHERRY_MEMORY changes nothing here"
    try:
        strict = (root / "proc/sys/vm/overcommit_memory").read_text().strip() == "2"
    except OSError as error:
        return f"{version}; vm.overcommit_memory {_UNKNOWN} ({error.strerror})"
    if strict:
        return f"{version}; vm.overcommit_memory=2: WHERRY_MEMORY changes nothing here"
    return f"{version}; WHERRY_MEMORY can keep what programs free"


def _quota(root: Path) -> str:
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
        groups = dict(line.split(":", 2)[1:] for line in lines)
    except (OSError, ValueError) as error:
        return f"cgroup {_UNKNOWN} ({_reason(error)})"
    try:
        least = min(filter(None, (_quota_of(folder) for folder in _folders(root, groups))), default=None)
    except (OSError, ValueError) as error:
        return f"quota {_UNKNOWN} ({_reason(error)})"
    return "no quota" if least is None else f"quota of {least:g} cores"


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else "not understood"


def _folders(root: Path, groups: dict[str, str]) -> list[Path]:
    """This process's groups for processor time, and those around them."""
    found = []
    for names, path in groups.items():
        controllers = names.split(",")
        if names and "cpu" not in controllers:
            continue
        top = root / "sys/fs/cgroup" / ("cpu" if names else "")
        own = top / path.strip("/")
        found += [folder for folder in (own, *own.parents) if folder.is_relative_to(top)]
    return found


def _quota_of(folder: Path) -> float | None:
    """Cores by cpu.max, or by cpu.cfs_quota_us of version 1; None: no limit."""
    if (folder / "cpu.max").exists():
        quota, period = (folder / "cpu.max").read_text().split()
    elif (folder / "cpu.cfs_quota_us").exists():
        quota, period = ((folder / f"cpu.cfs_{name}_us").read_text().strip() for name in ("quota", "period"))
    else:
        return None
    return None if quota in ("max", "-1") else int(quota) / int(period)
