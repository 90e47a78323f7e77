"""Measures the library's own algorithms, each in launches of its own, because programs choose when they start."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wherry.collective_names import OPERATIONS
from wherry.errors import WherryError
from wherry.export import mpich
from wherry.files import write_whole
from wherry.measure.harness import BenchTable, Setup, Testbed, parse, program, reason_of
from wherry.measure.operations import check_operations, sizes_of
from wherry.provenance import commit, machine
from wherry.run.mpis import Mpi, choose_mpi
from wherry.tune.algorithms import (
    AUTO,
    DEFAULT,
    Algorithm,
    algorithms,
    built_in_selection,
    forced,
    library_text,
)
from wherry.tune.results import AlgorithmTime, Excluded, Results

SIZES = (8, 64, 1024, 16384)


@dataclass(frozen=True)
class LibraryCase:
    """One algorithm of one operation on so many ranks, with what makes the library use it."""

    operation: str
    ranks: int
    algorithm: Algorithm
    variables: dict[str, str]


def measure(setup: Setup, ranks: Sequence[int], operations: Sequence[str] | None) -> Results:
    """Interleaved launches of every case. An algorithm that fails is excluded, with its last words."""
    names = check_operations(operations or OPERATIONS)
    mpi = setup.mpi or choose_mpi(None)
    with tempfile.TemporaryDirectory(prefix="wherry-") as folder, Testbed(setup, mpi) as place:
        forcing = _Forcing(mpi, Path(folder))
        cases = [
            LibraryCase(name, n, a, forcing.variables(name, a))
            for name in names
            for n in ranks
            for a in _choices(mpi, name)
        ]
        results = Results(mpi.name, mpi.family, mpi.version, machine(), commit(), place.network)
        results.selection = forcing.selection
        _launch_all(setup, place, cases, results)
    return results


def _choices(mpi: Mpi, operation: str) -> list[Algorithm]:
    return [DEFAULT, AUTO, *algorithms(mpi, operation)]


class _Forcing:
    """The variables for an algorithm; writes the file that MPICH needs."""

    def __init__(self, mpi: Mpi, folder: Path) -> None:
        self._mpi = mpi
        self._folder = folder
        self.selection = built_in_selection(library_text(mpi)) if mpi.family == "mpich" else None

    def variables(self, operation: str, algorithm: Algorithm) -> dict[str, str]:
        if self.selection is None or algorithm == DEFAULT:
            return forced(self._mpi.family, operation, algorithm)
        file = self._folder / f"{operation}-{algorithm.id}.json"
        write_whole(file, mpich.forcing(self.selection, operation, None if algorithm == AUTO else algorithm))
        return mpich.variables([operation], file)


def _launch_all(setup: Setup, place: Testbed, cases: Sequence[LibraryCase], results: Results) -> None:
    tables = {_key(case): BenchTable() for case in cases}
    failed: dict[tuple[str, int, str], Excluded] = {}
    launches = setup.number_of_launches()
    for launch in range(launches):
        for i, case in enumerate(cases):
            key = _key(case)
            setup.progress(f"{case.operation}, {case.algorithm.name}", launch * len(cases) + i, launches * len(cases))
            if key in failed:
                continue
            try:
                tables[key].rows += parse(
                    place.run(case.ranks, _command(setup, place.mpi, case), case.variables), launch
                )
            except WherryError as error:
                if case.algorithm in (DEFAULT, AUTO):
                    raise
                failed[key] = Excluded(case.operation, case.ranks, case.algorithm, reason_of(error))
    results.excluded = list(failed.values())
    for case in cases:
        if _key(case) not in failed:
            results.measurements += _measurements(case, tables[_key(case)])


def _key(case: LibraryCase) -> tuple[str, int, str]:
    return case.operation, case.ranks, case.algorithm.id


def _command(setup: Setup, mpi: Mpi, case: LibraryCase) -> list[str]:
    sizes = sizes_of(case.operation, setup.sizes or SIZES)
    words = [program(mpi, "collectives"), "--operations", case.operation, "--sizes", ",".join(map(str, sizes))]
    return [*words, "--turns", "10" if setup.quick else "60", "--calls", "1"]


def _measurements(case: LibraryCase, table: BenchTable) -> list[AlgorithmTime]:
    """The cases that the program prints are "OPERATION SIZE B"."""
    found = []
    for name in table.cases():
        rows = [list(row.values) for row in table.of(name, "library")]
        size = int(name.split()[1])
        found.append(AlgorithmTime(case.operation, case.ranks, size, case.algorithm, table.best(name, "library"), rows))
    return found
