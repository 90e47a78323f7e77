"""The C, C++ and Python functions on every MPI, against the MPI call; beside the preload; until MPI_Finalize."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import Launcher, enough, hermetic

from wherry.analysis.record import read
from wherry.run import settings

HERE = Path(__file__).resolve().parent
RANKS = (1, 2, 3, 5, 8)
# Runs the same steps on all machines: the learner's choices depend on times.
MESH = {"WHERRY_ALLTOALL": "mesh", "WHERRY_ALLTOALLV": "mesh", "WHERRY_ALLTOALLW": "mesh"}
# Of collectives on segments; those that reduce keep the order of ranks, as some of the calls need it.
MOVES = {"allgather": "bruck", "bcast": "chain", "gather": "binomial", "scatter": "linear", "barrier": "binomial"}
REDUCTIONS = {"reduce": "rabenseifner", "allreduce": "mesh", "reduce_scatter_block": "recursive_halving_ordered"}


def program(mpi: Launcher, build: Path, name: str) -> Path:
    return build / "tests" / "api" / mpi.name / name


def strategies_in(output: str) -> set[str]:
    return {line.removeprefix("ran ") for line in output.splitlines() if line.startswith("ran ")}


@pytest.mark.parametrize("n", RANKS)
@pytest.mark.parametrize("name", ["collectives", "errors", "moves", "reductions", "shapes"])
def test_like_mpi(mpi: Launcher, build: Path, name: str, n: int) -> None:
    done = mpi.run([program(mpi, build, name)], n, hermetic({}), timeout=180)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("n", RANKS)
@pytest.mark.parametrize("name", ["python_collectives.py", "python_segments.py"])
def test_python_like_mpi4py(mpi: Launcher, installed: Path, name: str, n: int) -> None:
    done = run_python(mpi, installed, name, n, {})
    if n == 1:
        assert {ran.split()[-1] for ran in strategies_in(done.stdout)} == {"native"}


def run_python(
    mpi: Launcher, installed: Path, name: str, n: int, env: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    if mpi.python is None:
        pytest.skip(f"{mpi.name} has no mpi4py")
    done = mpi.run([mpi.python, HERE / name], n, {"PYTHONPATH": str(installed), **env, **hermetic({})}, timeout=180)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def check_followed(output: str, asked: Mapping[str, str]) -> None:
    """Each collective ran as asked, but for the first call on the communicator and those of no bytes."""
    ran = {name: {row.split()[1] for row in strategies_in(output) if row.split()[0] == name} for name in asked}
    for name, strategy in asked.items():
        assert strategy in ran[name] <= {strategy, "native"}, (name, ran[name])


def settings_for(asked: Mapping[str, str]) -> dict[str, str]:
    return {f"WHERRY_{name.upper()}": strategy for name, strategy in asked.items()}


@pytest.mark.parametrize(("name", "asked"), [("moves", MOVES), ("reductions", REDUCTIONS)])
def test_each_setting_is_followed(mpi: Launcher, build: Path, name: str, asked: dict[str, str]) -> None:
    done = mpi.run([program(mpi, build, name)], mpi.few(5), {**settings_for(asked), **hermetic({})})
    assert done.returncode == 0, done.stdout + done.stderr
    check_followed(done.stdout, asked)


def test_each_setting_is_followed_in_python(mpi: Launcher, installed: Path) -> None:
    asked = {**MOVES, **REDUCTIONS}
    check_followed(run_python(mpi, installed, "python_segments.py", mpi.few(5), settings_for(asked)).stdout, asked)


def test_settings_are_followed(mpi: Launcher, build: Path) -> None:
    """The first call on a communicator is native."""
    done = mpi.run([program(mpi, build, "collectives"), "10"], mpi.few(5), {**MESH, **hermetic({})})
    assert done.returncode == 0, done.stderr
    assert {"mesh", "native"} <= strategies_in(done.stdout) <= {"mesh", "native", "pairwise_xor"}


def test_disabled_is_native(mpi: Launcher, build: Path) -> None:
    done = mpi.run([program(mpi, build, "collectives"), "4"], mpi.few(5), {**MESH, "WHERRY_DISABLE": "1"})
    assert done.returncode == 0, done.stderr
    assert strategies_in(done.stdout) == {"native"}


def test_wrong_settings_are_said_once(mpi: Launcher, build: Path) -> None:
    done = mpi.run([program(mpi, build, "collectives")], 2, {"WHERRY_STAGING_MAX": "-1", **hermetic({})})
    assert done.returncode == 0, done.stderr
    assert (done.stdout + done.stderr).count("WHERRY_STAGING_MAX='-1' is not a size") == 1


def test_unknown_strategies_are_said_once_with_the_nearest_name(mpi: Launcher, build: Path) -> None:
    asked = {"WHERRY_ALLTOALL": "brucks2", "WHERRY_BCAST": "chian"}
    done = mpi.run([program(mpi, build, "collectives")], 2, {**asked, **hermetic({})})
    assert done.returncode == 0, done.stderr
    told = settings.problems(asked)  # what `wherry run` says before it starts a program
    chain, bruck2 = told
    assert "did you mean 'chain'?" in chain
    assert "did you mean 'bruck2'?" in bruck2
    for problem in told:
        assert (done.stdout + done.stderr).count(f"wherry: {problem}\n") == 1, problem


def test_what_was_learned_is_saved_in_finalize(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    tuning = tmp_path / "tuning"
    done = mpi.run([program(mpi, build, "collectives")], enough(mpi.name), {"WHERRY_TUNING_FILE": str(tuning)})
    assert done.returncode == 0, done.stderr
    assert tuning.stat().st_size > 0


def test_preload_sees_no_inner_call(mpi: Launcher, build: Path, preload: Path, tmp_path: Path) -> None:
    """The record has the program's own MPI calls and nothing that Wherry does for the calls by name."""
    env = {**MESH, "WHERRY_OUTPUT": str(tmp_path)}
    n = mpi.few(5)
    done = mpi.run([program(mpi, build, "collectives")], n, env, preload=True)
    assert done.returncode == 0, done.stderr
    assert "mesh" in strategies_in(done.stdout)
    records = [read(path) for path in sorted(tmp_path.glob("*.wrec"))]
    assert len(records) == n
    for record in records:
        calls: Counter[str] = Counter()
        for row in record.tables["calls"]:
            calls[record.function(row["function"])] += int(row["count"])
        # What the program calls as the oracle in each of its 30 rounds, and around them.
        assert calls["MPI_Alltoall"] == 30 * 9
        assert calls["MPI_Alltoallv"] == 30 * 4
        assert calls["MPI_Alltoallw"] == 30
        assert calls["MPI_Allreduce"] == 1
        communicating = {"MPI_Isend", "MPI_Irecv", "MPI_Sendrecv", "MPI_Waitall", "MPI_Comm_split", "MPI_Iallreduce"}
        assert not communicating & set(calls)
