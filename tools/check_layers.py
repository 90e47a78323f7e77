"""Checks the layers of src/: each sees only those below it, the pure ones no MPI, folders form no circle. No two
files of src/ have one name, nor two types in its headers, in public headers or in modules of python/.

Usage: check_layers.py [ROOT]. Prints every violation; exit code 1 if there is one.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

# What each folder of src/ may include from, besides itself; the picture in docs/architecture.md.
_SCHEDULES = frozenset({"base", "topology", "schedule"})
_CHOOSING = _SCHEDULES | {"model", "tuning", "profile"}
_PURE_RUNTIME = _CHOOSING | {"layout", "cache"}
_RUNTIME = _PURE_RUNTIME | {
    "waiting",
    "mpi",
    "datatype",
    "comm",
    "arguments",
    "exec",
    "sparse",
    "coll",
    "progress",
    "host",
}
BELOW: dict[str, frozenset[str]] = {
    "base": frozenset(),
    "layout": frozenset({"base"}),
    "topology": frozenset({"base"}),
    "schedule": frozenset({"base", "topology"}),
    "model": _SCHEDULES,
    "draw": _SCHEDULES,
    "tuning": _SCHEDULES | {"model"},
    "profile": frozenset({"base"}),
    "cache": frozenset({"base"}),
    "heap": frozenset({"base"}),
    "waiting": frozenset({"base"}),
    "mpi": frozenset(),
    "datatype": frozenset({"base", "layout", "mpi"}),
    "comm": frozenset({"base", "topology", "waiting", "mpi", "datatype"}),
    "p2p": frozenset({"base", "layout", "mpi", "datatype", "comm"}),
    "arguments": _SCHEDULES | {"mpi", "datatype", "comm"},
    "exec": _SCHEDULES | {"layout", "mpi", "datatype", "comm", "arguments"},
    "sparse": _SCHEDULES | {"model", "mpi", "datatype", "comm", "exec"},
    "coll": _CHOOSING | {"mpi", "datatype", "comm", "arguments", "exec", "sparse"},
    "progress": _CHOOSING | {"mpi", "datatype", "comm", "arguments", "exec", "coll"},
    "host": _RUNTIME - {"host", "cache"},
    "window": frozenset({"base", "cache", "mpi", "datatype", "comm"}),
    "api": frozenset({"base", "mpi", "comm", "arguments", "coll", "progress", "host", "window"}),
    "interpose": _RUNTIME | {"p2p", "window", "heap"},
    "tools": _PURE_RUNTIME | {"draw"},
}
PURE = frozenset({*_PURE_RUNTIME, "draw", "heap", "waiting", "tools"})
# Folders outside src/ that see public headers only, and what they may include of src/ all the same: checked by
# the longest name. What applications share need not write again what Wherry has for itself.
PROGRAMS = {"apps": frozenset[str](), "apps/support": frozenset({"base"}), "examples": frozenset[str]()}

SOURCES = frozenset({".cpp", ".hpp", ".h", ".c", ".inc", ".cc"})
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.MULTILINE)
# Types at the top level of a namespace or module; in Python a name that begins with _ is its module's own.
CPP_TYPE = re.compile(
    r"^(?:template <[^{;]*>\s)?(?:enum(?: class)?|union|struct|class) (?:\[\[\w+\]\] |alignas\([^)]*\) )?(\w+)"
    r"(?: final)?(?:\s*:[^:;{][^;{]*)?\s*\{",
    re.MULTILINE,
)
PYTHON_TYPE = re.compile(r"^class ([A-Za-z]\w*)", re.MULTILINE)


@dataclass(frozen=True)
class Known:
    """Violations that are known and still to be removed. One that is no longer there is a violation itself."""

    circles: frozenset[frozenset[str]] = frozenset()  # the folders of each circle
    names: frozenset[str] = frozenset()  # that several files of src/ have


KNOWN = Known()


def violations(root: Path, known: Known | None = None) -> list[str]:
    """Every violation below root, as "file:line: why" where a line is to blame."""
    known = known or Known()
    return [
        *_in_layers(root),
        *_in_programs(root),
        *_circles(root, known),
        *_names(root, known),
        *_types(root, _headers(root / "src"), CPP_TYPE),
        *_types(root, _headers(root / "include"), CPP_TYPE),
        *_types(root, sorted((root / "python").rglob("*.py")), PYTHON_TYPE),
    ]


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
    for path in sorted({path for folder in PROGRAMS for path in _sources(root / folder)}):
        file = path.relative_to(root)
        folder = max((each for each in PROGRAMS if file.is_relative_to(each)), key=len)
        allowed = "".join(f" and {layer}" for layer in sorted(PROGRAMS[folder]))
        for line, name in _includes(path):
            if name.split("/")[0] in BELOW.keys() - PROGRAMS[folder]:
                yield f"{file}:{line}: {folder} may include public headers{allowed or ' only'}, not {name}"


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


def _circles(root: Path, known: Known) -> Iterator[str]:
    """Nested folders count by themselves: a/b and a/c may not include each other, nor a/b and the files of a."""
    edges = _folder_edges(root / "src")
    found = _strongly_connected({folder: set(targets) for folder, targets in edges.items()})
    for circle in sorted(found - known.circles, key=sorted):
        examples = [edges[a][b] for a in sorted(circle) for b in sorted(edges[a]) if b in circle]
        yield f"src: folders form a circle: {', '.join(sorted(circle))}; for example {'; '.join(examples)}"
    for circle in sorted(known.circles - found, key=sorted):
        yield f"tools/check_layers.py: {', '.join(sorted(circle))} form no circle as listed; change Known.circles"


def _folder_edges(source: Path) -> dict[str, dict[str, str]]:
    """Which folder includes which other one, with an example."""
    edges: dict[str, dict[str, str]] = defaultdict(dict)
    for path in _sources(source):
        folder = path.relative_to(source).parent.as_posix()
        for line, name in _includes(path):
            if "/" not in name or not (source / name).is_file():
                continue
            target = Path(name).parent.as_posix()
            if target != folder:
                edges[folder].setdefault(target, f"src/{path.relative_to(source)}:{line} includes {name}")
    return edges


def _strongly_connected(edges: dict[str, set[str]]) -> frozenset[frozenset[str]]:
    """The sets of two or more folders each of which reaches all others."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            new = edges.get(waiting.pop(), set()) - seen
            seen |= new
            waiting += new
        return seen

    reach = {folder: reached(folder) for folder in edges}
    return frozenset(
        frozenset(other for other in reach[folder] if folder in reach.get(other, set()))
        for folder in edges
        if folder in reach[folder]
    )


