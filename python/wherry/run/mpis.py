"""The MPI installations that Wherry knows, and how to launch a program with each.

An installation is found where `make setup` puts it (environments in `.mpi/`), where Debian puts it,
or on PATH. Nothing here loads MPI.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from wherry.errors import WherryError, unknown
from wherry.run.launch import OPENMPI_ROOT_VARIABLES

Family = Literal["openmpi", "mpich", "intel"]
Abi = Literal["openmpi", "mpich", "abi"]

# How each launcher starts n processes: more than there are cores, wherever the kernel puts them.
LAUNCH_OPTIONS: dict[Family, tuple[str, ...]] = {
    "openmpi": ("--oversubscribe", "--bind-to", "none"),
    "mpich": (),
    "intel": (),
}


@dataclass(frozen=True)
class Mpi:
    """One MPI library with its launcher."""

    name: str  # as on the command line: "openmpi", "debian-mpich", ...
    family: Family
    abi: Abi
    version: str
    prefix: Path
    libmpi: Path
    mpiexec: list[str]
    mpicc: Path | None = None
    mpicxx: Path | None = None
    mpifort: Path | None = None
    python: Path | None = None  # an interpreter that has mpi4py for this library
    variables: Mapping[str, str] = field(default_factory=dict)  # what this installation needs to run

    def environment(self) -> dict[str, str]:
        """Variables that the launcher and the programs need, beyond those of the caller."""
        root = OPENMPI_ROOT_VARIABLES if self.family == "openmpi" and os.geteuid() == 0 else {}
        return {**root, **self.variables}

    def command(
        self, n: int, args: Sequence[str], env: Mapping[str, str] | None = None, options: Sequence[str] = ()
    ) -> list[str]:
        """The command line that runs `args` on n ranks; `env` reaches the ranks the launcher's own way.

        options: further options for the launcher, such as hosts. Start it with environment() in effect.
        """
        fixed = LAUNCH_OPTIONS[self.family] if not options else ()
        return [*self.mpiexec, *fixed, *options, "-n", str(n), *self.pass_environment(env or {}), *args]

    def pass_environment(self, env: Mapping[str, str]) -> list[str]:
        """The launcher's options that set variables on the ranks only."""
        if self.family == "openmpi":
            return [word for name, value in env.items() for word in ("-x", f"{name}={value}")]
        return [word for name, value in env.items() for word in ("-genv", name, value)]


def find_mpis(root: Path | None = None) -> list[Mpi]:
    """The installations that are there, in the order of MPI_NAMES, then any other on PATH.

    root: the folder with the environments of `make setup`; default: `.mpi` of this checkout.
    """
    home = root if root is not None else default_root()
    known = [mpi for name, probe in PROBES.items() if (mpi := probe(name, home)) is not None]
    return known + list(_on_path(known))


def find_mpi(name: str, root: Path | None = None) -> Mpi | None:
    """The installation of that name, or None."""
    return next((mpi for mpi in find_mpis(root) if mpi.name == name), None)


def choose_mpi(name: str | None) -> Mpi:
    """The MPI of that name; without a name Open MPI if there, which yields the cores when there are more ranks."""
    found = find_mpis()
    if name is None and found:
        return found[0]
    for mpi in found:
        if mpi.name == name:
            return mpi
    if name is not None and name not in MPI_NAMES:
        raise unknown("MPI", name, [mpi.name for mpi in found] or MPI_NAMES)
    raise WherryError(why_missing(name or "openmpi"))


def why_missing(name: str) -> str:
    """Why an installation of MPI_NAMES may not be there and what to do: for messages and skipped tests."""
    if name.startswith("debian-"):
        packages = {"debian-openmpi": "openmpi-bin libopenmpi-dev", "debian-mpich": "mpich libmpich-dev"}
        return f"{name} is not installed; as root: apt-get install {packages.get(name, name)}"
    return f"{name} is not installed; run: make setup"


