"""What `wherry info` shows of the MPI libraries."""

from __future__ import annotations

import io

from rich.console import Console

from wherry.run.info import show


def test_each_mpi_has_its_launcher_and_its_library() -> None:
    mpi = {"name": "mine", "version": "5", "abi": "mpich", "launcher": "/m/bin/mpiexec", "library": "/m/lib/libmpi.so"}
    console = Console(file=io.StringIO(), width=80)
    about = {"version": "1", "commit": "c", "python": "3"}
    machine = {"cpu": "CPU", "features": [], "system": "Linux", "cores": "2", "memory": "glibc"}
    show(console, {"wherry": about, "machine": machine, "mpis": [mpi], "files": [], "settings": [], "problems": []})
    lines = [line.split() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]
    at = lines.index(["mine", "5", "mpich", "/m/bin/mpiexec"])
    assert lines[at + 1] == ["/m/lib/libmpi.so"]
