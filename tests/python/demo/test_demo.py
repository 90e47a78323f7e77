"""The demo's own logic: reading outputs, comparing answers, ratios, and saying what is skipped. No MPI is needed."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from wherry import paths
from wherry.demo import main, measure, page, programs, results
from wherry.demo.cases import CASES, CORES, Ready, Skipped, select
from wherry.demo.measure import WITH, WITHOUT, Plan, Run
from wherry.demo.programs import Outcome, Start
from wherry.errors import UsageError, WherryError
from wherry.measure.harness import Samples
from wherry.run.mpis import Mpi, find_mpis

LAMMPS_OUTPUT = """Setting up Verlet run ...
   Step          Temp          E_pair
         0   1                -4.8586342
         5   0.962909150001   -4.8539898
Loop time of 1.5 on 4 procs for 5 steps with 1000 atoms
Section |  min time  |  avg time  |  max time  |%varavg| %total
Pair    | 0.1        | 0.2        | 0.3        |   2.1 |  5.35
Kspace  | 0.9        | 1.25       | 1.4        |   1.0 | 45.15
"""
IMB_OUTPUT = """# Benchmarking Alltoall
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0           50         0.03         0.04         0.04
           64           50         5.03         7.30         6.20
        16384           50         5.37         9.25         7.29
# Benchmarking Alltoallv
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
           64           50         3.53         5.50         4.38
