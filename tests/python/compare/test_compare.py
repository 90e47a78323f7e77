"""`wherry compare`: what runs, in which order, what is compared, and what is said of runs that cannot be."""

from __future__ import annotations

import contextlib
import io
import json
import re
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import Launcher, clean_environment, on
from rich.console import Console

from wherry.compare import command, compare, text
from wherry.compare.launching import Reading, RunFailed, Sample, Started, Variant
from wherry.compare.levers import ALGORITHMS, LEVERS, OPERATIONS, levers
from wherry.compare.rounds import EVERYTHING, NATIVE, Comparison, Experiment, differ, order, without
from wherry.run import runner, settings
from wherry.run.check import Finding

if TYPE_CHECKING:
    from command_line import Invoke

pytest_plugins = ["commanding"]

NAMES = ["native", "Wherry", "without cache"]
COUNTS = {"user_s": 0.1, "system_s": 0.1, "faults": 10, "waits": 0, "preemptions": 5, "peak_bytes": 1 << 20}


# order


def test_every_round_has_every_variant_once() -> None:
    turns = order([Variant(name, None) for name in NAMES], 50, seed=7)
    for n in range(50):
        assert sorted(variant.name for number, variant in turns if number == n) == sorted(NAMES)
    assert [number for number, _ in turns] == sorted(number for number, _ in turns)


def test_the_order_is_random_and_the_seed_repeats_it() -> None:
    variants = [Variant(name, None) for name in NAMES]
    first = Counter(variant.name for n, (_, variant) in enumerate(order(variants, 300, seed=7)) if n % 3 == 0)
    assert all(70 <= first[name] <= 130 for name in NAMES), f"seed 7: {first}"
    assert order(variants, 50, seed=7) == order(variants, 50, seed=7)
    assert order(variants, 50, seed=7) != order(variants, 50, seed=8)


# levers


def test_every_lever_names_settings_that_there_are_or_is_left_out() -> None:
    names = {lever.name for lever in levers({}, None)}
    for lever in LEVERS:
        if not lever.off.keys() <= settings.VARIABLES.keys():
            assert lever.name not in names
    assert {"profiling", "collectives", "all algorithms", "cache", "MPI_Alltoall", "MPI_Reduce_scatter"} <= names


def test_every_collective_with_a_setting_is_a_lever() -> None:
    variables = {name for lever in OPERATIONS for name in lever.off}
    expected = {name for name, variable in settings.VARIABLES.items() if variable.names}
    assert variables == expected - {"WHERRY_SPARSE_EXCHANGE"} == set(ALGORITHMS.off)
    assert all(value == "native" for lever in OPERATIONS for value in lever.off.values())


def test_levers_that_cannot_matter_are_left_out() -> None:
    def names(given: dict[str, str], called: set[str]) -> list[str]:
        kept = ("waiting", "memory")
        return [lever.name for lever in levers(given, called) if lever.name not in kept]

    assert names({}, {"MPI_Send"}) == ["profiling", "collectives"]
    assert names({}, {"MPI_Bcast"}) == ["profiling", "collectives", "MPI_Bcast"]
    assert "all algorithms" in names({}, {"MPI_Bcast", "MPI_Reduce"})
    assert names({"WHERRY_NO_PROFILE": "1"}, set()) == ["collectives"]
    assert "nonblocking" in names({"WHERRY_NONBLOCKING": "1"}, set())
    assert "cache" in names({}, {"MPI_Get"})
    assert "cache" in names({}, {"MPI_Fetch_and_op"})
    assert "layout" in names({}, {"MPI_Unpack"})
    assert "layout" in [lever.name for lever in levers({}, {"MPI_Isend"}, {"MPI_Isend"})]
    assert "layout" in [lever.name for lever in levers({}, {"MPI_Send"}, {"MPI_Send"})]
    assert "layout" not in [lever.name for lever in levers({}, {"MPI_Send", "MPI_Bcast"}, {"MPI_Bcast"})]


# answers and times


def test_answers_differ_by_text_or_by_more_than_the_tolerance() -> None:
    assert not differ(["1.0", ("a", "2")], ["1.00", ("a", "2")], 0)
    assert differ(["1.0"], ["1.0000001"], 0)
    assert not differ(["1.0"], ["1.0000001"], 1e-6)
    assert differ(["1.0"], ["1.0", "2.0"], 1)
    assert differ(["nan"], ["1"], 1)
    assert not differ(["nan"], ["nan"], 0)


