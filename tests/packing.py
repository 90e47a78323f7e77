"""How tests are dealt out to the workers of `make test`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from wherry.run.mpis import MPI_NAMES

#: Folders whose files take the longest come first: what is long must not be left for the end.
FIRST = ("mpi4py", "mpi", "apps", "api")

# Longer names first: one may be the end of another.
_MPI = re.compile("|".join(sorted(MPI_NAMES, key=len, reverse=True)))


def place(path: Path) -> int:
    folder = path.parent.name
    return FIRST.index(folder) if folder in FIRST else len(FIRST)


def scope(nodeid: str) -> str:
    """A file's tests on one MPI stay together, with the programs that they compile."""
    file, _, test = nodeid.partition("::")
    found = _MPI.search(test.partition("[")[2])
    return f"{file}[{found.group()}]" if found else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object | None:
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return scope(nodeid)

    return Scheduling(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What stays together comes in a row: fixtures of an MPI are made once."""
    scopes = {name: number for number, name in enumerate(dict.fromkeys(scope(item.nodeid) for item in items))}
    items.sort(key=lambda item: (place(item.path), scopes[scope(item.nodeid)]))
