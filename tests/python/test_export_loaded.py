"""Exported files in real runs: the library reads the file and does what it says, no more and no less.

What rank 0 sends tells the algorithm: one that forwards blocks sends more bytes, a tree sends to fewer ranks. With the
file it must be what the forced algorithm sends where it was "measured", and what the library's own choice sends for
other sizes and numbers of ranks.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import Launcher
from tuned import measured, results

from wherry import export, paths
from wherry.export import intel, openmpi
from wherry.export.selection import WITHOUT_SIZES, Range, Rules, select
from wherry.mpis import Family
from wherry.operations import OPERATIONS
from wherry.tune.algorithms import Algorithm, algorithms, built_in_selection, library_text
from wherry.tune.results import Results, save

PROGRAMS = Path(__file__).resolve().parent / "programs"
RANKS, CALLS = 5, 50


@dataclass(frozen=True)
class Winner:
    """An algorithm that "wins" at a size, where what it sends differs from the library's own choice."""

    operation: str
    name: str
    bytes: int


WINNERS: dict[Family, tuple[Winner, ...]] = {
    "openmpi": (
        Winner("alltoall", "modified_bruck", 10_000),
        Winner("allgather", "linear", 10_000),
        Winner("allreduce", "ring", 10_000),
        Winner("bcast", "pipeline", 10_000),
        Winner("allgatherv", "bruck", 10_000),
        Winner("gather", "linear_sync", 10_000),
        Winner("scatter", "binomial", 10_000),
        Winner("reduce", "rabenseifner", 10_000),
        Winner("reduce_scatter", "ring", 10_000),
    ),
    "mpich": (
        Winner("alltoall", "brucks", 10_000),
        Winner("allgather", "ring", 64),
        Winner("allreduce", "ring", 10_000),
        Winner("bcast", "scatter_ring_allgather", 10_000),
        Winner("allgatherv", "ring", 64),
        Winner("reduce", "binomial", 10_000),
        Winner("reduce_scatter", "pairwise", 10_000),
    ),
    "intel": (
        Winner("alltoall", "preset 3", 10_000),
        Winner("alltoall", "preset 2", 40_000),
        Winner("allgather", "preset 5", 10_000),
        Winner("allreduce", "preset 5", 10_000),
        Winner("bcast", "preset 3", 10_000),
    ),
}
#: MPI and operation. Of libraries that differ in age or ABI one is tried with all.
TRIED = (
    *dict.fromkeys((name, winner.operation) for name, winners in WINNERS.items() for winner in winners),
    *((name, "alltoall") for name in ("debian-openmpi", "mpich-abi", "debian-mpich")),
)

Amount = tuple[float, float]  # bytes and messages of rank 0 in a call
#: operation, ranks, bytes, variables
Sent = Callable[[str, int, int, Mapping[str, str]], Amount]


@pytest.fixture
def program(mpi: Launcher, tmp_path: Path) -> Path:
    if mpi.mpicc is None:
        pytest.skip(f"{mpi.name} has no C compiler")
    compiled([str(mpi.mpicc), "-o", str(tmp_path / "collective"), str(PROGRAMS / "collective.c")], mpi)
    return tmp_path / "collective"


@pytest.fixture
def sent(mpi: Launcher, program: Path, tmp_path: Path) -> Sent:
    if mpi.name == "debian-mpich":
        pytest.skip("Debian's MPICH hangs now and then when UCX is told to use sockets, where bytes are counted")
    counter = tmp_path / "sent.so"
    compiled(["cc", "-shared", "-fPIC", "-o", str(counter), str(PROGRAMS / "sent.c"), "-ldl"], mpi)

    def run(operation: str, ranks: int, size: int, variables: Mapping[str, str]) -> Amount:
        words = [program, operation, str(size), str(CALLS)]
        if mpi.family == "openmpi":
            watched = {**monitored(tmp_path / "sent"), **variables}
            done = mpi.run(words, ranks, watched)
            assert done.returncode == 0, done.stderr
            return in_profile(tmp_path / "sent.0.prof")
        done = mpi.run(words, ranks, {"LD_PRELOAD": str(counter), **through_sockets(mpi), **variables})
        assert done.returncode == 0, done.stderr
        found = re.search(r"sent (\d+) bytes", done.stderr)
        assert found, done.stderr
        return int(found[1]) / CALLS, 0

    return run