def test_the_last_time_counts() -> None:
    reading = Reading(time=re.compile(r"T (\S+)"))
    assert reading.seconds("T 1.5\nT 2.5\n") == 2.5
    for output, why in (("", "printed no time"), ("T x", "no number"), ("T 0", "above 0"), ("T nan", "above 0")):
        with pytest.raises(ValueError, match=why):
            reading.seconds(output)


# sentences


def comparison(seconds: dict[str, list[float]], why: bool = False) -> Comparison:
    samples = [
        Sample(variant, n, {"wall_s": value, **COUNTS})
        for variant, values in seconds.items()
        for n, value in enumerate(values)
    ]
    rounds = len(seconds[NATIVE])
    left_out = [lever for lever in LEVERS if without(lever) in seconds]
    return Comparison(Experiment(rounds, 5, why), list(seconds), samples, left_out=left_out, mpi="MPICH 5", ranks=2)


def shown(result: Comparison) -> str:
    console = Console(file=io.StringIO(), width=120)
    text.show(console, result)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_a_gain_is_told_with_its_interval() -> None:
    page = shown(comparison({NATIVE: [2.0, 2.02, 1.98, 2.0], EVERYTHING: [1.0, 1.0, 1.0, 1.0]}))
    assert re.search(r"with Wherry 50\.0% less wall time \(95%: 49\.\d to 50\.\d%\)", page)
    assert "2 ranks of MPICH 5, 4 rounds, in random order in each (--seed 5)" in page
    assert "answers: not compared" in page
    assert "--why tells" in page


def test_a_loss_is_told_as_a_loss() -> None:
    page = shown(comparison({NATIVE: [1.0, 1.0, 1.0, 1.01], EVERYTHING: [1.5, 1.5, 1.49, 1.5]}))
    assert re.search(r"with Wherry 49\.\d% more wall time \(95%: 4\d\.\d to 5\d\.\d%\)", page)


def test_what_is_open_says_how_many_rounds_would_settle_it() -> None:
    page = shown(comparison({NATIVE: [1.0, 1.2, 0.9, 1.1], EVERYTHING: [1.0, 1.0, 1.0, 1.0]}))
    assert "no measurable difference in wall time" in page
    found = re.search(r"about (\d+) more rounds? \(-n (\d+)\)", page)
    assert found is not None
    assert int(found[2]) == int(found[1]) + 4
    assert "less" not in page


NEAR = [1.0, 1.01, 0.99, 1.0, 1.0, 1.01]
ALL_ALGORITHMS = f"without {ALGORITHMS.name}"


def slower(factor: float) -> list[float]:
    return [factor * value for value in reversed(NEAR)]


def test_the_lever_that_made_the_difference_is_named() -> None:
    times = {NATIVE: slower(1.55), EVERYTHING: NEAR, "without profiling": slower(1), "without MPI_Bcast": slower(1.5)}
    result = comparison({**times, "without collectives": slower(1.55)}, why=True)
    assert text.reason(result) == "made it faster: collectives (1.55), MPI_Bcast (1.50)"
    assert re.search(r"without MPI_Bcast +1\.03\d \(.*\) +1\.50\d \(", shown(result))


def test_an_accident_is_told_from_an_algorithm() -> None:
    times = {NATIVE: slower(1.55), EVERYTHING: NEAR, "without collectives": slower(1.55), ALL_ALGORITHMS: slower(1)}
    said = text.reason(comparison(times, why=True))
    assert said.startswith("made it faster: collectives (1.55). It is not the algorithm of any collective")


def test_no_lever_is_named_where_none_differs() -> None:
    times = {NATIVE: slower(1), EVERYTHING: NEAR, "without collectives": slower(1), "without profiling": slower(1)}
    assert text.reason(comparison(times, why=True)).startswith("no measurable difference")


def test_a_lever_that_costs_is_named() -> None:
    times = {NATIVE: NEAR, EVERYTHING: slower(1.8), "without collectives": NEAR, ALL_ALGORITHMS: slower(1.8)}
    assert text.reason(comparison(times, why=True)).startswith("made it slower: collectives (0.56). It is not")


# the command


