"""All collectives in all forms, on all kinds of types and sizes, against what the program computes by itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Launcher
from preloading import FORCED, PROGRESSED, asking_for, compile_program, records_in, uses_of

RANKS = [1, 2, 3, 5, 7, 8, 13]
#: By the forms: blocking, nonblocking, persistent. Of every k-th type, where many ranks share few processors, unless
#: `pytest --whole-matrix` asks for all.
CHECKS = {
    1: {"b": 545, "n": 509, "p": 1014},
    2: {"b": 275, "n": 257, "p": 510},
    3: {"b": 185, "n": 173, "p": 342},
}
FUNCTIONS = {"b": "MPI_{0}", "n": "MPI_I{1}", "p": "MPI_{0}_init"}

#: Libraries whose own calls are wrong, or missing, in a form.
NATIVE_FORMS = {"debian-openmpi": "bn", "intel": "bn", "debian-mpich": "bn"}

NEIGHBORS = tuple(f"Neighbor_{name}" for name in ("alltoall", "alltoallv", "alltoallw", "allgather", "allgatherv"))
STRATEGIES = {
    "several": FORCED["several"] | dict.fromkeys(NEIGHBORS, "node_aware"),
    "others": FORCED["others"] | dict.fromkeys(NEIGHBORS, "direct"),
    "three": FORCED["others"] | {"Reduce": "linear"} | dict.fromkeys(NEIGHBORS, "direct"),
}
#: By the number of ranks. Two have the direct algorithm only, and one has none.
TOLD = {3: "three", 5: "several", 7: "others", 8: "several", 13: "several"}


def expected_uses(strategies: dict[str, str], forms: str) -> set[tuple[str, str]]:
    return {
        (FUNCTIONS[form].format(collective, collective.lower()), strategy)
        for collective, strategy in strategies.items()
        for form in forms
    }


@pytest.fixture(scope="session")
def matrix(mpi: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(mpi, "matrix.c", tmp_path_factory.mktemp(f"matrix-{mpi.name}") / "matrix", ["-lm"])


def stride(n: int, whole: bool) -> int:
    return 1 if whole or n <= 5 else 2 if n <= 8 else 3


@pytest.mark.parametrize("n", RANKS)
def test_every_collective(
    mpi: Launcher,
    preload: Path,
    matrix: Path,
    n: int,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    record_property: Callable[[str, object], None],
) -> None:
    every = stride(n, request.config.getoption("--whole-matrix"))
    if every > 1:
        record_property("part", f"test_matrix.py on {n} ranks: one of {every} types (--whole-matrix runs all)")
    forms = NATIVE_FORMS.get(mpi.name, "bnp")
    strategies = STRATEGIES[TOLD[n]] if n in TOLD else {}
    env = {**asking_for(strategies), "WHERRY_RANKS_PER_NODE": "2", "WHERRY_NONBLOCKING": "1"}
    if mpi.name in PROGRESSED and strategies:
        env["TEST_WHERRY_PERFORMS"] = "1"
    done = mpi.run([matrix, forms, str(every)], n, {**env, "WHERRY_OUTPUT": str(tmp_path)}, preload=True, timeout=900)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    checks = re.findall(r"^rank \d+: (\d+) checks, 0 failures$", done.stdout, re.MULTILINE)
    assert checks == [str(sum(CHECKS[every][form] for form in forms))] * n
    records = records_in(tmp_path)
    assert len(records) == n
    expected = expected_uses(strategies, forms if mpi.name in PROGRESSED else "b")
    assert [expected - uses_of(record) for record in records] == [set()] * n


@pytest.mark.parametrize("mpi", PROGRESSED, indirect=True)
def test_only_blocking_calls_are_wherrys_unless_asked(
    mpi: Launcher, preload: Path, matrix: Path, tmp_path: Path
) -> None:
    env = {**asking_for(STRATEGIES["three"]), "WHERRY_OUTPUT": str(tmp_path)}
    done = mpi.run([matrix, "np"], 3, env, preload=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    functions = {function for record in records_in(tmp_path) for function, _ in uses_of(record)}
    assert not [name for name in functions if name.startswith("MPI_I") or name.endswith("_init")]
