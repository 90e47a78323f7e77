"""Opens Wherry's shared library for the MPI library that mpi4py has loaded.

There is one for each ABI of MPI: handles are integers in one and pointers in others. The MPI library in this process
says which it is, wherever it lies.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, cast

from mpi4py import MPI

from wherry.errors import WherryError
from wherry.paths import prefix

_LIBMPI = re.compile(r"libmpi(ch|_abi)?\.so[.\d]*$")

#: What mpi4py's objects hold: an integer in MPICH's ABI, a pointer in the others.
_HANDLES: dict[str, type[ctypes.c_int] | type[ctypes.c_void_p]] = {
    "mpich": ctypes.c_int,
    "openmpi": ctypes.c_void_p,
    "abi": ctypes.c_void_p,
}


#: Where the collectives of this thread put a plan instead of running.
_making: ContextVar[ctypes.c_void_p | None] = ContextVar("making", default=None)


@contextmanager
def making() -> Iterator[ctypes.c_void_p]:
    """The collective that is called inside makes a plan of its arguments, put here."""
    plan = ctypes.c_void_p()
    before = _making.set(plan)
    try:
        yield plan
    finally:
        _making.reset(before)


def is_making() -> bool:
    """Whether a plan is made, whose arguments must outlive the call."""
    return _making.get() is not None


class Library:
    """The C functions, and mpi4py's objects as their arguments."""

    def __init__(self, path: Path, abi: str) -> None:
        self.abi = abi
        self._handle = _HANDLES[abi]
        self._library = ctypes.CDLL(str(path))
        self._library.wherry_last_strategy.restype = ctypes.c_char_p
        self._library.wherry_version.restype = ctypes.c_char_p

    def handle(self, mpi_object: MPI.Comm | MPI.Datatype | MPI.Op) -> ctypes.c_int | ctypes.c_void_p:
        return self._handle.from_address(MPI._addressof(mpi_object))

    def handles(self, mpi_objects: Sequence[MPI.Datatype]) -> ctypes.Array[Any]:
        values: list[Any] = [self.handle(item).value for item in mpi_objects]
        return cast("ctypes.Array[Any]", (self._handle * len(values))(*values))

    def call(self, function: str, *arguments: object) -> None:
        """Runs the collective wherry_<function>, or makes a plan of it inside making()."""
        plan = _making.get()
        if plan is None:
            self.use(function, *arguments)
        else:
            self.use(f"{function}_plan", *arguments, ctypes.byref(plan))

    def use(self, function: str, *arguments: object) -> None:
        """Runs wherry_<function>, other Python threads meanwhile; raises mpi4py.MPI.Exception if it fails."""
        code = getattr(self._library, f"wherry_{function}")(*arguments)
        if code != MPI.SUCCESS:
            raise MPI.Exception(code)

    def ask(self, function: str, result: Any, *arguments: object) -> Any:
        """What wherry_<function> returns, as that ctypes type."""
        found = getattr(self._library, f"wherry_{function}")
        found.restype = result
        return found(*arguments)

    def text(self, function: str) -> str:
        return cast(bytes, getattr(self._library, f"wherry_{function}")()).decode()


@cache
def library() -> Library:
    """The one for this process, opened at the first call. Raises WherryError if there is none."""
    path, mpi = _loaded_mpi()
    abi = _abi_of(path, mpi)
    return Library(_shared_library(abi), abi)


def _loaded_mpi() -> tuple[Path, ctypes.CDLL]:
    """The MPI library in use. Its names become global: mpi4py loads it privately, and Wherry's library needs them."""
    version = MPI.Get_library_version().split("\0")[0]  # mpi4py keeps the end that some libraries count in
    for path in _loaded_files():
        library = ctypes.CDLL(str(path), mode=os.RTLD_NOLOAD | os.RTLD_LAZY | os.RTLD_GLOBAL)
        if _version_of(library) == version:
            return path, library
    raise WherryError(
        f"no shared library in this process is mpi4py's MPI ({version.partition(chr(10))[0]}); "
        "Wherry needs an MPI library named libmpi.so, libmpich.so or libmpi_abi.so"
    )


def _loaded_files() -> Iterator[Path]:
    lines = Path("/proc/self/maps").read_text(errors="surrogateescape").splitlines()
    files = dict.fromkeys(line[line.index("/") :] for line in lines if "/" in line)
    return (path for path in map(Path, files) if _LIBMPI.match(path.name))


def _version_of(library: ctypes.CDLL) -> str:
    if not hasattr(library, "PMPI_Get_library_version"):
        return ""
    text = ctypes.create_string_buffer(MPI.MAX_LIBRARY_VERSION_STRING)
    library.PMPI_Get_library_version(text, ctypes.byref(ctypes.c_int()))
    return text.value.decode(errors="replace")


def _abi_of(path: Path, mpi: ctypes.CDLL) -> str:
    if hasattr(mpi, "ompi_mpi_comm_world"):
        return "openmpi"
    return "abi" if path.name.startswith("libmpi_abi.so") else "mpich"


def _shared_library(abi: str) -> Path:
    path = prefix() / "lib" / "wherry" / f"libwherry_api_{abi}.so"
    if not path.exists():
        raise WherryError(
            f"{path} does not exist: this Wherry has no library for MPIs of the ABI {abi}; "
            "run `make build` in Wherry's sources, then `pip install .` there with this Python"
        )
    return path
