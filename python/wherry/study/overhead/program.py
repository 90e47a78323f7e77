"""The program of the study: what it compares, where it can run, its launches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wherry import paths
from wherry.errors import WherryError
from wherry.measure.harness import BenchTable, Setup, Testbed, parse, program
from wherry.run.mpis import Mpi, find_mpis

NAME = "overhead"
BOOST, FIELDS, WHERRY = "boost", "fields", "wherry"
#: In the order of the steps; the program's names.
VARIANTS = {
    BOOST: "Boost.MPI as it comes",
    "make_array": "1. no lengths of arrays (make_array)",
    "no versions": "2. no versions of vectors",
    "no tracking": "3. no tracking of vectors",
    "MPI datatype": "4. vectors are MPI datatypes",
    "bitwise": "5. parts of particles are copied",
    "reordered": "6. members in another order",
    "compact": "7. compact lists",
    FIELDS: "needed fields, asynchronous",
    WHERRY: "Wherry",
}
#: Boost.MPI of Debian is linked to this one.
WITH_BOOST = "debian-openmpi"
_INSTALL = "as root: apt-get install libboost-mpi-dev libopenmpi-dev openmpi-bin libhwy-dev, then: make all"


def installation(setup: Setup) -> Mpi | None:
    """The one that the user chose, or that for which Boost.MPI is."""
    if setup.mpi:
        return setup.mpi
    return next((mpi for mpi in find_mpis() if mpi.name == WITH_BOOST), None)


def why_not(setup: Setup) -> str:
    mpi = installation(setup)
    if mpi is None:
        return f"Debian's Open MPI, to which Boost.MPI is linked, is not installed; {_INSTALL}"
    if not paths.bench_program(mpi.name, NAME).exists():
        return f"bench_overhead is not built for {mpi.name}; {_INSTALL}"
    return ""


def launch(
    place: Testbed, ranks: int, words: Sequence[str], number: int, env: Mapping[str, str] | None = None
) -> BenchTable:
    """Raises WherryError if the program was built without Boost.MPI where that should be there."""
    table = BenchTable(parse(place.run(ranks, [program(place.mpi, NAME), *words], env or {}), number))
    if place.mpi.name == WITH_BOOST and not any(row.variant == BOOST for row in table.rows):
        raise WherryError(f"bench_overhead was built without Boost.MPI; {_INSTALL}")
    return table