def script(folder: Path, body: str) -> str:
    path = folder / "program"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_both_ways_run_and_only_one_has_wherry(wherry: Invoke, tmp_path: Path, prefix: Path) -> None:
    log = tmp_path / "log"
    program = script(tmp_path, f'echo "$LD_PRELOAD|$WHERRY_VERBOSE|${{WHERRY_TUNING_FILE:+file}}" >>{log}; echo T 1.5')
    answer = wherry("compare", "-n", "3", "--time", "T (.*)", "--json", tmp_path / "out.json", "--", program)
    assert answer.code == 0, answer.err
    seen = Counter(log.read_text().splitlines())
    assert seen == {"||": 4, f"{prefix}/lib/wherry/libwherry.so||file": 4}
    assert "no measurable difference in time that the program prints" in answer.out
    assert "Wherry did not reach the program" in answer.out
    wall, own = json.loads((tmp_path / "out.json").read_text())
    assert (own["ratio"], own["value"], own["metric"]) == (1, 1.5, "time that the program prints")
    assert Counter(sample["variant"] for sample in wall["samples"]) == {NATIVE: 3, EVERYTHING: 3}
    assert all(sample["wall_s"] > 0 and sample["faults"] > 0 for sample in wall["samples"])
    assert {"machine", "commit", "mpi", "ranks", "seed", "statistic", "low", "high", "baseline"} <= wall.keys()


def test_settings_of_the_caller_are_for_wherry(wherry: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHERRY_VERBOSE", "1")
    log = tmp_path / "log"
    program = script(tmp_path, f'echo "$WHERRY_VERBOSE" >>{log}')
    assert wherry("compare", "-n", "2", "--", program).code == 0
    assert Counter(log.read_text().splitlines()) == {"": 3, "1": 3}


def test_the_callers_tuning_file_is_copied_and_stays(
    wherry: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tuning, log = tmp_path / "tuning", tmp_path / "log"
    tuning.write_text("learned\n")
    monkeypatch.setenv("WHERRY_TUNING_FILE", str(tuning))
    append = '[ -z "$WHERRY_TUNING_FILE" ] || { cat "$WHERRY_TUNING_FILE" >>%s; echo more >>"$WHERRY_TUNING_FILE"; }'
    answer = wherry("compare", "-n", "2", "--", script(tmp_path, append % log))
    assert answer.code == 0, answer.err
    assert log.read_text().split() == ["learned", "learned", "more", "learned", "more", "more"]
    assert tuning.read_text() == "learned\n"


def test_levers_are_left_out_one_at_a_time(wherry: Invoke, tmp_path: Path) -> None:
    log = tmp_path / "log"
    program = script(tmp_path, f'echo "$WHERRY_NO_PROFILE$WHERRY_ALLREDUCE$WHERRY_CACHE" >>{log}')
    answer = wherry("compare", "-n", "2", "--why", "--", program)
    assert answer.code == 0, answer.err
    seen = Counter(log.read_text().splitlines())
    # Once uncounted and in two rounds; "native" alone, and with all algorithms.
    assert (seen["1"], seen["native"], seen["off"]) == (3, 6, 3)
    assert "without MPI_Alltoall " in answer.out


def test_what_may_run_without_wherry_is_only_profiled(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not runner.PROFILE_ONLY.items() & command.prepare(("true",), netlab=False)[1].items()
    found = [Finding("warning", "one program of two is static", profile_only=True)]
    monkeypatch.setattr(command, "check", lambda *_: found)
    assert runner.PROFILE_ONLY.items() <= command.prepare(("true",), netlab=False)[1].items()


def kept_output(message: str) -> str:
    found = re.search(r"its output is in (\S+?);", message)
    assert found is not None, message
    path = Path(found[1])
    try:
        return path.read_text()
    finally:
        path.unlink()


def test_a_program_that_fails_says_which_run(wherry: Invoke, tmp_path: Path) -> None:
    program = script(tmp_path, 'test -z "$WHERRY_OUTPUT" || { echo words; echo more >&2; exit 5; }')
    answer = wherry("compare", "--", program)
    assert answer.code == 1
    assert "run 2, Wherry (before the first round): it ended with code 5" in answer.err
    assert kept_output(answer.err) == "words\nmore\n"


def test_a_signal_is_named(wherry: Invoke, tmp_path: Path) -> None:
    answer = wherry("compare", "--", script(tmp_path, "kill -SEGV $$"))
    assert answer.code == 1
    assert "run 1, native (before the first round): it was ended by SIGSEGV" in answer.err
    kept_output(answer.err)


def test_another_answer_is_an_error(wherry: Invoke, tmp_path: Path) -> None:
    program = script(tmp_path, 'echo "sum 1$WHERRY_NO_CACHE${WHERRY_OUTPUT:+7}"')
    answer = wherry("compare", "--answer", r"sum (\S+)", "--", program)
    assert answer.code == 1
    assert "its answer differs from that of run 1, native: '17' instead of '1'" in answer.err
    assert kept_output(answer.err) == "sum 17\n"


def test_no_time_is_an_error(wherry: Invoke, tmp_path: Path) -> None:
    answer = wherry("compare", "--time", r"took (\S+)", "--", script(tmp_path, "echo nothing"))
    assert answer.code == 1
    assert "it printed no time that --time 'took (\\S+)' matches" in answer.err
    kept_output(answer.err)


def no_progress(what: str, done: int, total: int) -> None:
    """Nobody looks."""


def test_a_budget_that_is_used_up_ends_after_three_rounds(tmp_path: Path, prefix: Path) -> None:
    started = Started([script(tmp_path, "true")], None)
    found = compare(started, {}, Experiment(50, budget_s=0), no_progress)
    assert found.experiment.rounds == 3
    assert Counter(sample.variant for sample in found.samples) == {NATIVE: 3, EVERYTHING: 3}
    assert compare(started, {}, Experiment(5, budget_s=3600), no_progress).experiment.rounds == 5


def test_a_program_that_does_not_end_is_stopped(tmp_path: Path, prefix: Path) -> None:
    started = Started([script(tmp_path, "echo before; exec sleep 1000")], None)
    with pytest.raises(RunFailed, match=r"run 1, native .*: it did not end within 0 s and was stopped") as error:
        compare(started, {}, Experiment(2, limit_s=0.4), no_progress)
    assert kept_output(str(error.value)) in ("", "before\n")  # a busy machine may not have come so far


def test_a_program_that_cannot_be_started(tmp_path: Path, prefix: Path) -> None:
    program = tmp_path / "program"
    program.write_text("exit 0\n")  # no #! line
    program.chmod(0o755)
    with pytest.raises(RunFailed, match="it ended with code 127; its output is in") as error:
        compare(Started([str(program)], None), {}, Experiment(2), no_progress)
    assert "cannot be started: Exec format error" in kept_output(str(error.value))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_ends_the_program_too(tmp_path: Path, preload: Path, number: signal.Signals) -> None:
    told, temporary = tmp_path / "pid", tmp_path / "temporary"
    temporary.mkdir()
    program = script(tmp_path, f'echo $$ > "{told}.new"; mv "{told}.new" "{told}"; exec sleep 1000')
    command = [sys.executable, "-m", "wherry", "compare", "--", program]
    process = subprocess.Popen(
        command,
        env={**clean_environment(), "TMPDIR": str(temporary)},
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # under nohup it is ignored
    )
    try:
        while not told.exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(number)
        assert process.wait(timeout=60) == 128 + number
    finally:
        process.kill()
    state = "X"
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        state = Path("/proc", told.read_text().strip(), "stat").read_text().rpartition(")")[2].split()[0]
    assert state in "ZX"
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "nothing to run"),
        (("--time", "(", "--", "true"), "no regular expression"),
        (("-n", "1", "--", "true"), "1 is not in the range"),
        (("--json", "--", "true"), "a value is missing before the '--'"),
        (("--", "/no/such/program"), "not found"),
        (("--json", "/no/such/folder/x", "--", "true"), "not a directory that you can write to"),
    ],
)
def test_wrong_usage(wherry: Invoke, words: tuple[str, ...], why: str) -> None:
    answer = wherry("compare", *words)
    assert answer.code == 2
    assert why in answer.err


