"""What can be said about a command before it starts: a mistake seen early costs no run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wherry import elf
from wherry.errors import UsageError
from wherry.launch import FAMILY_OF, TITLES, Launcher, Program

#: Programs that load MPI only later, or run another program.
_INTERPRETER = re.compile(r"(python|pypy|julia|perl|ruby|Rscript|R|bash|dash|sh|zsh|env|gdb|valgrind|strace)[\d.]*$")


@dataclass(frozen=True)
class Finding:
    level: str  # "warning" or "note"
    text: str


def check(launcher: Launcher | None, programs: Sequence[Program]) -> list[Finding]:
    """Warnings and notes about the programs. Raises UsageError where a run could only fail."""
    found = []
    for program in programs:
        if program.path is None:
            if program.certain:
                raise UsageError(
                    f"program '{program.word}' not found or not executable; check its name or give its path"
                )
            continue
        finding = _check_program(launcher, program.word, program.path)
        if finding is not None and finding not in found:
            found.append(finding)
    return found


def _check_program(launcher: Launcher | None, word: str, path: Path) -> Finding | None:
    if elf.is_script(path) or _INTERPRETER.match(path.name):
        return None
    headers = elf.read(path)
    if headers is None:
        return None
    if not headers.dynamic:
        return Finding(
            "warning",
            f"'{word}' is statically linked: nothing can be preloaded into it, so it runs without Wherry;"
            " link it dynamically (without -static) to see its communication",
        )
    family, library = elf.mpi_of(path)
    if family is None:
        return Finding(
            "note", f"'{word}' is not linked to an MPI library; if it does not load one later, there is nothing to see"
        )
    _check_family(launcher, word, family, library)
    return None


def _check_family(launcher: Launcher | None, word: str, family: str, library: str) -> None:
    if launcher is None or launcher.kind not in FAMILY_OF or family not in ("openmpi", "mpich"):
        return
    if FAMILY_OF[launcher.kind] == family:
        return
    theirs = "Open MPI" if family == "openmpi" else "MPICH or Intel MPI"
    raise UsageError(
        f"mixed MPI families: {launcher.path} belongs to {TITLES[launcher.kind]}, but '{word}' is linked to"
        f" {theirs} ({library}); every rank would believe to be alone. Start it with the mpiexec of"
        f" {theirs}, or rebuild it with {TITLES[launcher.kind]}; `wherry info` lists what is here"
    )
