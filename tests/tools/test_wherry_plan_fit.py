"""wherry-plan fit: samples in, constants out and into the tuning file; explain estimates by them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

SAMPLES = "exchange between 8 1 1e-3\none_way within 8 1 1e-6\none_way within 1048584 1 2.097152e-3\n"
MPI = "MPICH 5"


@pytest.fixture(scope="module")
def run(build: Path) -> Run:
    found = sorted(build.rglob("wherry-plan"))
    if not found:
        pytest.skip("wherry-plan is not built yet; run: make build")

    def run_it(*words: object, told: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(found[0]), *map(str, words)], input=told, capture_output=True, text=True, timeout=120
        )

    return run_it


def answer(run: Run, *words: object, told: str = "") -> Any:
    done = run(*words, told=told)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def machine_name() -> str:
    """As the runtime names it."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.split(": ", 1)[1] for line in lines if line.startswith("model name")]
    return f"{models[0] if models else 'unknown processor'} x {os.cpu_count()}"


def keep(run: Run, tuning: Path, machine: str, mpi: str, told: str = SAMPLES) -> None:
    answer(run, "fit", "--tuning", tuning, "--machine", machine, "--mpi", mpi, told=told)


def test_constants_with_their_units_defaults_and_origins(run: Run) -> None:
    rows = {row["name"]: row for row in answer(run, "fit", told=SAMPLES)}
    assert len(rows) == 10
    measured = {name: row["value"] for name, row in rows.items() if row["provenance"] == "measured"}
    assert measured["alpha_between"] == 1e-3
    assert measured["beta_within"] == pytest.approx(2.096152e-3 / 1048576)
    assert measured.keys() == {"alpha_between", "beta_within", "latency_within"}
    assert rows["gamma"]["value"] == rows["gamma"]["default"]
    assert {row["unit"] for row in rows.values()} == {"s", "s/B", "B", ""}


def test_without_a_file_nothing_is_kept(run: Run, tmp_path: Path) -> None:
    tuning = tmp_path / "tuning"
    answer(run, "fit", told=SAMPLES)
    assert not tuning.exists()
    keep(run, tuning, "a CPU", MPI)
    assert tuning.read_text().splitlines()[1].startswith("machine a%20CPU MPICH%205 - 0.001 ")


def test_explain_prices_by_the_row_of_this_machine(run: Run, tmp_path: Path) -> None:
    tuning = tmp_path / "tuning"
    question = ("explain", "-n", 8, "-m", 64, "--tuning", tuning)
    default = answer(run, "explain", "-n", 8, "-m", 64)
    assert answer(run, *question) == default  # no file yet
    keep(run, tuning, "another CPU", MPI)
    assert answer(run, *question) == default
    keep(run, tuning, machine_name(), MPI)
    fitted = answer(run, *question)
    assert (fitted["priced_by"]["fitted_with"], fitted["priced_by"]["fitted"]) == (MPI, [MPI])
    assert fitted["priced_by"]["constants"]["alpha_between"] == 1e-3
    direct, before = (next(row for row in told["candidates"] if row["name"] == "direct") for told in (fitted, default))
    # Seven messages to other nodes; all else costs the same.
    assert direct["seconds"] - before["seconds"] == pytest.approx(7 * (1e-3 - 8e-6))
    assert direct["messages"] == before["messages"]


def test_with_several_libraries_one_must_be_named(run: Run, tmp_path: Path) -> None:
    tuning = tmp_path / "tuning"
    keep(run, tuning, machine_name(), "Open MPI v5")
    keep(run, tuning, machine_name(), MPI, told="exchange between 8 1 2e-3\n")
    question = ("explain", "-n", 8, "-m", 64, "--tuning", tuning)
    told = answer(run, *question)["priced_by"]
    assert (told["fitted_with"], told["fitted"]) == ("", [MPI, "Open MPI v5"])
    assert told["constants"]["alpha_between"] == 8e-6
    told = answer(run, *question, "--mpi", MPI)["priced_by"]
    assert (told["fitted_with"], told["constants"]["alpha_between"]) == (MPI, 2e-3)
    assert answer(run, *question, "--mpi", "none")["priced_by"]["fitted_with"] == ""


def test_explain_prices_by_constants_that_are_given(run: Run, tmp_path: Path) -> None:
    tuning = tmp_path / "tuning"
    keep(run, tuning, machine_name(), MPI)
    question = ("explain", "-n", 8, "-m", 64)
    given = answer(run, *question, "--constants", "alpha_between=1e-3")
    assert given["priced_by"]["fitted_with"] == ""
    assert given["candidates"] == answer(run, *question, "--tuning", tuning)["candidates"]
    for words, message in (
        (["alpha=1"], "the cost model has no constant 'alpha'"),
        (["alpha_between=-1"], "'-1' is no alpha_between of any machine; write a number in s"),
        (["alpha_between=1e-3", "--tuning", tuning], "--constants and --tuning both name the constants"),
    ):
        refused = run(*question, "--constants", *words)
        assert refused.returncode == 2
        assert message in refused.stderr


def test_a_damaged_file_is_as_none(run: Run, tmp_path: Path) -> None:
    tuning = tmp_path / "tuning"
    keep(run, tuning, machine_name(), MPI)
    tuning.write_text(tuning.read_text().replace("0.001", "0.002"))
    told = answer(run, "explain", "-n", 8, "-m", 64, "--tuning", tuning)
    assert told["priced_by"]["fitted"] == []


@pytest.mark.parametrize(
    ("words", "told", "message"),
    [
        ([], "", "the samples tell no constant"),
        ([], "exchange within 8 1 1000\n", "the samples tell no constant"),
        (
            [],
            "copy within 8 1 1e-6\nnonsense\n",
            "line 2 is no sample: 'nonsense'; write PROBE WHERE BYTES FLOWS VALUE",
        ),
        ([], "copy within 8 1\n", "line 1 is no sample"),
        ([], "copy within 8 0 1\n", "line 1 is no sample"),
        ([], "copy within 8 1 1 1\n", "line 1 is no sample"),
        ([], "copy beside 8 1 1e-6\n", "line 1 is no sample"),
        (["--tuning", "file"], SAMPLES, "--tuning, --machine and --mpi belong together"),
        (["--tuning", "/proc/none/t", "--machine", "a", "--mpi", "b"], SAMPLES, "was not saved"),
        (["--tunig", "file"], SAMPLES, "did you mean '--tuning'?"),
    ],
)
def test_wrong_usage(run: Run, words: list[str], told: str, message: str) -> None:
    done = run("fit", *words, told=told)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_mpi_needs_a_file(run: Run) -> None:
    done = run("explain", "-n", 8, "-m", 64, "--mpi", MPI)
    assert done.returncode == 2
    assert "add --tuning FILE" in done.stderr