def run_to_end(
    command: Sequence[str], env: Mapping[str, str], timeout_s: float, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a command without input and returns what it printed.

    Raises subprocess.TimeoutExpired after timeout_s, when the command and all that it started are killed.
    """
    process = subprocess.Popen(
        command,
        env=dict(env),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        _kill_session(process)
        out, err = process.communicate()
        raise subprocess.TimeoutExpired(list(command), timeout_s, out, err) from None
    except BaseException:
        _kill_session(process)
        process.wait()
        raise
    return subprocess.CompletedProcess(list(command), process.returncode, out, err)


def _kill_session(process: subprocess.Popen[str]) -> None:
    """Ends the launcher gently first: launchers take their daemons and ranks with them when they are asked to end."""
    for number, patience_s in ((signal.SIGTERM, 3.0), (signal.SIGKILL, 0.0)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience_s)


def default_root() -> Path:
    return Path(__file__).resolve().parents[3] / ".mpi"


def _openmpi_wheel(name: str, home: Path) -> Mpi | None:
    prefix = home / "openmpi"
    return _wheel(name, prefix, "openmpi", "openmpi", prefix / "lib/libmpi.so.40", "openmpi")


def _mpich_wheel(name: str, home: Path) -> Mpi | None:
    prefix = home / "mpich"
    return _wheel(name, prefix, "mpich", "mpich", prefix / "lib/libmpi.so.12", "mpich")


def _mpich_abi_wheel(name: str, home: Path) -> Mpi | None:
    prefix = home / "mpich"
    mpi = _wheel(name, prefix, "mpich", "abi", prefix / "lib/libmpi_abi.so.1", "mpich")
    if mpi is None:
        return None
    # mpi4py's wheel for this Python is built for the two older ABIs only.
    return replace(
        mpi, mpicc=_executable(prefix / "bin/mpicc_abi"), mpicxx=_executable(prefix / "bin/mpicxx_abi"), python=None
    )


def _intel_wheel(name: str, home: Path) -> Mpi | None:
    prefix = home / "impi"
    mpi = _wheel(name, prefix, "intel", "mpich", prefix / "lib/libmpi.so.12", "impi_rt", launcher="mpiexec.hydra")
    if mpi is None:
        return None
    library = prefix / "lib"
    # The programs in the wheel carry no run path, and the library finds its providers by these variables only.
    needs = {
        "I_MPI_ROOT": str(prefix),
        "FI_PROVIDER_PATH": str(library),
        "LD_LIBRARY_PATH": _with_library_folder(library),
    }
    return replace(mpi, mpifort=_executable(prefix / "bin/mpif90"), variables=needs)


def _wheel(
    name: str, prefix: Path, family: Family, abi: Abi, libmpi: Path, package: str, launcher: str = "mpiexec"
) -> Mpi | None:
    mpiexec = _executable(prefix / "bin" / launcher)
    if mpiexec is None or not libmpi.exists():
        return None
    return Mpi(
        name=name,
        family=family,
        abi=abi,
        version=_wheel_version(prefix, package),
        prefix=prefix,
        libmpi=libmpi,
        mpiexec=[str(mpiexec)],
        mpicc=_executable(prefix / "bin/mpicc"),
        mpicxx=_executable(prefix / "bin/mpicxx"),
        python=_python_with_mpi4py(prefix),
    )


def _debian_openmpi(name: str, home: Path) -> Mpi | None:
    libmpi = _debian_library("libmpi.so.40")
    # Open MPI 4 and 5 share an ABI, so mpi4py of the other environment serves when it is told the library.
    return _debian(name, "openmpi", libmpi, home / "openmpi", {"MPI4PY_LIBMPI": str(libmpi)})


def _debian_mpich(name: str, home: Path) -> Mpi | None:
    libmpi = _debian_library("libmpich.so.12")
    # mpi4py asks for libmpi.so.12; Debian has the same library under another name, so setup makes a link.
    alias = home / "debian-mpich/libmpi.so.12"
    if not alias.exists():
        return _debian(name, "mpich", libmpi, None, {})
    variables = {"MPI4PY_LIBMPI": str(alias), "LD_LIBRARY_PATH": _with_library_folder(alias.parent)}
    return _debian(name, "mpich", libmpi, home / "mpich", variables)


def _debian(
    name: str, family: Literal["openmpi", "mpich"], libmpi: Path | None, python: Path | None, variables: dict[str, str]
) -> Mpi | None:
    mpiexec = _executable(Path(f"/usr/bin/mpiexec.{family}"))
    if mpiexec is None or libmpi is None:
        return None
    interpreter = _python_with_mpi4py(python) if python is not None else None
    return Mpi(
        name=name,
        family=family,
        abi=family,
        version=_launcher_version(mpiexec),
        prefix=Path("/usr"),
        libmpi=libmpi,
        mpiexec=[str(mpiexec)],
        mpicc=_executable(Path(f"/usr/bin/mpicc.{family}")),
        mpicxx=_executable(Path(f"/usr/bin/mpicxx.{family}")),
        mpifort=_executable(Path(f"/usr/bin/mpifort.{family}")),
        python=interpreter,
        variables=variables if interpreter is not None else {},
    )


PROBES = {
    "openmpi": _openmpi_wheel,
    "mpich": _mpich_wheel,
    "mpich-abi": _mpich_abi_wheel,
    "intel": _intel_wheel,
    "debian-openmpi": _debian_openmpi,
    "debian-mpich": _debian_mpich,
}
MPI_NAMES = tuple(PROBES)


# Most telling first: Intel's launcher is a Hydra too.
_FAMILY_MARKS: tuple[tuple[str, Family], ...] = (
    ("Intel(R) MPI", "intel"),
    ("Open MPI", "openmpi"),
    ("OpenRTE", "openmpi"),
    ("HYDRA", "mpich"),
)
_LIBRARIES: dict[Family, tuple[str, ...]] = {
    "openmpi": ("libmpi.so.40",),
    "mpich": ("libmpi.so.12", "libmpich.so.12"),
    "intel": ("libmpi.so.12",),
}


def _on_path(known: Sequence[Mpi]) -> Iterator[Mpi]:
    """The MPI whose mpiexec is first on PATH, unless it is one of those known."""
    found = shutil.which("mpiexec")
    if found is None:
        return
    mpiexec = Path(found).resolve()
    if any(mpiexec == Path(mpi.mpiexec[0]).resolve() for mpi in known):
        return
    prefix = Path(found).parent.parent
    text = _first_output([found, "--version"])
    family = next((family for mark, family in _FAMILY_MARKS if mark in text), None)
    libmpi = _library_below(prefix, family) if family is not None else None
    if family is None or libmpi is None or any(mpi.prefix == prefix for mpi in known):
        return
    yield Mpi(
        name=f"path-{family}",
        family=family,
        abi="openmpi" if family == "openmpi" else "mpich",
        version=_version_in(text),
        prefix=prefix,
        libmpi=libmpi,
        mpiexec=[found],
        mpicc=_executable(prefix / "bin/mpicc"),
        mpicxx=_executable(prefix / "bin/mpicxx"),
        mpifort=_executable(prefix / "bin/mpifort"),
        python=_python_with_mpi4py(prefix),
    )


def _library_below(prefix: Path, family: Family) -> Path | None:
    folders = (prefix / "lib", prefix / "lib64", *prefix.glob("lib/*-linux-gnu"))
    paths = (folder / name for folder in folders for name in _LIBRARIES[family])
    return next((path for path in paths if path.exists()), None)


def _with_library_folder(folder: Path) -> str:
    """LD_LIBRARY_PATH with a folder in front."""
    rest = [other for other in os.environ.get("LD_LIBRARY_PATH", "").split(":") if other and other != str(folder)]
    return ":".join([str(folder), *rest])


def _executable(path: Path) -> Path | None:
    return path if os.access(path, os.X_OK) and path.is_file() else None


def _debian_library(name: str) -> Path | None:
    return next(iter(sorted(Path("/usr/lib").glob(f"*-linux-gnu/{name}"))), None)


def _python_with_mpi4py(prefix: Path) -> Path | None:
    has_mpi4py = any(prefix.glob("lib/python3.*/site-packages/mpi4py/__init__.py"))
    return _executable(prefix / "bin/python") if has_mpi4py else None


def _wheel_version(prefix: Path, package: str) -> str:
    folder = next(prefix.glob(f"lib/python3.*/site-packages/{package}-*.dist-info"), None)
    return folder.name.removeprefix(f"{package}-").removesuffix(".dist-info") if folder is not None else "unknown"


def _launcher_version(mpiexec: Path) -> str:
    return _version_in(_first_output([str(mpiexec), "--version"]))


def _version_in(text: str) -> str:
    match = re.search(r"\d+\.\d+(\.\d+)*", text)
    return match.group() if match else "unknown"


def _first_output(command: list[str]) -> str:
    """What a command prints, or nothing if it cannot run: it is asked for its version only."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr
