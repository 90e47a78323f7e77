"""Checks that no source file includes upwards: each layer sees only the layers below it, and the pure ones no MPI.

Usage: check_layers.py [ROOT]. Prints every wrong include; exit code 1 if there is one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

# What each folder of src/ may include from, besides itself; the picture in docs/architecture.md.
BELOW: dict[str, frozenset[str]] = {
    "base": frozenset(),
    "layout": frozenset({"base"}),
    "plan": frozenset({"base"}),
    "choose": frozenset({"base", "plan"}),
    "profile": frozenset({"base"}),
    "cache": frozenset({"base", "layout"}),
    "waiting": frozenset({"base"}),
    "mpi": frozenset({"base"}),
    "run": frozenset({"base", "layout", "plan", "choose", "profile", "cache", "waiting", "mpi"}),
    "window": frozenset({"base", "cache", "mpi", "run"}),
    "api": frozenset({"base", "waiting", "mpi", "run", "window"}),
    "interpose": frozenset(
        {"base", "layout", "plan", "choose", "profile", "cache", "waiting", "mpi", "run", "window"}
    ),
    "tools": frozenset({"base", "layout", "plan", "choose", "profile", "cache"}),
}
PURE = frozenset({"base", "layout", "plan", "choose", "profile", "cache", "waiting", "tools"})
# Folders outside src/ that see public headers only.
PUBLIC_ONLY = ("apps", "examples")

SOURCES = frozenset({".cpp", ".hpp", ".h", ".c", ".inc", ".cc"})
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.MULTILINE)


def violations(root: Path) -> list[str]:
    """Every wrong include below root, as "file:line: why"."""
    return [*_in_layers(root), *_in_programs(root)]


def _in_layers(root: Path) -> Iterator[str]:
    for path in _sources(root / "src"):
        layer = path.relative_to(root / "src").parts[0]
        if layer not in BELOW:
            yield f"{path.relative_to(root)}: folder '{layer}' is in no layer; add it to BELOW in tools/check_layers.py"
            continue
        for line, name in _includes(path):
            reason = _why_wrong(layer, name, path, root)
            if reason:
                yield f"{path.relative_to(root)}:{line}: {reason}"


def _in_programs(root: Path) -> Iterator[str]:
    for folder in PUBLIC_ONLY:
        for path in _sources(root / folder):
            for line, name in _includes(path):
                if name.split("/")[0] in BELOW:
                    yield f"{path.relative_to(root)}:{line}: {folder} may include public headers only, not {name}"


def _why_wrong(layer: str, name: str, path: Path, root: Path) -> str | None:
    if layer in PURE and Path(name).name in {"mpi.h", "mpi_abi.h", "mpi-ext.h"}:
        return f"{layer} is pure and may not include {name}"
    if ".." in Path(name).parts:
        return f"includes {name}; write it relative to src/"
    target = name.split("/")[0]
    # A file beside the one that includes it may be named without its folder.
    if "/" not in name or target not in BELOW or not (root / "src" / name).parent.is_dir():
        return None
    if target != layer and target not in BELOW[layer]:
        return f"{layer} may not include {name} (it may include: {', '.join(sorted(BELOW[layer])) or 'nothing'})"
    return None


def _includes(path: Path) -> Iterator[tuple[int, str]]:
    text = path.read_text(encoding="utf-8", errors="replace")
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start(2)) + 1, match.group(2)


def _sources(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in SOURCES and path.is_file())


def main(argv: list[str]) -> int:
    root = Path(argv[1]) if len(argv) > 1 else Path(__file__).resolve().parent.parent
    found = violations(root)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
