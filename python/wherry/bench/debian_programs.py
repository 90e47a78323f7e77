"""Programs of Debian's packages for `wherry bench programs`, with small inputs of our own.

Each starts in a folder of its own, where its input lies. They are built for Debian's MPI libraries.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from shutil import copytree, which

from wherry.bench.place import Find, Missing, Place, Start, our_file

#: One problem so many times: once takes hundredths of a second.
_REPEATS, _ORDER = 16, 450
_TIMED = 'export LC_ALL=C; cd "$0" && TIMEFORMAT="loop %R" && { time "$@"; } 2>&1'
_LOGGED = 'cd "$0" && "$@" >errors 2>&1 || { cat errors; exit 1; }; [ "$OMPI_COMM_WORLD_RANK" != 0 ] || cat md.log'
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
    program = _of_open_mpi(place, "nwchem.openmpi", "nwchem-openmpi")
    (place.folder / "water.nw").write_text(_WATER, encoding="ascii")
    return Start(("bash", "-c", _TIMED, str(place.folder), program, "water.nw"))  # it prints tenths of a second


def cp2k(place: Place) -> Start:
    program = _of_open_mpi(place, "cp2k.psmp", "cp2k")
    return _in(place.folder, "env", "OMP_NUM_THREADS=1", program, "-i", str(our_file("water/cp2k.inp")))


def gromacs(place: Place) -> Start:
    """Its log has the time and the energies."""
    program, tool = _of_open_mpi(place, "gmx_mpi", "gromacs"), installed("gmx", "gromacs")
    topology, box = place.folder / "topol.top", place.folder / "water.gro"
    _prepared([tool, "solvate", "-cs", "spc216", "-box", "3", "3", "3", "-o", str(box)], "gromacs")
    molecules = sum(" OW" in line for line in box.read_text("ascii").splitlines())
    text = our_file("water/topol.top").read_text("ascii")
    topology.write_text(text.replace("MOLECULES", str(molecules)), encoding="ascii")
    inputs = ["-f", str(our_file("water/md.mdp")), "-c", str(box), "-p", str(topology)]
    _prepared(
        [tool, "grompp", *inputs, "-o", str(place.folder / "run.tpr"), "-po", str(place.folder / "all.mdp")], "gromacs"
    )
    run = [program, "mdrun", "-s", "run.tpr", "-reprod", "-ntomp", "1", "-pin", "off", "-nb", "cpu", "-g", "md.log"]
    return Start(("bash", "-c", _LOGGED, str(place.folder), *run), {"OMP_NUM_THREADS": "1"})


def meep(place: Place) -> Start:
    """Debian's Python and its module, which is built for Debian's library."""
    python = _of_open_mpi(place, "python3", "python3-meep-openmpi")
    if not list(Path("/usr/lib/python3/dist-packages/meep").glob("_meep*.so*")):
        raise Missing("it is not installed; as root: apt-get install python3-meep-openmpi python3-mpi4py")
    return Start((python, str(our_file("ring.py"))), {"OMP_NUM_THREADS": "1"})


def icofoam(place: Place) -> Start:
    program = _of_open_mpi(place, "icoFoam", "openfoam")
    case = place.folder / "cavity"
    copytree(our_file("cavity"), case)
    parts = case / "system" / "decomposeParDict"
    parts.write_text(parts.read_text("ascii").replace("RANKS", str(place.ranks)), encoding="ascii")
    for tool in ("blockMesh", "decomposePar"):
        _prepared([tool, "-case", str(case)], "openfoam", _OPENFOAM)
    # It prints processor time, and whole seconds of the clock.
    return Start(("bash", "-c", _TIMED, str(case), program, "-parallel"), _OPENFOAM)


def _in(folder: Path, *command: str) -> Start:
    return Start(("sh", "-c", 'cd "$0" && exec "$@"', str(folder), *command))


def _of_open_mpi(place: Place, name: str, package: str) -> str:
    return _installed(place, "openmpi" if place.mpi.name == "debian-openmpi" else "", name, package, "/usr/bin")


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


def _prepared(command: list[str], package: str, env: Mapping[str, str] | None = None) -> None:
    """Runs a tool of the package that makes the program's input."""
    if which(command[0]) is None:
        raise Missing(f"{command[0]} is not installed; as root: apt-get install {package}")
    done = subprocess.run(command, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Missing(f"{' '.join(command)} failed: {done.stderr.strip()[-200:]}")
