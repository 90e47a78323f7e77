"""Which algorithms an MPI library has for an operation, asked of the library itself, and how to make it use one.

Open MPI's ompi_info and Intel's impi_info tell; MPICH has the names that its selection file may hold in the library.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wherry.errors import WherryError
from wherry.run.mpis import Family, Mpi

# Their selection needs parameters (a radix, a kind of tree) that nobody has measured here, or hardware that is rare.
_MPICH_WITH_PARAMETERS = ("k_", "tree", "pipelined_tree", "recexch", "recursive_multiplying", "ccl")
_TOO_LONG_S = 60.0


@dataclass(frozen=True)
class Algorithm:
    """id: as the library's settings name it."""

    id: str
    name: str


#: The library decides, untouched: what everything else is compared with.
DEFAULT = Algorithm("default", "default")
#: The library decides, under the settings that an exported file needs: what it leaves open is decided so.
AUTO = Algorithm("auto", "own choice")


def algorithms(mpi: Mpi, operation: str) -> list[Algorithm]:
    """What this library can be told to use; none if it offers no choice for the operation."""
    return _ASK[mpi.family](mpi, operation)


def parse_ompi_info(text: str, operation: str) -> list[Algorithm]:
    """From `ompi_info --parsable`; 0 stands for the library's own choice."""
    pattern = rf"^mca:coll:tuned:param:coll_tuned_{operation}_algorithm:enumerator:value:(\d+):(\S+)$"
    return [Algorithm(n, name) for n, name in re.findall(pattern, text, re.MULTILINE) if n != "0"]


def parse_impi_info(text: str) -> list[Algorithm]:
    """From `impi_info -v I_MPI_ADJUST_...`; 0 stands for the library's own choice."""
    last = re.search(r"range:\s*0-(\d+)", text)
    return [Algorithm(str(n), f"preset {n}") for n in range(1, int(last[1]) + 1)] if last else []


def find_mpich_names(library: bytes, operation: str) -> list[Algorithm]:
    """The names in the library's text that a selection file may hold for this operation without parameters."""
    pattern = rf"algorithm=(MPIR_{operation.capitalize()}_(?:intra|allcomm)_(\w+))\0".encode()
    found = {name.decode(): short.decode() for name, short in re.findall(pattern, library)}
    return [
        Algorithm(name, short) for name, short in sorted(found.items()) if not short.startswith(_MPICH_WITH_PARAMETERS)
    ]


def built_in_selection(library: bytes) -> dict[str, Any]:
    """MPICH's own selection, which is part of the library as JSON. A selection file replaces it as a whole."""
    for text in re.findall(rb'\{"collective=[^\0]*', library):
        if b"algorithm=MPIR_" in text:
            selection: dict[str, Any] = json.loads(text)
            return selection
    raise WherryError("this MPICH holds no selection as JSON: it is older than 4.0; use 4.0 or later")


def library_text(mpi: Mpi) -> bytes:
    return mpi.libmpi.read_bytes()


def forced(family: Family, operation: str, algorithm: Algorithm) -> dict[str, str]:
    """The variables that make a library use one algorithm; MPICH takes a file instead (wherry.export.mpich)."""
    if algorithm == DEFAULT:
        return {}
    return _FORCE[family](operation, "0" if algorithm == AUTO else algorithm.id)


def _ask_openmpi(mpi: Mpi, operation: str) -> list[Algorithm]:
    said = _said(mpi, _beside(mpi, "ompi_info"), "--param", "coll", "tuned", "--level", "9", "--parsable")
    return parse_ompi_info(said, operation)


def _ask_intel(mpi: Mpi, operation: str) -> list[Algorithm]:
    return parse_impi_info(_said(mpi, _beside(mpi, "impi_info"), "-v", f"I_MPI_ADJUST_{operation.upper()}"))


def _ask_mpich(mpi: Mpi, operation: str) -> list[Algorithm]:
    return find_mpich_names(library_text(mpi), operation)


_ASK: dict[Family, Callable[[Mpi, str], list[Algorithm]]] = {
    "openmpi": _ask_openmpi,
    "mpich": _ask_mpich,
    "intel": _ask_intel,
}


def _force_openmpi(operation: str, number: str) -> dict[str, str]:
    return {**OPENMPI_RULES_ON, f"OMPI_MCA_coll_tuned_{operation}_algorithm": number}


def _force_intel(operation: str, number: str) -> dict[str, str]:
    return {f"I_MPI_ADJUST_{operation.upper()}": number}


def _force_mpich(operation: str, number: str) -> dict[str, str]:
    raise AssertionError("MPICH is told by a selection file")


_FORCE: dict[Family, Callable[[str, str], dict[str, str]]] = {
    "openmpi": _force_openmpi,
    "mpich": _force_mpich,
    "intel": _force_intel,
}

#: Without the priority, another component (han) takes the collectives of a communicator over several nodes.
OPENMPI_RULES_ON = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_tuned_priority": "100"}


def _beside(mpi: Mpi, program: str) -> Path:
    """The installation's own program, which stands beside its launcher."""
    launcher = Path(mpi.mpiexec[0])
    for path in (launcher.parent / program, launcher.parent / f"{program}.{mpi.family}"):
        if os.access(path, os.X_OK):
            return path
    raise WherryError(f"{launcher.parent / program} is missing: {mpi.name} cannot be asked for its algorithms")


def _said(mpi: Mpi, program: Path, *words: str) -> str:
    env = {**os.environ, **mpi.environment()}
    try:
        done = subprocess.run([program, *words], env=env, capture_output=True, text=True, timeout=_TOO_LONG_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WherryError(f"{program} does not answer: {error}") from error
    if done.returncode != 0:
        raise WherryError(f"{program} failed with code {done.returncode}: {done.stderr.strip()[-200:]}")
    return done.stdout
