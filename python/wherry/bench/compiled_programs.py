"""Programs of bench/programs that the MPI's own compiler makes, for `wherry bench programs`."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from wherry.bench.place import Find, Missing, Place, Start, our_file
from wherry.run.mpis import Mpi


@dataclass(frozen=True)
class _Language:
    name: str
    options: tuple[str, ...]

    def compiler(self, mpi: Mpi) -> Path | None:
        return {"C": mpi.mpicc, "C++": mpi.mpicxx, "Fortran": mpi.mpifort}[self.name]


_LANGUAGES = {
    ".c": _Language("C", ("-O3",)),
    ".cpp": _Language("C++", ("-O3", "-std=c++20")),
    ".f90": _Language("Fortran", ("-O3",)),
}


def compiled(source: str) -> Find:
    """A program of bench/programs, compiled into the row's folder."""
    language = _LANGUAGES[Path(source).suffix]

    def start(place: Place) -> Start:
        compiler = language.compiler(place.mpi)
        if compiler is None:
            raise Missing(f"{place.mpi.name} has no {language.name} compiler; see what `make setup` says about it")
        program = place.folder / Path(source).stem
        command = [str(compiler), *language.options, "-o", str(program), str(our_file(source))]
        environment = {**os.environ, **place.mpi.environment()}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Missing(f"{compiler} cannot compile {source}: {done.stderr.strip()[-300:] or done.returncode}")
        return Start((str(program),))

    return start
