"""Where the parts of an installed Wherry are.

Below the environment's own prefix, where CMake installs them, or in the package, where a wheel brings them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from wherry.errors import WherryError

_PACKAGED = Path(__file__).resolve().parent / "installed"


def prefix() -> Path:
    return _PACKAGED if _PACKAGED.is_dir() else Path(sys.prefix)


def preload_library() -> Path:
    """The library to LD_PRELOAD; finds its backends beside itself."""
    return prefix() / "lib" / "wherry" / "libwherry.so"


def backends() -> list[Path]:
    return sorted(preload_library().parent.glob("libwherry-*.so"))


def plan_program() -> Path:
    return prefix() / "bin" / "wherry-plan"


def bench_program(mpi: str, name: str) -> Path:
    return prefix() / "libexec" / "wherry" / mpi / f"bench_{name}"


def application(mpi: str, name: str) -> Path:
    return prefix() / "libexec" / "wherry" / mpi / name


def replay_program() -> Path:
    """Plays traces through the RMA cache; needs no MPI."""
    return prefix() / "libexec" / "wherry" / "bench_cache_replay"


def kernels_program() -> Path:
    """Times the kernels of nbody; needs no MPI."""
    return prefix() / "libexec" / "wherry" / "nbody_kernels"


def simulation_program(name: str) -> Path:
    """A shared object for SimGrid's smpimain."""
    return prefix() / "libexec" / "wherry" / "smpi" / f"simulate_{name}.so"


def platforms() -> Path:
    """The folder of simulated machines."""
    return prefix() / "share" / "wherry" / "platforms"


def preload() -> Path:
    """preload_library(), if it is built and can be preloaded from where it is."""
    path = built(preload_library())
    if " " in str(path) or ":" in str(path):  # ld.so(8) has no way to escape them
        raise WherryError(
            f"{path} cannot be preloaded: the system splits LD_PRELOAD at blanks and colons; install Wherry in a"
            " folder without them in its path"
        )
    return path


def tuning_file() -> Path | None:
    """The tuning file that programs started now would use, as src/base/settings.cpp says."""
    if named := os.environ.get("WHERRY_TUNING_FILE"):
        return Path(named)
    for variable, below in (("XDG_CACHE_HOME", "wherry/tuning"), ("HOME", ".cache/wherry/tuning")):
        folder = Path(os.environ.get(variable, ""))
        if folder.is_absolute():
            return folder / below
    return None


def built(path: Path) -> Path:
    """The path, or an error that says how to get it."""
    if path.exists():
        return path
    if path.is_relative_to(prefix() / "libexec"):
        why = "a wheel does not hold: clone Wherry and run" if _PACKAGED.is_dir() else "is not built here; run"
        raise WherryError(f"{path} does not exist: it is a benchmark or an application, which {why} `make all`")
    raise WherryError(f"{path} does not exist: Wherry is not built here; run `make build`")
