"""Names for call sites: function and source line if the module has debug information, else what is known."""

from __future__ import annotations

import bisect
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from wherry import elf


class Site(NamedTuple):
    """A place that calls MPI."""

    module: str  # path
    offset: int  # return address minus base
    base: int  # where the module was loaded


_CYTHON = re.compile(r"__pyx_[a-z]+_(\d+\w+)")
_LENGTH = re.compile(r"(\d+)(?=[^\d])")
_TIME_LIMIT_S = 30.0
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_FRAMES = 2  # functions that the caller was inlined into, the innermost first
_BATCH = 512  # addresses per start of addr2line; keeps the command line short


def name_sites(sites: Iterable[Site]) -> dict[Site, str]:
    """A text for every site; asks addr2line once per module."""
    by_module: dict[str, list[Site]] = defaultdict(list)
    for site in sites:
        by_module[site.module].append(site)
    names: dict[Site, str] = {}
    for path, members in by_module.items():
        resolved = _resolve(path, members)
        for site in members:
            names[site] = resolved.get(site) or plain(site)
    return names


def plain(site: Site) -> str:
    """What can be said without looking into the module."""
    return f"{Path(site.module).name}+0x{site.offset:x}" if site.module else "unknown place"


def _resolve(path: str, sites: list[Site]) -> dict[Site, str]:
    tool = shutil.which("addr2line")
    headers = elf.read(Path(path)) if path.startswith("/") else None
    if tool is None or headers is None:
        return {}
    functions = elf.functions(Path(path))
    found: dict[Site, str] = {}
    for start in range(0, len(sites), _BATCH):
        batch = sites[start : start + _BATCH]
        addresses = [_address(site, headers.executable) for site in batch]
        for site, address, frames in zip(batch, addresses, _ask(tool, path, addresses), strict=False):
            (function, line), outer = frames[0], [_python_name(name) for name, _ in frames[1:] if name != "??"]
            # Without debug information addr2line answers with the nearest symbol before the address, however far.
            known = not line.startswith("??") or _lies_in(address, functions)
            if name := _describe(path, function if known else "??", line):
                found[site] = " in ".join([name, *outer[:_FRAMES]])
    return found


def _lies_in(address: int, functions: Sequence[tuple[int, int]]) -> bool:
    """Whether one of the functions, ascending, has this address; names of one function may give it several sizes."""
    at = bisect.bisect_right(functions, (address, sys.maxsize)) - 1
    return at >= 0 and address < functions[at][1]


def _address(site: Site, absolute: bool) -> int:
    # The site is a return address: one byte before it lies the call. A program at fixed addresses is recorded
    # relative to its base like any other, and its symbols are not.
    return max(site.offset - 1, 0) + (site.base if absolute else 0)


def _ask(tool: str, path: str, addresses: list[int]) -> list[list[tuple[str, str]]]:
    """(function, file:line) per address, and of those that it was inlined into; '??' where unknown."""
    try:
        done = subprocess.run(
            [tool, "-a", "-i", "-f", "-C", "-e", path],
            input="".join(f"0x{address:x}\n" for address in addresses),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIME_LIMIT_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    frames: list[list[tuple[str, str]]] = []
    lines = iter(done.stdout.splitlines())
    for line in lines:
        if _ADDRESS.fullmatch(line):
            frames.append([])
        elif frames:
            frames[-1].append((line, next(lines, "??:0")))
    return [frame or [("??", "??:0")] for frame in frames]


def _describe(path: str, function: str, line: str) -> str:
    file, _, number = line.partition(" ")[0].rpartition(":")
    place = f"{Path(file).name}:{number}" if file not in ("", "??") and number.isdigit() and number != "0" else ""
    if function in ("", "??"):
        return place
    return f"{_python_name(function)} ({place or Path(path).name})"


def _python_name(function: str) -> str:
    """mpi4py.MPI.Comm.Alltoallv for `__pyx_pw_6mpi4py_3MPI_4Comm_137Alltoallv`, as Cython writes it; others stay."""
    match = _CYTHON.match(function)
    if match is None:
        return function
    parts, rest = [], match[1]
    while (length := _LENGTH.match(rest)) and len(rest) > (end := length.end() + int(length[1])) and rest[end] == "_":
        parts.append(rest[length.end() : end])
        rest = rest[end + 1 :]
    # The last part has a running number instead of its length.
    return ".".join([*parts, rest.lstrip("0123456789")])
