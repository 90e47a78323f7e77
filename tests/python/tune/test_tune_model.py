"""The constants of the cost model: what is measured, fitted, kept and used. No clocks: tests/netlab has those."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke
from conftest import BUILD, Launcher, clean_environment, on

from wherry import paths
from wherry.errors import UsageError, WherryError
from wherry.measure import harness
from wherry.measure.harness import Setup
from wherry.run.mpis import Family, Mpi
from wherry.schedule import plan
from wherry.schedule.explain import constants_used
from wherry.tune import model, store, tables

HEAD = {"machine": "a CPU x 2", "mpi": "MPICH Version:      5.0.2", "ranks": 4, "nodes": 2}
#: All that has to do with messages inside of a node, and with copies.
LOCAL = {"alpha_within", "beta_within", "gamma", "latency_within"}
NAMES = [
    *("alpha_within", "alpha_between", "beta_within", "beta_between", "gamma"),
    *("latency_within", "latency_between", "eager_between", "rendezvous", "congestion"),
]


def line(probe: str, where: str, size: int, flows: int, *samples: float) -> str:
    return json.dumps({"probe": probe, "where": where, "bytes": size, "flows": flows, "samples": samples})


def printed(*lines: str) -> str:
    return "\n".join(["hello", json.dumps(HEAD), *lines, "warning: x"])


# What the program prints


def test_samples_become_lines_for_the_fit() -> None:
    found = model.parse(printed(line("one_way", "within", 8, 1, 1e-6, 0.25), line("flows", "between", 1024, 4, 8e-9)))
    assert (found.machine, found.mpi, found.ranks, found.nodes) == tuple(HEAD.values())
    assert found.samples == [
        "one_way within 8 1 1e-06",
        "one_way within 8 1 0.25",
        "flows between 1024 4 8e-09",
    ]


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("", "did not say where it ran"),
        (line("copy", "within", 8, 1, 1e-6), "did not say where it ran"),
        (printed("{broken"), "printed a damaged line: {broken"),
        (printed('{"probe": "copy", "where": "within"}'), "something else than samples: KeyError"),
        (printed(line("copy", "within", 8, 1).replace("[]", '["x"]')), "something else than samples: ValueError"),
    ],
)
def test_damaged_output_is_an_error(output: str, message: str) -> None:
    with pytest.raises(WherryError, match=message):
        model.parse(output)


def where_program_runs(mpi: Launcher, n: int, env: Mapping[str, str]) -> str:
    program = BUILD / "bench" / mpi.name / "bench_model"
    if not program.exists():
        pytest.skip(f"bench_model is not built for {mpi.name}; run: make build")
    done = mpi.run([program], n, env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def constants_of(samples: Sequence[str]) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in json.loads(plan.ask(["fit"], "\n".join(samples)))}


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("per_node", [0, 2])
def test_measured_constants_are_sane(mpi: Launcher, build: Path, n: int, per_node: int) -> None:
    """Each constant that the placement lets a program see is measured, positive and finite."""
    env = {"WHERRY_RANKS_PER_NODE": str(per_node)} if per_node else {}
    found = model.parse(where_program_runs(mpi, n, env))
    nodes = math.ceil(n / per_node) if per_node else 1
    assert (found.ranks, found.nodes) == (n, nodes)
    assert found.machine
    assert found.mpi
    constants = constants_of(found.samples)
    assert list(constants) == NAMES
    seen = {name for name, row in constants.items() if row["provenance"] != "missing"}
    shared = n > 1
    assert seen >= {"gamma"} | (LOCAL if shared else set())
    assert seen.isdisjoint(LOCAL - {"gamma"}) or shared
    apart = {"alpha_between", "beta_between", "latency_between", "eager_between"}
    assert seen >= apart if nodes > 1 else seen <= LOCAL
    # With a single flow nothing can crowd.
    assert ("congestion" in seen) == (n - (per_node or n) > 1)
    for name, row in constants.items():
        assert math.isfinite(row["value"]), name
        assert row["value"] > 0 or name == "congestion", name
        assert (row["value"] == row["default"]) or row["provenance"] == "measured", name


# Launches that answer at once


@pytest.fixture
def instant(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """Each launch says that a message takes longer than in the one before. Returns what was launched."""
    asked: list[list[str]] = []

    def run(self: harness.Testbed, ranks: int, args: list[str], env: dict[str, str]) -> str:
        asked.append([str(ranks), *args])
        return printed(line("exchange", "within", 8, 1, len(asked) * 1e-6))

    monkeypatch.setattr(harness.Testbed, "run", run)
    monkeypatch.setattr(harness, "program", lambda mpi, name: f"bench_{name}")
    monkeypatch.setenv("WHERRY_TUNING_FILE", str(tmp_path / "tuning"))
    return asked


def fake_mpi(family: Family = "mpich", version: str = "5.0.2") -> Mpi:
    return Mpi("fake", family, "mpich", version, Path("/x"), Path("/x/libmpi.so"), ["mpiexec"])


def test_launches_are_pooled_and_what_they_tell_is_kept(instant: list[list[str]], build: Path, tmp_path: Path) -> None:
    found = model.fit(Setup(mpi=fake_mpi()), 6, [])
    assert instant == [["6", "bench_model"]] * 3
    first, *others = found.constants
    assert first == model.Constant("alpha_within", "s", 1e-6, 6e-7, "measured")
    assert {row.provenance for row in others} == {"missing"}
    row = "machine a%20CPU%20x%202 MPICH%20Version:%20%20%20%20%20%205.0.2 1e-06 - - - - - - - - -"
    assert (tmp_path / "tuning").read_text().splitlines()[:2] == ["wherry-tuning 2", row]
    assert store.fitted_with(tmp_path / "tuning") == [HEAD["mpi"]]


def test_a_file_that_is_not_ours_is_left_alone(instant: list[list[str]], build: Path, tmp_path: Path) -> None:
    (tmp_path / "tuning").write_text("my thesis")
    with pytest.raises(UsageError, match="not a tuning file"):
        model.fit(Setup(mpi=fake_mpi(), launches=1), 2, [])
    assert (tmp_path / "tuning").read_text() == "my thesis"


def test_the_table_has_units_people_know() -> None:
    rows = [
        model.Constant("alpha_within", "s", 1.5e-6, 6e-7, "measured"),
        model.Constant("beta_between", "s/B", 1 / 2**20, 1 / 2**27, "missing"),
        model.Constant("gamma", "s/B", 1 / 2**33, 1 / 2**30, "measured"),
        model.Constant("eager_between", "B", 65536, 65536, "absurd"),
    ]
    columns = [list(column.cells) for column in tables.constants(rows).columns]
    assert columns[1] == ["1.5 us", "[dim]not measured[/]", "8 GiB/s", "[dim]not plausible[/]"]
    assert columns[2] == ["600 ns", "128 MiB/s", "1 GiB/s", "64 KiB"]


# Which constants explain uses


def test_the_row_of_an_mpi_is_found_by_family_and_version(tmp_path: Path) -> None:
    file = tmp_path / "tuning"
    names = [
        "Open%20MPI%20v5.0.11",
        "MPICH%20Version:%20%20%205.0.2",
        "Intel(R)%20MPI%20Library%202021.18%20for%20Linux",
    ]
    file.write_text("wherry-tuning 2\n" + "".join(f"machine CPU {name} 1e-6\n" for name in names))
    assert store.constants_for(None, None) == []
    assert store.constants_for(tmp_path / "none", fake_mpi()) == []
    assert store.constants_for(file, None) == ["--tuning", str(file)]
    for mpi, name in (
        (fake_mpi("mpich", "5.0.2"), "MPICH Version:   5.0.2"),
        (fake_mpi("openmpi", "5.0.11"), "Open MPI v5.0.11"),
        (fake_mpi("intel", "2021.18.0"), "Intel(R) MPI Library 2021.18 for Linux"),
        (fake_mpi("intel", "2021"), "Intel(R) MPI Library 2021.18 for Linux"),
        (fake_mpi("mpich", "4.0.2"), "fake"),
        (fake_mpi("mpich", "5.0.21"), "fake"),
        (fake_mpi("openmpi", "5.0.1"), "fake"),
    ):
        assert store.constants_for(file, mpi) == ["--tuning", str(file), "--mpi", name]


@pytest.mark.parametrize(
    ("fitted_with", "fitted", "said"),
    [
        ("", [], "by default constants; `wherry tune --model` fits"),
        (
            "",
            ["MPICH   5", "Open MPI"],
            "by default constants; fitted ones are known with MPICH 5, Open MPI: choose by --mpi",
        ),
        ("MPICH   5", ["MPICH   5"], "by constants fitted to this machine with MPICH 5."),
    ],
)
def test_explain_says_whose_constants_it_has(fitted_with: str, fitted: list[str], said: str) -> None:
    assert said in constants_used({"fitted_with": fitted_with, "fitted": fitted})


# Real runs


def wherry(mpi: Launcher, *words: str, tuning: Path) -> str:
    if not paths.bench_program(mpi.name, "model").exists():
        pytest.skip(f"bench_model is not built for {mpi.name}; run: make build")
    env = {**clean_environment(), "WHERRY_TUNING_FILE": str(tuning)}
    command = [sys.executable, "-m", "wherry", *words]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return " ".join(done.stdout.split())


def explained(mpi: Launcher, *words: str, tuning: Path) -> str:
    return wherry(mpi, "explain", "alltoall", "-n", "8", "--nodes", "4", "-m", "64", *words, tuning=tuning)


def test_constants_are_fitted_kept_and_used(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    tuning = tmp_path / "tuning"
    assert "Estimated by default constants; `wherry tune --model`" in explained(mpi, tuning=tuning)
    said = wherry(mpi, "tune", "--model", "--mpi", mpi.name, "--quick", tuning=tuning)
    assert all(name in said for name in NAMES)
    assert "beta_between not measured" in said
    assert f"2 ranks on 1 node; stored in {tuning}" in said
    (library,) = store.fitted_with(tuning)
    for words in ((), ("--mpi", mpi.name)):
        told = explained(mpi, *words, tuning=tuning)
        assert f"fitted to this machine with {' '.join(library.split())}." in told
        assert "damaged" not in told


@on("openmpi")
def test_constants_with_the_users_own_launcher(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    """test_launch.py has the others."""
    words = ("tune", "--model", "--quick", "--", *mpi.mpi.command(3, []))
    assert "3 ranks on 1 node" in wherry(mpi, *words, tuning=tmp_path / "tuning")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--model", "--library"], "leave out --library"),
        (["--model", "--sizes", "64"], "leave out --library, --operations, --sizes and -o"),
        (["--model", "-n", "2,4"], "give one with -n"),
        (["--model", "-n", "4", "--", "mpiexec", "-n", "4"], "leave out -n and --netlab"),
        (["--model", "--", "true"], "'true' is no launcher"),
    ],
)
def test_wrong_usage_is_one_sentence_and_writes_nothing(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str], message: str
) -> None:
    monkeypatch.setenv("WHERRY_TUNING_FILE", str(tmp_path / "tuning"))
    monkeypatch.chdir(tmp_path)
    done = invoke("tune", *words)
    assert done.code == 2
    assert message in " ".join(done.err.split())
    assert list(tmp_path.iterdir()) == []