"""
MPI = Mpi("openmpi", "openmpi", "openmpi", "5", Path("/nowhere"), Path("/nowhere/libmpi.so"), ["mpiexec"])
CASE = CASES[0]


def test_lammps_answers_its_thermo_table_and_reports_its_times() -> None:
    outcome = programs.read_lammps(LAMMPS_OUTPUT)
    assert outcome.answer == [[0, 1, -4.8586342], [5, 0.962909150001, -4.8539898]]
    assert outcome.seconds == {("time steps", ""): (1.5,), ("k-space part", ""): (1.25,)}


def test_imb_reports_the_slowest_rank_by_benchmark_and_size() -> None:
    outcome = programs.read_imb(IMB_OUTPUT)
    assert outcome.answer == [["Alltoall", "16 KiB"], ["Alltoall", "64 B"], ["Alltoallv", "64 B"]]
    assert outcome.seconds["Alltoall", "16 KiB"] == pytest.approx((9.25e-6,))
    twice = programs.read_imb(IMB_OUTPUT + IMB_OUTPUT)
    assert twice.seconds["Alltoallv", "64 B"] == pytest.approx((5.5e-6, 5.5e-6))


def test_a_fft_is_read_from_its_line_between_others() -> None:
    line = json.dumps({"seconds": [0.5, 0.25], "answer": {"error": 1e-15, "spectrum": "ab"}})
    outcome = programs.read_fft(f"a warning of the launcher\n{line}\n")
    assert outcome.seconds == {("round trip", ""): (0.5, 0.25)}


@pytest.mark.parametrize("read", [program.read for program in programs.PROGRAMS])
def test_output_without_a_result_is_an_error(read: Any) -> None:
    with pytest.raises(WherryError):
        read("the program said something else\n")


def test_an_equal_answer_has_no_differences() -> None:
    thermo = programs.read_lammps(LAMMPS_OUTPUT).answer
    assert not list(programs.thermo_differences(thermo, thermo))
    fft = {"error": 1e-15, "spectrum": "ab"}
    assert not list(programs.fft_differences(fft, fft))


@pytest.mark.parametrize("change", [1e-9, -1e-3, math.nan])
def test_a_thermo_table_beyond_the_tolerance_differs(change: float) -> None:
    thermo = programs.read_lammps(LAMMPS_OUTPUT).answer
    other = [thermo[0], [5, thermo[1][1] * (1 + change), thermo[1][2]]]
    assert list(programs.thermo_differences(thermo, other))
    assert list(programs.thermo_differences(thermo, thermo[:1]))


@pytest.mark.parametrize("answer", [{"error": 1e-15, "spectrum": "ba"}, {"error": math.nan, "spectrum": "ab"}])
def test_a_wrong_fft_differs(answer: dict[str, Any]) -> None:
    assert list(programs.fft_differences({"error": 1e-15, "spectrum": "ab"}, answer))


def test_what_cannot_run_is_skipped_with_a_reason() -> None:
    ready, skipped = select(CASES, [], "no root")
    assert not ready
    assert [row.case for row in skipped] == list(CASES)
    assert all(row.reason for row in skipped)


def test_every_case_has_a_name_of_its_own() -> None:
    assert len({case.name for case in CASES}) == len({str(case) for case in CASES}) == len(CASES)


def test_ranks_are_as_many_as_cores_and_more_are_named_so() -> None:
    for case in CASES:
        if not case.cluster:
            assert case.ranks == max(CORES, 2) or case.is_crowded
            assert case.is_crowded == (case.ranks > CORES)
        record = measure.records([], [Skipped(case, "")])[0]
        assert ("more ranks than cores" in record["network"]) == case.is_crowded
        assert ("core" in str(case)) == case.is_crowded
    assert any(case.is_crowded for case in CASES)


def test_an_unknown_program_is_named_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'lammps'"):
        main.chosen(["lamps"])


@pytest.mark.parametrize("where", ["file", "file/below", "folder"])
def test_an_output_that_cannot_be_written_is_wrong_usage_before_any_work(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("precious")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/demo").write_text("precious")  # where the demo would have a folder
    monkeypatch.setattr(main, "find_mpis", lambda: pytest.fail("it has begun to work"))
    with pytest.raises(SystemExit) as done:
        main.main(["--out", str(tmp_path / where)], prog_name="demo")
    assert done.value.code == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"demo: cannot write to --out {tmp_path / where}" in said and "name a directory" in said
    assert (tmp_path / "file").read_text() == "precious"
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["demo"]


class _Scripted:
    """Stands in for the launcher: gives outcomes in turn."""

    def __init__(self, outcomes: Sequence[Outcome | WherryError]) -> None:
        self.outcomes = list(outcomes)

    def run(self, ready: Ready, start: Start, extra: dict[str, str]) -> Outcome:
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, WherryError):
            raise outcome
        return outcome


def _outcome(seconds: float, spectrum: str = "ab") -> Outcome:
    return Outcome({"error": 1e-15, "spectrum": spectrum}, {("round trip", ""): (seconds, seconds, 100 * seconds)})


def _ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outcomes: Sequence[Outcome | WherryError]) -> Run:
    library = tmp_path / "libwherry.so"
    library.touch()
    monkeypatch.setattr("wherry.paths.preload_library", lambda: library)
    monkeypatch.setattr(measure, "_Launcher", lambda cluster: _Scripted(outcomes))
    ready = Ready(CASE, MPI, Start(("true",)), Start(("true",)))
    return measure.run_all([ready], tmp_path, Plan(2), None, lambda what, done, total: None)[0]


def test_the_ratio_is_of_the_least_medians_and_the_learning_launch_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = _ran(tmp_path, monkeypatch, [_outcome(t) for t in (0.001, 4.0, 2.0, 3.0, 1.5)])
    assert run.ratio(("round trip", "")) == 3.0 / 1.5
    assert run.compared == 4
    (record,) = measure.records([run], [])
    assert {"bench", "case", "metric", "unit", "value", "baseline", "ratio", "mpi", "ranks", "samples"} <= set(record)
    assert record["samples"][1] == {"launch": 1, "without": [3.0, 3.0, 300.0], "with": [1.5, 1.5, 150.0]}


@pytest.mark.parametrize("wrong", range(5))
def test_another_answer_in_any_launch_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: int) -> None:
    run = _ran(tmp_path, monkeypatch, [_outcome(1.0, "ba" if i == wrong else "ab") for i in range(5)])
    assert run.problems
    assert not results.lines([run])
    assert measure.records([run], [])[0]["metric"] == "failed"


def test_a_launch_that_fails_is_a_problem_with_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = _ran(tmp_path, monkeypatch, [_outcome(1.0), _outcome(1.0), WherryError("it ended with code 9: <broken>")])
    assert "code 9" in run.problems[0]
    assert "&lt;broken&gt;" in page.page([run], [])


def test_slower_is_said_as_plainly_as_faster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = _ran(tmp_path, monkeypatch, [_outcome(t) for t in (1.0, 1.0, 2.0, 1.0, 2.0)])
    (line,) = results.lines([run])
    assert (line.verdict, line.ratio_text) == ("slower", "0.50")
    console = Console(record=True, width=100, file=io.StringIO())
    main.show(console, [run], [Skipped(CASES[-1], "needs root")])
    shown = console.export_text()
    assert "0.50" in shown
    assert "needs root" in shown
    assert "1 slower" in main._conclusion([run])


def test_launches_that_scatter_are_called_unclear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = _ran(tmp_path, monkeypatch, [_outcome(t) for t in (1.0, 1.0, 3.0, 4.0, 2.0)])
    (line,) = results.lines([run])
    assert (line.won, line.verdict, line.ratio_text) == (0.5, "unclear", "0.50?")


def test_several_sizes_become_one_line_with_their_mean_and_range() -> None:
    run = Run(Ready(replace(CASE, program=programs.IMB), MPI, Start(()), Start(())), Path())
    for size, with_ in (("64 B", 2.0), ("1 KiB", 0.5)):
        run.measures.append(("Alltoall", size))
        run.table.rows.append(Samples(f"Alltoall {size}", WITHOUT, "s", 0, (1.0,)))
        run.table.rows.append(Samples(f"Alltoall {size}", WITH, "s", 0, (with_,)))
    (line,) = results.lines([run])
    assert line.ratio == pytest.approx(1.0)
    assert (line.lowest, line.highest, line.verdict) == (0.5, 2.0, "equal")


def test_the_page_needs_nothing_from_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = _ran(tmp_path, monkeypatch, [_outcome(1.0)] * 5)
    text = page.page([run], [Skipped(CASES[-1], "needs <root>")])
    assert "needs &lt;root&gt;" in text
    assert not any(word in text for word in ("http://", "https://", "<script", "src="))


def test_a_real_program_gives_the_same_answer_under_wherry(tmp_path: Path) -> None:
    case = replace(CASES[0], options=("--shape", "8", "8", "8", "--repeat", "40"), learning=())
    if not paths.preload_library().exists():
        pytest.skip("Wherry is not built; run: make build")
    ready, skipped = select([case], find_mpis(), "not needed")
    if skipped:
        pytest.skip(skipped[0].reason)
    (run,) = measure.run_all(ready, tmp_path, Plan(1), None, lambda what, done, total: None)
    assert not run.problems
    assert run.compared == 2
    assert "Who sends to whom" in page.page([run], [])
