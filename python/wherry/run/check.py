"""What can be said about a command before it starts: a mistake seen early costs no run."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from importlib.util import find_spec
from pathlib import Path

from wherry import elf
from wherry.errors import UsageError
from wherry.run.launch import FAMILY_OF, TITLES, Launcher, Program

#: Programs that load MPI only later, or run another program.
_INTERPRETER = re.compile(r"(python|pypy|julia|perl|ruby|Rscript|R|bash|dash|sh|zsh|env|gdb|valgrind|strace)[\d.]*$")


class Reach(Enum):
    """How Wherry gets into a program."""

    LINKED = auto()  # with the MPI library that it is linked to
    LATER = auto()  # not, unless it loads an MPI library itself
    NEVER = auto()
    UNKNOWN = auto()


#: What is said about a program, by how Wherry gets into it.
_SAYINGS = {
    Reach.LATER: (
        "note",
        "'{}' is not linked to an MPI library; if it does not load one later, there is nothing to see",
    ),
    Reach.NEVER: (
        "warning",
        "'{}' is statically linked: nothing can be preloaded into it, so it runs without Wherry;"
        " link it dynamically (without -static) to see its communication",
    ),
}
_OUTSIDE = (Reach.LATER, Reach.NEVER)


@dataclass(frozen=True)
class Finding:
    level: str  # "warning" or "note"
    text: str
    profile_only: bool = False  # no collective may be replaced in this run, and no window cached


def check(launcher: Launcher | None, programs: Sequence[Program]) -> list[Finding]:
    """Warnings and notes about the programs. Raises UsageError where a run could only fail."""
    reaches = {program.word: _check_program(launcher, program) for program in programs}
    found = [
        Finding(level, text.format(word))
        for word, reach in reaches.items()
        for level, text in filter(None, [_SAYINGS.get(reach)])
    ]
    return found + _check_parts(reaches) + _check_python(programs)


def _check_python(programs: Sequence[Program]) -> list[Finding]:
    """Where Wherry's own environment comes first on the PATH, `python` is its own."""
    paths = ((program.word, program.path) for program in programs if program.path is not None)
    own = [word for word, path in paths if path.name.startswith("python") and path.parent == Path(sys.prefix) / "bin"]
    found = find_spec("mpi4py")
    if not own or (found is not None and found.origin is not None):  # a folder of that name alone is no package
        return []
    text = (
        f"'{own[0]}' is the Python that Wherry itself runs in, which has no mpi4py; a program that needs it wants"
        " the Python of your MPI"
    )
    return [Finding("note", text)]


def _check_program(launcher: Launcher | None, program: Program) -> Reach:
    if program.path is None:
        if program.certain:
            raise UsageError(f"program '{program.word}' not found or not executable; check its name or give its path")
        return Reach.UNKNOWN
    if elf.is_script(program.path) or _INTERPRETER.match(program.path.name):
        return Reach.UNKNOWN
    headers = elf.read(program.path)
    if headers is None:
        return Reach.UNKNOWN
    if not headers.dynamic:
        return Reach.NEVER
    family, library = elf.mpi_of(program.path)
    if family is None:
        return Reach.LATER
    _check_family(launcher, program.word, family, library)
    return Reach.LINKED


def _check_parts(reaches: Mapping[str, Reach]) -> list[Finding]:
    """All ranks of a collective must run the same, so those with Wherry would wait forever for those without."""
    outside = [f"'{word}'" for word, reach in reaches.items() if reach in _OUTSIDE]
    if not outside or len(set(reaches.values())) == 1:
        return []
    text = (
        f"ranks of {' and '.join(outside)} may run without Wherry while others have it, which would wait for them"
        " forever in a replaced collective, or where a cached window is made: collectives and windows are"
        " native (WHERRY_NO_COLLECTIVES=1, WHERRY_CACHE=off, WHERRY_WAIT=spin)"
    )
    return [Finding("warning", text, profile_only=True)]


def _check_family(launcher: Launcher | None, word: str, family: str, library: str) -> None:
    if launcher is None or launcher.kind not in FAMILY_OF or family not in ("openmpi", "mpich"):
        return
    if FAMILY_OF[launcher.kind] == family:
        return
    theirs = "Open MPI" if family == "openmpi" else "MPICH or Intel MPI"
    raise UsageError(
        f"mixed MPI families: {launcher.path} belongs to {TITLES[launcher.kind]}, but '{word}' is linked to"
        f" {theirs} ({library}); every rank would be rank 0 of 1. Start it with the mpiexec of"
        f" {theirs}, or rebuild it with {TITLES[launcher.kind]}; `wherry info` lists what is here"
    )
