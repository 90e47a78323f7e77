"""Tuning ahead: what libraries say of their algorithms, the file of results, short real runs. No clocks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke
from conftest import Launcher, clean_environment, on
from tuned import SELECTION, measured, results

from wherry import paths
from wherry.analysis import record, record_format
from wherry.analysis.replaced import REPLACEABLE
from wherry.collective_names import OPERATIONS
from wherry.errors import UsageError, WherryError
from wherry.measure import harness
from wherry.measure.harness import Setup
from wherry.measure.operations import learned_sizes
from wherry.schedule import plan
from wherry.tune import ahead, library, store
from wherry.tune.algorithms import (
    AUTO,
    DEFAULT,
    Algorithm,
    algorithms,
    built_in_selection,
    find_mpich_names,
    forced,
    library_text,
    parse_impi_info,
    parse_ompi_info,
)
from wherry.tune.results import Results, load, save

COLLECTIVE = Path(__file__).resolve().parents[1] / "programs" / "collective.c"

# What libraries say

OMPI_INFO = """\
mca:coll:tuned:param:coll_tuned_alltoall_algorithm:value:ignore
mca:coll:tuned:param:coll_tuned_alltoall_algorithm:enumerator:value:0:ignore
mca:coll:tuned:param:coll_tuned_alltoall_algorithm:enumerator:value:1:linear
mca:coll:tuned:param:coll_tuned_alltoall_algorithm:enumerator:value:2:pairwise
mca:coll:tuned:param:coll_tuned_alltoallv_algorithm:enumerator:value:1:basic_linear
"""


def test_ompi_info_is_read() -> None:
    assert parse_ompi_info(OMPI_INFO, "alltoall") == [Algorithm("1", "linear"), Algorithm("2", "pairwise")]
    assert parse_ompi_info(OMPI_INFO, "barrier") == []


def test_impi_info_is_read() -> None:
    assert [a.id for a in parse_impi_info("Arguments\n <presetid> - Preset\n range: 0-3 \n")] == ["1", "2", "3"]
    assert parse_impi_info("unknown variable") == []


def test_names_in_mpich_are_read() -> None:
    names = ("Alltoall_intra_brucks", "Alltoall_intra_k_brucks", "Alltoallv_intra_scattered", "Alltoall_allcomm_nb")
    text = b"\0".join([*(f"algorithm=MPIR_{name}".encode() for name in names), b"algorithm=", b""])
    assert [a.id for a in find_mpich_names(text, "alltoall")] == [
        "MPIR_Alltoall_allcomm_nb",
        "MPIR_Alltoall_intra_brucks",
    ]


def test_an_mpich_without_a_selection_is_refused() -> None:
    assert built_in_selection(b"\0\1" + json.dumps(SELECTION, separators=(",", ":")).encode() + b"\0") == SELECTION
    with pytest.raises(WherryError, match="older than 4"):
        built_in_selection(b'\0{"collective=bcast":{"composition=x":{}}}\0')


EXPECTED = {"openmpi": {"pairwise", "linear"}, "mpich": {"brucks", "pairwise", "scattered"}, "intel": {"preset 3"}}


def test_each_installed_library_names_its_algorithms(mpi: Launcher) -> None:
    found = algorithms(mpi.mpi, "alltoall")
    assert EXPECTED[mpi.family] <= {a.name for a in found}
    assert len({a.id for a in found}) == len(found)
    for operation in OPERATIONS:
        if operation != "alltoallw":  # Open MPI has one algorithm only
            assert algorithms(mpi.mpi, operation), operation


@on("mpich", "mpich-abi", "debian-mpich")
def test_each_installed_mpich_has_a_selection_for_each_operation(mpi: Launcher) -> None:
    selection = built_in_selection(library_text(mpi.mpi))
    assert {f"collective={name}" for name in OPERATIONS} <= selection.keys()


def test_forcing() -> None:
    assert forced("openmpi", "alltoall", DEFAULT) == {}
    assert forced("openmpi", "alltoall", AUTO)["OMPI_MCA_coll_tuned_alltoall_algorithm"] == "0"
    assert forced("intel", "bcast", Algorithm("7", "preset 7")) == {"I_MPI_ADJUST_BCAST": "7"}


# The file of results


@pytest.fixture
def data() -> Results:
    return results("mpich", measured("alltoall", 4, 64, {"auto": 1.0, "MPIR_Alltoall_intra_brucks": 0.5}))


def test_results_come_back_as_they_were(data: Results, tmp_path: Path) -> None:
    save(tmp_path / "r", data)
    assert load(tmp_path / "r") == data


def change(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


ROW = {"operation": "alltoall", "ranks": 4, "bytes": 64, "seconds": 1.0, "samples": [[1.0]]}
PLAIN = {"id": "2", "name": "x"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "else"}, "holds no results"),
        ({"format": 99}, "format 99, this Wherry reads 1"),
        ({"family": "lam"}, "damaged: ValueError: unknown family 'lam'"),
        ({"selection": None}, "the library's own selection is missing"),
        ({"measurements": None}, "damaged: TypeError"),
        ({"measurements": [{"operation": "alltoall"}]}, "damaged: KeyError"),
        ({"measurements": [{**ROW, "algorithm": PLAIN, "operation": "gossip"}]}, "unknown operation 'gossip'"),
        ({"measurements": [{**ROW, "algorithm": PLAIN, "seconds": "nan"}]}, "impossible measurement"),
        ({"measurements": [{**ROW, "algorithm": PLAIN, "ranks": 0}]}, "impossible measurement"),
        ({"measurements": [{**ROW, "algorithm": {"id": '2"; rm', "name": "x"}}]}, "impossible algorithm"),
    ],
)
def test_damage_is_named(data: Results, tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = tmp_path / "r"
    save(path, data)
    change(path, **changes)
    with pytest.raises(UsageError, match=message):
        load(path)


def test_a_cut_file_and_no_file_are_told_apart(data: Results, tmp_path: Path) -> None:
    path = tmp_path / "r"
    save(path, data)
    path.write_text(path.read_text()[:100])
    with pytest.raises(UsageError, match="damaged: it is not whole JSON but breaks off in line "):
        load(path)
    with pytest.raises(UsageError, match="cannot read"):
        load(tmp_path / "none")


# Measuring, with launches that answer at once


@pytest.fixture
def instant(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[int, dict[str, str]]]:
    """Launches answer 1 s, and 0.5 s with algorithm 2; algorithm 3 fails. Returns what was launched."""
    asked: list[tuple[int, dict[str, str]]] = []

    def run(self: harness.Testbed, ranks: int, args: list[str], env: dict[str, str]) -> str:
        asked.append((ranks, env))
        number = env.get("OMPI_MCA_coll_tuned_alltoall_algorithm", "")
        if number == "3":
            raise WherryError("bench failed with code 1:\nbench_collectives: alltoall 64 B: wrong result\nmore")
        value = 0.5 if number == "2" else 1.0
        return json.dumps({"case": "alltoall 64 B", "variant": "library", "unit": "s", "samples": [value, value]})

    monkeypatch.setattr(harness.Testbed, "run", run)
    monkeypatch.setattr(library, "program", lambda mpi, name: "bench")
    found = [Algorithm(n, f"name {n}") for n in ("2", "3")]
    monkeypatch.setattr(library, "algorithms", lambda mpi, operation: found)
    return asked


def fake_mpi() -> Any:
    from wherry.run.mpis import Mpi

    return Mpi("fake", "openmpi", "openmpi", "5", Path("/x"), Path("/x/libmpi.so"), ["mpiexec"])


def test_algorithms_run_in_turns_and_one_that_fails_runs_no_more(instant: list[tuple[int, dict[str, str]]]) -> None:
    found = library.measure(Setup(mpi=fake_mpi(), launches=2, sizes=(64,)), [4, 8], ["alltoall"])
    numbers = [env.get("OMPI_MCA_coll_tuned_alltoall_algorithm", "default") for _, env in instant]
    one_turn = ["default", "0", "2", "3"]
    assert numbers == [*one_turn, *one_turn, *2 * ["default", "0", "2"]]
    assert [(row.ranks, row.algorithm.id, row.seconds) for row in found.measurements] == [
        (n, name, 0.5 if name == "2" else 1.0) for n in (4, 8) for name in ("default", "auto", "2")
    ]
    assert found.measurements[0].samples == [[1.0, 1.0], [1.0, 1.0]]
    assert {(row.ranks, row.algorithm.id) for row in found.excluded} == {(4, "3"), (8, "3")}
    assert found.excluded[0].reason == "bench_collectives: alltoall 64 B: wrong result"


def test_a_default_that_fails_ends_it(
    instant: list[tuple[int, dict[str, str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: harness.Testbed, ranks: int, args: list[str], env: dict[str, str]) -> str:
        raise WherryError("no host")

    monkeypatch.setattr(harness.Testbed, "run", fail)
    with pytest.raises(WherryError, match="no host"):
        library.measure(Setup(mpi=fake_mpi(), launches=1), [4], ["alltoall"])


@pytest.mark.parametrize("run", [library.measure, lambda *words: ahead.train(*words, [])])
def test_the_nearest_operation_is_named(run: Any) -> None:
    with pytest.raises(UsageError, match=r"unknown operation 'altoall' .*did you mean 'alltoall'"):
        run(Setup(mpi=fake_mpi()), [4], ["altoall"])


def test_rows_of_a_tuning_file(tmp_path: Path) -> None:
    row = "row CPU Open%20MPI%20v5 8 9ae1 MPI_Alltoall 7 mesh 0.5 - 4"
    (tmp_path / "t").write_text(f"wherry-tuning 1\n{row}\nrow too short\nend 5f\n")
    (found,) = store.rows(tmp_path / "t")
    assert found == store.Row("Open MPI v5", 8, "MPI_Alltoall", 7, "mesh", 0.5, None, row)
    assert store.rows(tmp_path / "none") == []


# Real runs, short


def wherry(mpi: Launcher, *words: str, tuning: Path) -> subprocess.CompletedProcess[str]:
    if not paths.bench_program(mpi.name, "collectives").exists():
        pytest.skip(f"bench_collectives is not built for {mpi.name}; run: make build")
    env = {**clean_environment(), "WHERRY_TUNING_FILE": str(tuning)}
    command = [sys.executable, "-m", "wherry", *words]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)


def test_training_prints_the_rows_that_it_kept(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    tuning = tmp_path / "tuning"
    words = ("tune", "--mpi", mpi.name, "-n", "2", "--operations", "alltoall", "--sizes", "64,1024")
    done = wherry(mpi, *words, tuning=tuning)
    assert done.returncode == 0, done.stderr
    rows = store.rows(tuning)
    assert rows
    assert {(row.operation, row.ranks) for row in rows} == {("MPI_Alltoall", 2)}
    assert f"{len(rows)} new or changed rows in {tuning}; it held 0 before" in done.stdout


#: What is learned about neighborhood collectives is of one graph: nothing can be trained ahead.
TRAINED = {name for name in REPLACEABLE if "Neighbor" not in name}


def test_every_collective_that_wherry_performs_can_be_trained() -> None:
    if not paths.plan_program().exists():
        pytest.skip("wherry-plan is not built; run: make build")
    assert set(OPERATIONS) == {name for name in plan.names_by_operation() if not name.startswith("neighbor_")}
    assert {f"MPI_{name.capitalize()}" for name in OPERATIONS} == TRAINED


@on("openmpi")
def test_after_training_a_program_starts_decided(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    """Every collective: what was tuned ahead is loaded by the next program, which tries nothing; alike for all MPIs."""
    tuning, program, records = tmp_path / "tuning", tmp_path / "collective", tmp_path / "records"
    done = wherry(mpi, "tune", "--mpi", mpi.name, "-n", "4", "--sizes", "64", tuning=tuning)
    assert done.returncode == 0, done.stderr
    learned = {row.operation for row in store.rows(tuning)}
    # A program that ends while it trains again keeps nothing of that collective.
    assert len(TRAINED - learned) <= 1 and learned <= TRAINED, TRAINED - learned
    subprocess.run([str(mpi.mpi.mpicc), "-o", str(program), str(COLLECTIVE)], env=mpi.env, check=True)
    records.mkdir()
    variables = {"WHERRY_TUNING_FILE": str(tuning), "WHERRY_OUTPUT": str(records)}
    done = mpi.run([program, "40", "all:64"], 4, variables, preload=True)
    assert done.returncode == 0, done.stderr
    for rank in record.read_all(records).ranks:
        decisions: dict[str, list[str]] = {}
        for row in rank.tables["decisions"]:
            decisions.setdefault(rank.function(row["function"]), []).append(record_format.REASONS[row["reason"]])
        assert {name for name, reasons in decisions.items() if reasons == ["loaded"]} == learned, decisions


@on("openmpi")
def test_training_with_the_users_own_launcher(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    """test_launch.py has the others."""
    tuning = tmp_path / "tuning"
    words = ("tune", "--operations", "alltoall", "--sizes", "64", "--", *mpi.mpi.command(3, []))
    done = wherry(mpi, *words, tuning=tuning)
    assert done.returncode == 0, done.stderr
    assert {row.ranks for row in store.rows(tuning)} == {3}


def test_the_librarys_own_algorithms_are_measured(mpi: Launcher, tmp_path: Path) -> None:
    """Two ranks, the operation with the fewest algorithms: every one of them is measured or left out with a reason."""
    file = tmp_path / "results.json"
    words = ("tune", "--library", "--mpi", mpi.name, "-n", "2", "--operations", "reduce_scatter_block", "--sizes", "64")
    done = wherry(mpi, *words, "--launches", "1", "--quick", "-o", str(file), tuning=tmp_path / "t")
    assert done.returncode == 0, done.stderr
    found = load(file)
    tried = {row.algorithm for row in [*found.measurements, *found.excluded]} - {DEFAULT, AUTO}
    assert tried == set(algorithms(mpi.mpi, "reduce_scatter_block"))
    assert all(len(launch) == 10 for row in found.measurements for launch in row.samples)
    assert f"wrote {file}" in done.stdout
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tune", "--library"], "--library needs a file for its results"),
        (["tune", "--library", "-o", "/no/such/folder/r"], "is not a directory that you can write to"),
        (["tune", "--library", "-o", "r", "--", "mpiexec"], "--library starts its programs itself"),
        (["tune", "-n", "4", "--", "mpiexec", "-n", "4"], "leave out -n and --netlab"),
        (["tune", "--", "true"], "'true' is no launcher"),
        (["tune", "-n", "four"], "write numbers with commas"),
        (["export", "none.json", "--format", "openmp", "-o", "r"], "did you mean 'openmpi'?"),
        (["export", "none.json", "--format", "openmpi", "-o", "r"], "cannot read none.json"),
        (["export", "none.json", "--format", "openmpi", "-o", "/no/such/folder/r"], "cannot write"),
    ],
)
def test_wrong_usage_is_one_sentence_and_writes_nothing(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = invoke(*words)
    assert done.code == 2
    assert message in done.err.replace("\n", " ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("operation", "sizes", "learned"),
    [
        ("allreduce", (8, 64, 1024), (64, 1024)),
        ("bcast", (0, 1, 65, 128), (0, 1, 128)),
        ("alltoall", (8, 64, 1000, 1024), (8, 64, 1024)),
        ("barrier", (8, 64), (0,)),
    ],
)
def test_one_size_of_each_class_is_learned(operation: str, sizes: tuple[int, ...], learned: tuple[int, ...]) -> None:
    assert learned_sizes(operation, sizes) == learned
