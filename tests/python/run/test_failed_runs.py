"""`wherry run` of programs that fail, hang or are killed: the program's own code, and what is said first."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import Launcher, clean_environment, on
from synthetic import MS, Draft, example, under_way, write

from wherry import paths
from wherry.analysis import analyse, record
from wherry.run import failure, launch

if TYPE_CHECKING:
    from command_line import Invoke

pytest_plugins = ["commanding"]

ENDING = Path(__file__).parents[1] / "programs" / "ending.c"
SIGNAL_TOOL = """
#include <signal.h>
static void on_signal(int number) { (void)number; }
__attribute__((constructor)) static void install(void) {
  signal(SIGTERM, on_signal);
  signal(SIGINT, on_signal);
}
"""


def wherry_run(
    words: Sequence[str | Path],
    env: Mapping[str, str] | None = None,
    stdout: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, as users start it."""
    command = [sys.executable, "-m", "wherry", "run", *map(str, words)]
    environment = {**clean_environment(), "WHERRY_NO_TUNING": "1", **launch.root_variables(), **(env or {})}
    return subprocess.run(command, env=environment, stdout=stdout, stderr=stderr, text=True, timeout=120)


def compiled(folder: Path, name: str, source: str, *flags: str) -> Path:
    if shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    (folder / f"{name}.c").write_text(source)
    subprocess.run(["cc", *flags, "-o", folder / name, folder / f"{name}.c"], check=True)
    return folder / name


def ending(mpi: Launcher, folder: Path, *flags: str) -> Path:
    if mpi.mpicc is None:
        pytest.skip(f"no C compiler for {mpi.name}")
    program = folder / "ending"
    subprocess.run([str(mpi.mpicc), "-g", *flags, "-o", program, ENDING], env=mpi.env, check=True)
    return program


def launcher_words(mpi: Launcher, *program: str | Path) -> list[str]:
    return mpi.mpi.command(2, list(map(str, program)), mpi.mpi.variables)


# exit codes


@pytest.mark.parametrize("full", [False, True], ids=["closed pipe", "full disk"])
@pytest.mark.parametrize("code", [0, 7])
def test_the_code_survives_output_that_goes_nowhere(preload: Path, full: bool, code: int) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    nowhere = os.open("/dev/full", os.O_WRONLY) if full else writer
    try:
        for streams in ({"stdout": nowhere}, {"stderr": nowhere}, {"stdout": nowhere, "stderr": nowhere}):
            done = wherry_run(["--", "sh", "-c", f"exit {code}"], **streams)
            assert done.returncode == code, streams
            assert "Traceback" not in (done.stderr or "")
    finally:
        os.close(writer)
        if full:
            os.close(nowhere)


