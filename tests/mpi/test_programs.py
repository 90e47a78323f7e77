"""Runs every program tests/mpi/*.cpp under mpiexec on every MPI library at several numbers of ranks.

A program passes if it exits with 0; a line "skipped: reason" in its output says that it could test nothing here. A line
"// ranks: 2 4" in its source replaces the usual numbers of ranks.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Launcher, with_programs

HERE = Path(__file__).resolve().parent
RANKS = (1, 2, 3, 5, 8)
TIMEOUT_S = 180
#: What a library does wrong, by its name and the program that sees it.
FLAWS = {
    ("debian-mpich", "test_neighbors"): "it gives repeated neighbors an order that changes while ranks share cores, "
    "so Wherry leaves them to it; and it only spins",
    ("intel", "test_free_callbacks"): "on three ranks or more it calls a communicator's callbacks on some ranks "
    "only, so a collective in them waits for ever; without Wherry, too",
}


def cases() -> list[tuple[str, int]]:
    return [(source.stem, n) for source in sorted(HERE.glob("*.cpp")) for n in ranks_of(source)]


def ranks_of(source: Path) -> tuple[int, ...]:
    match = re.search(r"^// ranks: ([\d ]+)$", source.read_text(), re.MULTILINE)
    return tuple(map(int, match.group(1).split())) if match else RANKS


@with_programs()
@pytest.mark.parametrize(("program", "n"), cases())
def test_program(mpi: Launcher, build: Path, program: str, n: int) -> None:
    if flaw := FLAWS.get((mpi.name, program)):
        pytest.skip(f"{mpi.name}: {flaw}")
    done = mpi.run([mpi.program(program)], n, timeout=TIMEOUT_S)
    assert done.returncode == 0, f"{program} on {n} ranks of {mpi.name}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    skipped = re.search(r"^skipped: (.+)$", done.stdout, re.MULTILINE)
    if skipped:
        pytest.skip(f"{mpi.name}: {skipped.group(1)}")