def _names(root: Path, known: Known) -> Iterator[str]:
    by_name: dict[str, list[str]] = defaultdict(list)
    for path in _sources(root / "src"):
        by_name[path.name].append(path.relative_to(root).as_posix())
    shared = {name: files for name, files in by_name.items() if len(files) > 1}
    for name in sorted(shared.keys() - known.names):
        yield f"{shared[name][0]}: has the name of {', '.join(shared[name][1:])}; give each file a name of its own"
    for name in sorted(known.names - shared.keys()):
        yield f"tools/check_layers.py: only one file is named {name}; remove it from Known.names"


def _types(root: Path, paths: Iterable[Path], pattern: re.Pattern[str]) -> Iterator[str]:
    files_of: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        for name in sorted(set(pattern.findall(path.read_text(encoding="utf-8")))):
            files_of[name].append(path.relative_to(root).as_posix())
    for name, files in sorted(files_of.items()):
        if len(files) > 1:
            others = ", ".join(files[1:])
            yield f"{files[0]}: {name} is also the name of a type in {others}; give each a name of its own"


def _includes(path: Path) -> Iterator[tuple[int, str]]:
    text = path.read_text(encoding="utf-8", errors="replace")
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start(2)) + 1, match.group(2)


def _sources(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in SOURCES and path.is_file())


def _headers(folder: Path) -> list[Path]:
    return [path for path in _sources(folder) if path.suffix in {".hpp", ".h"}]


def main(argv: list[str]) -> int:
    root = Path(argv[1]) if len(argv) > 1 else Path(__file__).resolve().parent.parent
    found = violations(root, KNOWN)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