@pytest.mark.parametrize("closing", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_the_code_survives_closed_streams(preload: Path, closing: str) -> None:
    command = [sys.executable, "-m", "wherry", "run", "--", "sh", "-c", "exit 7"]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closing}', "sh", *command], env=clean_environment(), capture_output=True, text=True
    )
    assert done.returncode == 7
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("code", [0, 7])
def test_the_code_survives_a_tool_that_sets_signal_handlers(preload: Path, tmp_path: Path, code: int) -> None:
    tool = compiled(tmp_path, "tool.so", SIGNAL_TOOL, "-shared", "-fPIC")
    done = wherry_run(["--", "sh", "-c", f"exit {code}"], {"LD_PRELOAD": str(tool)})
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_the_code_survives_a_summary_that_cannot_be_made(
    wherry: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise IndexError("a record that nobody thought of")

    monkeypatch.setattr("wherry.analysis.analyse", refuse)
    write(tmp_path / "records", example(2))
    answer = wherry("run", "--", "sh", "-c", f'cp "{tmp_path}"/records/*.wrec "$WHERRY_OUTPUT"; exit 4')
    assert answer.code == 4
    assert "no summary: IndexError('a record that nobody thought of')" in answer.err


def test_an_option_does_not_swallow_the_separator(wherry: Invoke) -> None:
    answer = wherry("run", "--report", "--", "true")
    assert answer.code == 2
    assert "'--report': a value is missing before the '--'" in answer.err


# sanitizers


@on("openmpi", "mpich")
def test_a_program_with_the_address_sanitizer_starts(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    program = ending(mpi, tmp_path, "-fsanitize=address")
    words = launcher_words(mpi, program, "3")
    options = {"ASAN_OPTIONS": "detect_leaks=0"}  # those of the MPI library
    native = subprocess.run(words, env={**mpi.env, **options}, capture_output=True, text=True, timeout=120)
    if native.returncode != 3:
        pytest.skip(f"it does not run without Wherry: {native.stderr[-200:]}")
    done = wherry_run(["--", *words], options)
    assert done.returncode == 3, done.stderr
    assert "MPI_Allreduce" in done.stderr


def test_the_run_time_of_a_sanitizer_is_loaded_first(tmp_path: Path) -> None:
    program = compiled(tmp_path, "a", "int main(void) { return 0; }", "-fsanitize=address")
    plain = compiled(tmp_path, "b", "int main(void) { return 0; }")
    words = ["sh", str(program), str(plain), str(program)]
    found = launch.loaded_first([launch.Program(i, word, Path(word), True) for i, word in enumerate(words)])
    assert len(found) == 1
    assert Path(found[0]).name.startswith("libasan.so")
    made = launch.build(["app"], None, {}, Path("/libwherry.so"), found)
    assert made.environment["LD_PRELOAD"].split(":")[:2] == [found[0], "/libwherry.so"]


# what is said


def failing(folder: Path, *drafts: Draft) -> list[record.Record]:
    write(folder, drafts)
    return record.read_all(folder).ranks


def stopped(rank: int, end_ms: int, call: int = 1, running: bool = True) -> Draft:
    one = example(3)[rank]
    one.header |= {"state": 0 if running else 1, "end_ns": end_ms * MS, "last_call": call, "program": b"/no/app"}
    one.rows["modules"] = [{"base": 0, "path": b"/no/app"}]
    return one


def test_a_failed_run_says_code_ranks_signal_and_last_calls(tmp_path: Path) -> None:
    ranks = failing(tmp_path, stopped(0, 900), stopped(1, 800, call=2), stopped(2, 950, running=False))
    assert failure.sentences(139, ranks) == [
        "the command failed with code 139 (SIGSEGV); ranks 0-1 of 3 did not reach MPI_Finalize",
        "rank 1: in no recorded call; the last call that returned was MPI_Send",
        "rank 0: in no recorded call; the last call that returned was MPI_Bcast, called from app+0x2345",
    ]
    assert failure.sentences(3, ranks)[0].startswith("the command failed with code 3; ranks 0-1")


def test_a_rank_that_is_in_a_call_comes_after_those_outside(tmp_path: Path) -> None:
    waiting, computing = stopped(0, 900), stopped(1, 950)
    waiting.header["under_way"] = under_way((0x2345, 910 * MS, 2))
    assert failure.sentences(124, failing(tmp_path, waiting, computing))[1:] == [
        "rank 1: in no recorded call; the last call that returned was MPI_Bcast, called from app+0x2345",
        "rank 0: in MPI_Send, called from app+0x2345",
    ]


def test_who_aborted_comes_first(tmp_path: Path) -> None:
    computing, aborting = stopped(0, 900), stopped(1, 950)
    aborting.rows["functions"] = [*aborting.rows["functions"], {"name": b"MPI_Abort", "kind": 4}]
    aborting.header["under_way"] = under_way((0x2345, 940 * MS, len(aborting.rows["functions"]) - 1))
    said = failure.sentences(3, failing(tmp_path, computing, aborting))
    assert said[1] == "rank 1: in MPI_Abort, called from app+0x2345"


def test_a_place_in_no_module_is_not_named(tmp_path: Path) -> None:
    one = stopped(0, 900)
    one.rows["modules"] = [{"base": 0x1000, "path": b"/no/app"}]
    one.header["under_way"] = under_way((0, 910 * MS, 2))
    assert failure.sentences(124, failing(tmp_path, one))[1] == "rank 0: in MPI_Send"


def test_threads_in_calls_are_all_named(tmp_path: Path) -> None:
    one = stopped(0, 900)
    one.header["under_way"] = under_way((0x2345, 920 * MS, 1), (0x2345, 910 * MS, 2))
    assert failure.sentences(124, failing(tmp_path, one))[1] == (
        "rank 0: in MPI_Send, called from app+0x2345; another thread in MPI_Bcast, called from app+0x2345"
    )


def test_with_more_threads_than_are_known_nobody_is_said_to_be_outside(tmp_path: Path) -> None:
    one = stopped(0, 900)
    one.header["more_threads"] = 1
    assert failure.sentences(124, failing(tmp_path, one))[1].startswith("rank 0: the last call that returned was")


def test_a_rank_without_a_call_is_said(tmp_path: Path) -> None:
    ranks = failing(tmp_path, stopped(0, 900, call=record.NONE))
    assert failure.sentences(1, ranks)[1] == "rank 0: no call of MPI had returned yet"


def test_a_code_after_finalize_is_told_as_that(tmp_path: Path) -> None:
    ranks = failing(tmp_path, stopped(0, 900, running=False))
    assert failure.sentences(3, ranks) == ["the command failed with code 3, after all ranks had reached MPI_Finalize"]


def test_many_ranks_do_not_fill_the_screen(tmp_path: Path) -> None:
    drafts = [Draft(rank, 20, {"state": 0}) for rank in range(20)]
    lines = failure.sentences(1, failing(tmp_path, *drafts))
    assert len(lines) == 10
    assert lines[-1] == "and 12 more ranks"


def test_no_gain_is_claimed_of_a_failed_run(wherry: Invoke, tmp_path: Path) -> None:
    write(tmp_path / "records", example(4))
    script = f'cp "{tmp_path}"/records/*.wrec "$WHERRY_OUTPUT"; exit '
    assert "less time per step" in wherry("run", "--", "sh", "-c", script + "0").err
    failed = wherry("run", "--report", tmp_path / "out", "--", "sh", "-c", script + "6").err
    assert "less time per step" not in failed
    assert "gain:" not in failed
    assert failed.index("failed with code 6") < failed.index("in MPI")
    assert "less time per step" not in (tmp_path / "out" / "report.html").read_text()
    result = analyse(record.read_all(tmp_path / "out"))
    assert result.gains
    assert failure.without_gains(result).gains == []


@on("openmpi", "mpich", "intel")
def test_where_the_ranks_of_a_crashed_program_were(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    done = wherry_run(["--", *launcher_words(mpi, ending(mpi, tmp_path), "crash")], mpi.mpi.variables)
    assert done.returncode not in (0, 1)
    assert f"failed with code {done.returncode}" in done.stderr
    assert "ranks 0-1 of 2 did not reach MPI_Finalize" in done.stderr
    last = "in no recorded call; the last call that returned was MPI_Barrier, called from meet (ending.c:"
    assert done.stderr.count(last) == 2


@pytest.mark.parametrize("when", ["hang", "hang late"])
@on("openmpi", "mpich")
def test_a_program_that_hung_and_was_ended_is_reported(mpi: Launcher, preload: Path, when: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["timeout", "8", *launcher_words(mpi, ending(mpi, tmp_path), when)]
    done = wherry_run(["--report", out, "--", *words])
    assert done.returncode == 124
    assert "the command failed with code 124; ranks 0-1 of 2 did not reach MPI_Finalize" in done.stderr
    assert re.search(r"rank 0: in MPI_Recv, called from take \(ending\.c:\d+\), entered .* before the end", done.stderr)
    returned = {"hang": "MPI_Barrier, called from meet", "hang late": "MPI_Send, called from main"}[when]
    assert f"rank 1: in no recorded call; the last call that returned was {returned}" in done.stderr
    assert "MPI_Allreduce" in (out / "report.html").read_text()


def test_records_of_a_run_that_was_killed_make_a_report(invoke: Invoke, preload: Path, tmp_path: Path) -> None:
    """Wherry itself is killed, and so is the program: `wherry report` has what was counted."""
    from wherry.run.mpis import find_mpi

    found = find_mpi("mpich")
    if found is None:
        pytest.skip("needs MPICH")
    program, out = ending(Launcher(found), tmp_path), tmp_path / "out"
    command = [sys.executable, "-m", "wherry", "run", "--report", str(out), "--"]
    with subprocess.Popen(
        [*command, *launcher_words(Launcher(found), program, "hang")],
        env={**clean_environment(), "WHERRY_NO_TUNING": "1"},
        start_new_session=True,
        stderr=subprocess.DEVNULL,
    ) as process:
        deadline = time.monotonic() + 60
        while len(list(out.glob("*.wrec"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1)
        os.killpg(process.pid, signal.SIGKILL)
    answer = invoke("report", out)
    assert answer.code == 0, answer.err
    assert "did not reach MPI_Finalize" in (out / "report.html").read_text()
    assert paths.preload_library().exists()
