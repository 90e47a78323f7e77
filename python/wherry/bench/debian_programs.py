"""Programs of Debian's packages for `wherry bench programs`, with small inputs of our own.

Each starts in a folder of its own, where its input lies. They are built for Debian's MPI libraries.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from shutil import copytree, which

from wherry.bench.place import Find, Missing, Place, Start, our_file

#: One problem so many times: once takes hundredths of a second.
_REPEATS, _ORDER = 16, 450
_TIMED = 'export LC_ALL=C; cd "$0" && TIMEFORMAT="loop %R" && { time "$@"; } 2>&1'
_OPENFOAM = {"WM_PROJECT_DIR": "/usr/share/openfoam"}
_WATER = """start water
geometry units angstrom
  O 0.0  0.0000  0.1173
  H 0.0  0.7572 -0.4692
  H 0.0 -0.7572 -0.4692
end
basis
  * library cc-pvtz
end
scf
  direct
end
task scf energy
"""


def scalapack(routine: str) -> Find:
    """A timing program of the package scalapack-mpi-test, which exists for both libraries."""

    def start(place: Place) -> Start:
        of = {"debian-openmpi": "openmpi", "debian-mpich": "mpich"}.get(place.mpi.name, "")
        program = _installed(place, of, f"{of}-tests/xd{routine.lower()}", "scalapack-mpi-test", "/usr/lib/*/scalapack")
        (place.folder / f"{routine}.dat").write_text(_scalapack_input(routine, place.ranks), encoding="ascii")
        return Start(("bash", "-c", _TIMED, str(place.folder), program), {"OMP_NUM_THREADS": "1"})

    return start


def _scalapack_input(routine: str, ranks: int) -> str:
    """The lines of the files that come with the package; LU also solves for right sides."""
    problems = [f"{_REPEATS} problems", *[" ".join([str(_ORDER)] * _REPEATS) + of for of in (" rows", " columns")]]
    grid = ["1 grid", "1 rows of it", f"{ranks} columns of it", "3.0 most residual"]
    own = {
        "LU": [*problems, "1 block size", "32", "1 number of right sides", "8", "1 block of them", "32", *grid, "F"],
        "QR": ["3 factorizations", "'QR' 'QL' 'LQ'", *problems, "1 block size", "32 of rows", "32 of columns", *grid],
    }
    lines = [f"'{routine}'", "'any machine'", f"'{routine}.out' output file", "6 to the screen", *own[routine]]
    return "\n".join(lines) + "\n"


def nwchem(place: Place) -> Start:
    of = "openmpi" if place.mpi.name == "debian-openmpi" else ""
    program = _installed(place, of, "nwchem.openmpi", "nwchem-openmpi", "/usr/bin")
    (place.folder / "water.nw").write_text(_WATER, encoding="ascii")
    return _in(place.folder, program, "water.nw")


def icofoam(place: Place) -> Start:
    of = "openmpi" if place.mpi.name == "debian-openmpi" else ""
    program = _installed(place, of, "icoFoam", "openfoam", "/usr/bin")
    case = place.folder / "cavity"
    copytree(our_file("cavity"), case)
    parts = case / "system" / "decomposeParDict"
    parts.write_text(parts.read_text("ascii").replace("RANKS", str(place.ranks)), encoding="ascii")
    for tool in ("blockMesh", "decomposePar"):
        _prepared([tool, "-case", str(case)], _OPENFOAM)
    # It prints processor time, and whole seconds of the clock.
    return Start(("bash", "-c", _TIMED, str(case), program, "-parallel"), _OPENFOAM)


def _in(folder: Path, *command: str) -> Start:
    return Start(("sh", "-c", 'cd "$0" && exec "$@"', str(folder), *command))


def _installed(place: Place, of: str, name: str, package: str, folder: str) -> str:
    """The path of a program. of: the library that it was built for."""
    if not of:
        raise Missing(f"it is built for Debian's libraries, not for {place.mpi.name}; use --mpi debian-openmpi")
    return installed(name, package, folder)


def installed(name: str, package: str, folder: str = "/usr/bin") -> str:
    """The path of a program. Raises Missing with what to install."""
    root, pattern = folder.split("*") if "*" in folder else (folder, "")
    found = sorted(Path(root).glob(f"*{pattern}/{name}")) if pattern else [Path(root) / name]
    if not found or not found[0].is_file():
        raise Missing(f"it is not installed; as root: apt-get install {package}")
    return str(found[0])


def _prepared(command: list[str], env: dict[str, str]) -> None:
    if which(command[0]) is None:
        raise Missing(f"{command[0]} is not installed; as root: apt-get install openfoam")
    done = subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Missing(f"{' '.join(command)} failed: {done.stderr.strip()[-200:]}")