def compiled(command: list[str], mpi: Launcher) -> None:
    done = subprocess.run(command, env=mpi.env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def monitored(prefix: Path) -> dict[str, str]:
    """Open MPI counts what it sends itself."""
    settings = {"enable": "1", "enable_output": "3", "filename": str(prefix)}
    return {f"OMPI_MCA_pml_monitoring_{name}": value for name, value in settings.items()}


def in_profile(path: Path) -> Amount:
    found = re.findall(r"^[EI]\t0\t\d+\t(\d+) bytes\t(\d+) msgs", path.read_text(), re.MULTILINE)
    return sum(int(n) for n, _ in found) / CALLS, sum(int(n) for _, n in found) / CALLS


def through_sockets(mpi: Launcher) -> dict[str, str]:
    """All messages cross sockets, where they can be counted."""
    if mpi.family == "intel":
        return {"I_MPI_FABRICS": "ofi", "FI_PROVIDER": "tcp"}
    return {"MPIR_CVAR_NOLOCAL": "1", "FI_PROVIDER": "tcp", "MPIR_CVAR_CH4_NETMOD": "ofi"}


def forced(mpi: Launcher, operation: str, number: str) -> dict[str, str]:
    """The library's own variable for one algorithm, whatever Wherry thinks of it."""
    if mpi.family == "openmpi":
        return {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", f"OMPI_MCA_coll_tuned_{operation}_algorithm": number}
    if mpi.family == "intel":
        return {f"I_MPI_ADJUST_{operation.upper()}": number}
    prefix = f"MPIR_{operation.capitalize()}_intra_"
    return {
        f"MPIR_CVAR_{operation.upper()}_INTRA_ALGORITHM": number.removeprefix(prefix),
        "MPIR_CVAR_DEVICE_COLLECTIVES": "none",
    }


def left_open(mpi: Launcher, operation: str) -> dict[str, str]:
    """The library's own choice as the file leaves it: Intel's 0 is not what it does without the variable."""
    return forced(mpi, operation, intel.OWN) if mpi.family == "intel" else {}


def winning(mpi: Launcher, winner: Winner) -> Results:
    """As if one algorithm had won at one size and one number of ranks."""
    (found,) = (a for a in algorithms(mpi.mpi, winner.operation) if a.name == winner.name)
    data = results(mpi.mpi.family, measured(winner.operation, RANKS, winner.bytes, {"auto": 1.0, found.id: 0.5}))
    if mpi.family == "mpich":
        data.selection = built_in_selection(library_text(mpi.mpi))
    return data


def exported(data: Results, name: str, folder: Path) -> dict[str, str]:
    """The variables that a user gets from the shell file that was written."""
    save(folder / "results.json", data)
    done = export.export(folder / "results.json", export.find(name), folder / "exported")
    shell = f". '{done.settings or done.file}' && env"
    before = subprocess.run(
        ["sh", "-c", "env"], env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=True
    )
    after = subprocess.run(
        ["sh", "-c", shell], env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=True
    )
    lines = set(after.stdout.splitlines()) - set(before.stdout.splitlines())
    return dict(line.split("=", 1) for line in lines if line.startswith(("OMPI_MCA_", "MPIR_CVAR_", "I_MPI_")))


def close(a: Amount, b: Amount) -> bool:
    """The same algorithm: connecting costs a few hundred bytes, which are not always the same."""
    return abs(a[0] - b[0]) < 0.05 * max(a[0], b[0], 1) and a[1] == b[1]


@pytest.mark.parametrize("mpi,operation", TRIED, indirect=["mpi"])
def test_the_exported_file_is_obeyed_where_it_was_measured_and_nowhere_else(
    mpi: Launcher, sent: Sent, tmp_path: Path, operation: str
) -> None:
    for winner in WINNERS[mpi.mpi.family]:
        if winner.operation == operation:
            check_obeyed(mpi, sent, tmp_path, winner)


def check_obeyed(mpi: Launcher, sent: Sent, folder: Path, winner: Winner) -> None:
    data, operation, size = winning(mpi, winner), winner.operation, winner.bytes
    (part,) = select(data)[0].ranges
    rules = exported(data, mpi.mpi.family, folder)
    force, own = forced(mpi, operation, part.algorithm.id), left_open(mpi, operation)
    by_force = sent(operation, RANKS, size, force)
    assert not close(sent(operation, RANKS, size, own), by_force), "they cannot be told apart"
    assert close(sent(operation, RANKS, size, rules), by_force)
    if operation not in WITHOUT_SIZES:
        assert size // 4 < part.first <= size <= part.last < 4 * size
        for other in (size // 4, 4 * size) if operation == "alltoall" else (4 * size,):
            assert close(sent(operation, RANKS, other, rules), sent(operation, RANKS, other, own)), other
    if mpi.family != "intel":  # whose settings cannot name a number of ranks
        for ranks in (RANKS - 1, RANKS + 1) if operation == "alltoall" else (RANKS + 1,):
            assert close(sent(operation, ranks, size, rules), sent(operation, ranks, size, own)), ranks


def test_open_mpi_reads_json_from_version_6_on(mpi: Launcher, sent: Sent, tmp_path: Path) -> None:
    if mpi.family != "openmpi":
        pytest.skip("a format of Open MPI")
    winner = WINNERS["openmpi"][0]
    data = winning(mpi, winner)
    rules = exported(data, "openmpi-json", tmp_path)
    force = forced(mpi, winner.operation, select(data)[0].ranges[0].algorithm.id)
    by_rules, by_force = (sent(winner.operation, RANKS, winner.bytes, variables) for variables in (rules, force))
    assert close(by_rules, by_force) == (int(mpi.mpi.version.split(".")[0]) >= 6)


def test_intel_ignores_sizes_where_a_number_of_ranks_is_named(mpi: Launcher, sent: Sent) -> None:
    """Why exports name none: if a later version heeds both, they can."""
    if mpi.family != "intel":
        pytest.skip("about I_MPI_ADJUST")
    named = f"3:0-10000@{RANKS}-{RANKS};1:10001-40000@{RANKS}-{RANKS};{intel.OWN}"
    by_name = sent("alltoall", RANKS, 10_000, {"I_MPI_ADJUST_ALLTOALL": named})
    assert close(by_name, sent("alltoall", RANKS, 10_000, forced(mpi, "alltoall", "1")))


def test_mpich_reads_the_file_and_takes_no_damaged_one(mpi: Launcher, program: Path, tmp_path: Path) -> None:
    """A run that ends well has therefore read it."""
    if mpi.family != "mpich":
        pytest.skip("others ignore a damaged file")
    rules = exported(winning(mpi, WINNERS["mpich"][0]), "mpich", tmp_path)
    words = [program, "alltoall", "64", "1"]
    assert mpi.run(words, 2, rules).returncode == 0
    file = tmp_path / "exported"
    file.write_text(file.read_text().replace("MPIR_Alltoall_intra_brucks", "MPIR_Alltoall_intra_bricks"))
    assert mpi.run(words, 2, rules).returncode != 0


def test_open_mpi_knows_each_collective_by_its_number(mpi: Launcher, tmp_path: Path) -> None:
    """An algorithm that does not exist makes just that operation fail. Open MPI has one alltoallw only."""
    if mpi.family != "openmpi":
        pytest.skip("others have names")
    bench = paths.bench_program(mpi.name, "collectives")
    if not bench.exists():
        pytest.skip(f"bench_collectives is not built for {mpi.name}; run: make build")
    sizes = {name: Range(0, 0 if name in WITHOUT_SIZES else 128, Algorithm("99", "none")) for name in OPERATIONS}
    rules = [Rules(name, 2, (size,)) for name, size in sizes.items()]
    words = [bench, "--sizes", "64", "--turns", "1", "--calls", "1", "--operations"]

    def fails(file: list[Rules], operations: str, ranks: int) -> bool:
        (tmp_path / "rules").write_text(openmpi.text(results("openmpi"), file))
        return mpi.run([*words, operations], ranks, openmpi.variables(tmp_path / "rules")).returncode != 0

    assert [rule.operation for rule in rules if not fails([rule], rule.operation, 2)] == ["alltoallw"]
    assert not fails(rules, ",".join(OPERATIONS), 3)
