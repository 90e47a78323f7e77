"""A benchmark program of one MPI, launched as often as asked: its samples, and where they were taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wherry.measure.harness import Place, Setup, Table, parse, program


@dataclass
class Launched(Table):
    """Samples of launches that were all alike."""

    mpi: str = ""
    ranks: int = 0
    network: str = ""


def launch(setup: Setup, name: str, ranks: int, words: Sequence[str], env: Mapping[str, str]) -> Launched:
    """bench_<name> on so many ranks. Raises WherryError if a launch fails."""
    mpi, launches = setup.installation(), setup.number_of_launches()
    args = [program(mpi, name), *words]
    with Place(setup, mpi) as place:
        table = Launched([], mpi.name, ranks, place.network)
        for number in range(launches):
            setup.progress(f"launch {number + 1}", number, launches)
            table.rows += parse(place.run(ranks, args, env), number)
    return table
