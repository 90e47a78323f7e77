"""Exported files in real runs: the library reads the file and does what it says, no more and no less.

What rank 0 sends tells the algorithm: one that forwards blocks sends more bytes, a tree sends to fewer ranks. With the
file it must be what the forced algorithm sends where it was "measured", and what the library's own choice sends for
other sizes and numbers of ranks.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import Launcher, on
from tuned import measured, results

from wherry import export
from wherry.collective_names import OPERATIONS
from wherry.export import intel, openmpi
from wherry.export.selection import WITHOUT_SIZES, Range, Rules, select
from wherry.run.mpis import Family
from wherry.tune.algorithms import Algorithm, algorithms, built_in_selection, library_text
from wherry.tune.results import Results, save

PROGRAMS = Path(__file__).resolve().parents[1] / "programs"
RANKS, CALLS = 5, 50


@dataclass(frozen=True)
class Winner:
    """An algorithm that "wins" at a size, where what it sends differs from the library's own choice."""

    operation: str
    name: str
    bytes: int
    alone: bool = False  # it calls other collectives, for which there must be no rules


WINNERS: dict[Family, tuple[Winner, ...]] = {
    "openmpi": (
        Winner("alltoall", "modified_bruck", 10_000),
        Winner("allgather", "linear", 10_000, alone=True),
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

Call = tuple[str, int]  # operation and bytes
Amount = tuple[float, float]  # bytes and messages of rank 0 in a call


@dataclass(frozen=True)
class Counted:
    """A program of collectives on one MPI, and what rank 0 sends in them."""

    mpi: Launcher
    folder: Path

    def run(self, calls: Iterable[Call], times: int, ranks: int, variables: Mapping[str, str]) -> str:
        """To the end, whether calls fail or not."""
        words = [f"{operation}:{size}" for operation, size in calls]
        done = self.mpi.run([self.folder / "collective", str(times), *words], ranks, variables)
        assert done.stdout.endswith("done\n"), done.stdout + done.stderr
        return done.stdout

    def sent(self, calls: Sequence[Call], ranks: int, variables: Mapping[str, str]) -> dict[Call, Amount]:
        """In one launch, if it can be told apart there."""
        if self.mpi.name == "debian-mpich":
            pytest.skip("Debian's MPICH hangs now and then when UCX is told to use sockets, where bytes are counted")
        if self.mpi.family == "openmpi":
            return self._monitored(calls, ranks, variables)
        counter = {"LD_PRELOAD": str(self.folder / "counter.so")}
        output = self.run(calls, CALLS, ranks, {**counter, **through_sockets(self.mpi), **variables})
        assert "failed" not in output
        found = re.findall(r"^(\w+):(\d+) sent (\d+) bytes$", output, re.MULTILINE)
        return {(name, int(size)): (int(sent) / CALLS, 0) for name, size, sent in found}

    def _monitored(self, calls: Sequence[Call], ranks: int, variables: Mapping[str, str]) -> dict[Call, Amount]:
        """Open MPI counts what it sends itself; version 4 tells it only at the end of a program."""
        prefix = str(self.folder / "sent")
        if int(self.mpi.mpi.version.split(".")[0]) > 4:
            watched = {"LD_PRELOAD": str(self.folder / "counter.so"), "MONITORED": prefix}
            assert "failed" not in self.run(calls, CALLS, ranks, {**monitored(), **watched, **variables})
        else:
            for name, size in calls:
                self.run([(name, size)], CALLS, ranks, {**monitored(f"{prefix}.{name}:{size}"), **variables})
        return {(name, size): in_profile(Path(f"{prefix}.{name}:{size}.0.prof")) for name, size in calls}


@pytest.fixture(scope="session")
def counted(mpi: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Counted:
    if mpi.mpicc is None:
        pytest.skip(f"{mpi.name} has no C compiler")
    folder = tmp_path_factory.mktemp(f"counted-{mpi.name}")
    counter = "monitored.c" if mpi.family == "openmpi" else "sent.c"
    compiled([str(mpi.mpicc), "-o", str(folder / "collective"), str(PROGRAMS / "collective.c")], mpi)
    shared = ["-shared", "-fPIC", "-o", str(folder / "counter.so"), str(PROGRAMS / counter), "-ldl"]
    compiled([str(mpi.mpicc), *shared], mpi)
    return Counted(mpi, folder)


def compiled(command: list[str], mpi: Launcher) -> None:
    done = subprocess.run(command, env=mpi.env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def monitored(prefix: str | None = None) -> dict[str, str]:
    settings = {"enable": "1"} | ({"enable_output": "3", "filename": prefix} if prefix else {})
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


def winning(mpi: Launcher, winners: Sequence[Winner]) -> Results:
    """As if each algorithm had won at one size and one number of ranks."""
    rows = []
    for winner in winners:
        (found,) = (a for a in algorithms(mpi.mpi, winner.operation) if a.name == winner.name)
        rows.append(measured(winner.operation, RANKS, winner.bytes, {"auto": 1.0, found.id: 0.5}))
    data = results(mpi.mpi.family, *rows)
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


@dataclass(frozen=True)
class Trial:
    """What rank 0 sent while the winners were forced, by the library's own choice, and by the exported rules."""

    ranges: Mapping[str, Range]
    forced: Mapping[Call, Amount]
    own: Mapping[int, Mapping[Call, Amount]]  # by the number of ranks
    rules: Mapping[int, Mapping[Call, Amount]]


def tried(counted: Counted, winners: Sequence[Winner]) -> Trial:
    """All in one file and in the same launches: an operation's rules and variables are its own."""
    mpi = counted.mpi
    data = winning(mpi, winners)
    rules = exported(data, mpi.mpi.family, counted.folder)
    ranges = {rule.operation: part for rule in select(data) for part in rule.ranges}
    force, own = {}, {}
    for name, part in ranges.items():
        force |= forced(mpi, name, part.algorithm.id)
        own |= left_open(mpi, name)
    here = [(winner.operation, winner.bytes) for winner in winners]
    calls = {RANKS: here + [(winner.operation, size) for winner in winners for size in other_sizes(winner)]}
    if mpi.family != "intel":  # whose settings cannot name a number of ranks
        calls |= {RANKS - 1: [call for call in here if call[0] == "alltoall"], RANKS + 1: here}
    by_own, by_rules = (
        {ranks: counted.sent(some, ranks, variables) for ranks, some in calls.items() if some}
        for variables in (own, rules)
    )
    return Trial(ranges, counted.sent(here, RANKS, force), by_own, by_rules)


def other_sizes(winner: Winner) -> Sequence[int]:
    if winner.operation in WITHOUT_SIZES:
        return ()
    return (winner.bytes // 4, winner.bytes * 4) if winner.operation == "alltoall" else (winner.bytes * 4,)


def turns(winners: Iterable[Winner]) -> list[list[Winner]]:
    """In each turn at most one winner of an operation."""
    found: list[list[Winner]] = []
    for winner in winners:
        taken = [any(other.alone or other.operation == winner.operation for other in turn) for turn in found]
        if winner.alone or all(taken):
            found.append([winner])
        else:
            found[taken.index(False)].append(winner)
    return found


@pytest.fixture(scope="session")
def trials(counted: Counted) -> list[tuple[list[Winner], Trial]]:
    operations = {operation for name, operation in TRIED if name == counted.mpi.name}
    winners = [winner for winner in WINNERS[counted.mpi.mpi.family] if winner.operation in operations]
    return [(turn, tried(counted, turn)) for turn in turns(winners)]


@pytest.mark.parametrize("mpi,operation", TRIED, indirect=["mpi"], scope="session")
def test_the_exported_file_is_obeyed_where_it_was_measured_and_nowhere_else(
    mpi: Launcher, trials: list[tuple[list[Winner], Trial]], operation: str
) -> None:
    for turn, trial in trials:
        for winner in turn:
            if winner.operation == operation:
                check_obeyed(winner, trial)


def check_obeyed(winner: Winner, trial: Trial) -> None:
    operation, size = here = winner.operation, winner.bytes
    by_force = trial.forced[here]
    assert not close(trial.own[RANKS][here], by_force), "they cannot be told apart"
    assert close(trial.rules[RANKS][here], by_force)
    if operation not in WITHOUT_SIZES:
        part = trial.ranges[operation]
        assert size // 4 < part.first <= size <= part.last < 4 * size
    for other in other_sizes(winner):
        assert close(trial.rules[RANKS][operation, other], trial.own[RANKS][operation, other]), other
    for ranks in trial.rules.keys() - {RANKS}:
        if here in trial.rules[ranks]:
            assert close(trial.rules[ranks][here], trial.own[ranks][here]), ranks


@on("openmpi", "debian-openmpi")
def test_open_mpi_reads_json_from_version_6_on(mpi: Launcher, counted: Counted, tmp_path: Path) -> None:
    winner = WINNERS["openmpi"][0]
    data, call = winning(mpi, [winner]), (winner.operation, winner.bytes)
    rules = exported(data, "openmpi-json", tmp_path)
    force = forced(mpi, winner.operation, select(data)[0].ranges[0].algorithm.id)
    by_rules, by_force = (counted.sent([call], RANKS, variables)[call] for variables in (rules, force))
    assert close(by_rules, by_force) == (int(mpi.mpi.version.split(".")[0]) >= 6)


@on("intel")
def test_intel_ignores_sizes_where_a_number_of_ranks_is_named(mpi: Launcher, counted: Counted) -> None:
    """Why exports name none: if a later version heeds both, they can."""
    call = ("alltoall", 10_000)
    named = f"3:0-10000@{RANKS}-{RANKS};1:10001-40000@{RANKS}-{RANKS};{intel.OWN}"
    by_name = counted.sent([call], RANKS, {"I_MPI_ADJUST_ALLTOALL": named})
    assert close(by_name[call], counted.sent([call], RANKS, forced(mpi, "alltoall", "1"))[call])


@on("mpich", "mpich-abi", "debian-mpich")
def test_mpich_reads_the_file_and_takes_no_damaged_one(mpi: Launcher, counted: Counted, tmp_path: Path) -> None:
    """A run that ends well has therefore read it."""
    rules = exported(winning(mpi, WINNERS["mpich"][:1]), "mpich", tmp_path)
    words = [counted.folder / "collective", "1", "alltoall:64"]
    assert mpi.run(words, 2, rules).returncode == 0
    file = tmp_path / "exported"
    file.write_text(file.read_text().replace("MPIR_Alltoall_intra_brucks", "MPIR_Alltoall_intra_bricks"))
    assert mpi.run(words, 2, rules).returncode != 0


@on("openmpi", "debian-openmpi")
def test_open_mpi_knows_each_collective_by_its_number(mpi: Launcher, counted: Counted, tmp_path: Path) -> None:
    """An algorithm that does not exist makes just that operation fail. Open MPI has one alltoallw only.

    Each operation has rules in some of the launches, and in which is its alone: the binary digits of its place.
    """
    sizes = {name: Range(0, 0 if name in WITHOUT_SIZES else 128, Algorithm("99", "none")) for name in OPERATIONS}

    def failing(names: Iterable[str], ranks: int) -> set[str]:
        rules = [Rules(name, 2, (sizes[name],)) for name in names]
        (tmp_path / "rules").write_text(openmpi.text(results("openmpi"), rules))
        output = counted.run([(name, 64) for name in OPERATIONS], 1, ranks, openmpi.variables(tmp_path / "rules"))
        return set(re.findall(r"^(\w+) failed$", output, re.MULTILINE))

    for digit in range(len(OPERATIONS).bit_length()):
        names = {name for place, name in enumerate(OPERATIONS, 1) if place >> digit & 1}
        assert failing(names, 2) == names - {"alltoallw"}
    assert not failing(OPERATIONS, 3)