TOUCHES = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const long bytes = 64L << 20;
  volatile char* memory = malloc(bytes);
  for (long i = 0; i < bytes; i += 4096) memory[i] = 1;
  while (clock() < CLOCKS_PER_SEC / 5) {}
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("T 1.0 of %d\\n", argc);
  MPI_Finalize();
  return 0;
}
"""


@on("openmpi", "mpich", "intel", "debian-openmpi")
def test_what_the_ranks_use_is_counted(mpi: Launcher, invoke: Invoke, preload: Path, tmp_path: Path) -> None:
    """Each of two ranks touches 16,384 pages and computes for 0.2 s of CPU time: the launcher's tree has both."""
    if mpi.mpicc is None:
        pytest.skip(f"no C compiler for {mpi.name}")
    source, program = tmp_path / "touches.c", tmp_path / "touches"
    source.write_text(TOUCHES)
    subprocess.run([str(mpi.mpicc), "-o", str(program), str(source)], env=mpi.env, check=True)
    words = mpi.mpi.command(2, [str(program)], mpi.mpi.variables)
    answer = invoke("compare", "-n", "2", "--json", tmp_path / "out.json", "--", *words)
    assert answer.code == 0, answer.err
    assert "2 ranks of " in answer.out
    (record,) = json.loads((tmp_path / "out.json").read_text())
    assert record["ranks"] == 2
    for sample in record["samples"]:
        assert sample["faults"] >= 2 * 16_384
        assert sample["user_s"] + sample["system_s"] >= 0.4
        assert sample["peak_bytes"] >= 64 << 20
