"""Runs every suite of tests and ends with the line "N passed, N failed" (", N skipped" if there are any).

Suites: C++ unit tests, the same with sanitizers, those of threads with the thread sanitizer, and everything that
pytest finds below tests/ (command line, layers, programs on each MPI, the emulated cluster). Those with sanitizers are
built and run beside the others, in the time of the processors that these leave. A suite that cannot be built or that
crashes counts as a failed test. Exit code 0 only if something passed and nothing failed. Standard library only.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import math
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / "build" / "test-reports"
NETLAB = "tests/netlab"
PURE_FOLDERS = (
    *("base", "layout", "topology", "schedule", "model", "draw", "tuning", "profile", "cache", "heap", "waiting"),
)
UNIT_FOLDERS = (*PURE_FOLDERS, "types", "fuzz", "apps")
SUITE_TIMEOUT_S = 3600.0  # what stands still: beside other tests a program may have little of the processors
BEAT_S = 15.0  # between signs of life of what takes long


@dataclass(frozen=True)
class Result:
    """One test: where it is, how it ended, and why if it did not pass."""

    suite: str
    name: str
    outcome: Literal["passed", "failed", "skipped"]
    reason: str = ""


@dataclass(frozen=True)
class Suite:
    name: str
    run: Callable[[Sequence[str]], list[Result]]
    beside: bool = False  # takes what the others leave of the processors


def unit_tests(_: Sequence[str]) -> list[Result]:
    return run_unit_programs("unit", ROOT / "build/release", (*UNIT_FOLDERS, "window", "p2p"))


def sanitized_unit_tests(_: Sequence[str]) -> list[Result]:
    targets = [f"test_{folder}" for folder in folders_with_tests(UNIT_FOLDERS)]
    return build_preset("sanitizers", targets) or run_unit_programs(
        "sanitizers", ROOT / "build/sanitizers", UNIT_FOLDERS
    )


def thread_sanitized_tests(_: Sequence[str]) -> list[Result]:
    """Windows that several threads use at once."""
    program = ROOT / "build/threads/tests/unit/test_window"
    return build_preset("threads") or run_unit_program("threads", program, ["--test-case=*threads*"])


def build_preset(preset: str, targets: Sequence[str] = ()) -> list[Result]:
    """Empty if it could be built. targets: none: those of the preset."""
    build = ["cmake", "--build", "--preset", preset, "-j", jobs(), *(["--target", *targets] if targets else [])]
    for command in (["cmake", "--preset", preset], build):
        code, output = run_aloud(f"{preset}: building", command)
        if code != 0:
            return [Result(preset, "build", "failed", tail(output))]
    return []


def pytest_suite(extra: Sequence[str]) -> list[Result]:
    # Starting ranks is mostly waiting. tests/packing.py says what stays together, and in which order.
    workers = ["-n", str(int(jobs()) + 1), "--dist", "loadfile", "--no-loadscope-reorder"]
    return run_pytest("pytest", [f"--ignore={NETLAB}", *workers], extra)


def netlab_suite(extra: Sequence[str]) -> list[Result]:
    """By itself: a cluster that is removed gives its number to the next one that anybody makes."""
    return run_pytest("netlab", [NETLAB], extra)


def run_pytest(suite: str, options: Sequence[str], extra: Sequence[str]) -> list[Result]:
    report = REPORTS / f"{suite}.xml"
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=short", f"--junitxml={report}"]
    # Its own list of reasons would repeat ours.
    code = subprocess.run([*command, *options, *extra, "-rN"], cwd=ROOT, check=False).returncode
    results = read_junit(suite, report) if report.exists() else []
    # 0 and 1: all tests ran; 5: there was none of those asked for; anything else is pytest's own trouble.
    if code not in ((0, 1, 5) if extra else (0, 1)):
        results.append(Result(suite, "session", "failed", f"pytest ended with code {code}"))
    return results


SUITES = (
    Suite("sanitizers", sanitized_unit_tests, beside=True),
    Suite("threads", thread_sanitized_tests, beside=True),
    Suite("unit", unit_tests),
    Suite("netlab", netlab_suite),
    Suite("pytest", pytest_suite),
)


class Beside:
    """Suites in a process of its own, beside others that must not be disturbed; speaks when these are done."""

    def __init__(self, suites: Sequence[Suite], extra: Sequence[str]) -> None:
        self.log = REPORTS / "beside.log"
        self.receiver, sender = multiprocessing.Pipe(duplex=False)
        arguments = (suites, extra, sender, self.log)
        multiprocessing.Process(target=run_beside, args=arguments, daemon=True).start()
        sender.close()

    def results(self) -> list[Result]:
        while not self.receiver.poll(BEAT_S):
            print(tail(self.log.read_text(), lines=1), flush=True)
        try:
            found: list[Result] = self.receiver.recv()
        except EOFError:
            return [Result("beside", "session", "failed", f"it ended early\n{tail(self.log.read_text())}")]
        for line in self.log.read_text().splitlines():
            if " passed, " in line:
                print(line, flush=True)
        return found


def run_beside(suites: Sequence[Suite], extra: Sequence[str], sender: Connection, log: Path) -> None:
    os.setsid()  # with all that it starts: what shares the processors and what is ended
    signal.signal(signal.SIGTERM, lambda *_: os.killpg(0, signal.SIGKILL))
    os.nice(19)
    with contextlib.suppress(OSError):  # where Linux shares by sessions
        Path("/proc/self/autogroup").write_text("19")
    # Of each allocation a report has the four innermost callers: to note 30 takes a fifth of the time. Of freed memory
    # 8 MiB stay poisoned instead of 256: new pages for arrays would take half of it.
    os.environ.setdefault("ASAN_OPTIONS", "malloc_context_size=4:quarantine_size_mb=8")
    sys.stdout = log.open("w")
    sender.send(run_suites(suites, extra))


def run_suites(suites: Sequence[Suite], extra: Sequence[str]) -> list[Result]:
    results: list[Result] = []
    for suite in suites:
        started = time.monotonic()
        print(f"tests: {suite.name} ...", flush=True)
        found = suite.run(extra)
        print(f"tests: {suite.name}: {closing_line(found)} ({time.monotonic() - started:.0f} s)", flush=True)
        results += found
    return results


def folders_with_tests(folders: Sequence[str]) -> list[str]:
    return [folder for folder in folders if any((ROOT / "tests" / folder).rglob("*.cpp"))]


def run_unit_programs(suite: str, build: Path, folders: Sequence[str]) -> list[Result]:
    """One result per doctest test case of every folder that has sources."""
    with ThreadPoolExecutor(int(jobs())) as pool:
        programs = (build / "tests/unit" / f"test_{folder}" for folder in folders_with_tests(folders))
        found = pool.map(lambda program: run_unit_program(suite, program), programs)
        return list(itertools.chain.from_iterable(found))


def run_unit_program(suite: str, program: Path, options: Sequence[str] = ()) -> list[Result]:
    if not program.exists():
        return [unbuilt(suite, program)]
    report = REPORTS / f"{suite}-{program.name}.xml"
    command = [str(program), "--reporters=junit", f"--out={report}", "--no-path-filenames", *options]
    try:
        code, output = run_aloud(f"{suite}: {program.name}", command, SUITE_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return [Result(suite, program.name, "failed", f"still running after {SUITE_TIMEOUT_S:.0f} s")]
    results = read_junit(f"{suite}: {program.name}", report) if report.exists() else []
    if code != 0 and not any(result.outcome == "failed" for result in results):
        results.append(Result(suite, program.name, "failed", f"ended with code {code}\n{tail(output)}"))
    if not any(result.outcome in ("passed", "failed") for result in results):
        results.append(Result(suite, program.name, "failed", "no test ran"))
    return results


def run_aloud(what: str, command: Sequence[str], limit_s: float = math.inf) -> tuple[int, str]:
    """Code and output of a command; says what runs, and now and then that it still does, with its last line."""
    print(f"tests: {what} ...", flush=True)
    begin = time.monotonic()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        while True:
            try:
                output = process.communicate(timeout=BEAT_S)[0]
                return process.returncode, output.decode(errors="replace")
            except subprocess.TimeoutExpired as error:
                seconds = time.monotonic() - begin
                if seconds > limit_s:
                    process.kill()
                    raise
                line = tail((error.output or b"").decode(errors="replace"), lines=1)
                print(f"tests: {what}: {seconds:.0f} s{f': {line}' if line else ''}", flush=True)


def unbuilt(suite: str, program: Path) -> Result:
    """Without doctest no unit test is built; one alone that is not there is a mistake."""
    if program.parent.is_dir():
        return Result(suite, program.name, "failed", "not built; run: make build")
    return Result(
        suite, program.name, "skipped", "not built: doctest is missing (as root: apt-get install doctest-dev)"
    )


def read_junit(suite: str, report: Path) -> list[Result]:
    try:
        tree = ElementTree.parse(report)
    except ElementTree.ParseError as error:
        return [Result(suite, report.name, "failed", f"the report is damaged: {error}")]
    return [read_case(suite, case) for case in tree.iter("testcase")]


def read_case(suite: str, case: ElementTree.Element) -> Result:
    name = "::".join(filter(None, (case.get("classname"), case.get("name"))))
    for child in case:
        reason = child.get("message") or (child.text or "").strip()
        if child.tag in ("failure", "error"):
            return Result(suite, name, "failed", reason)
        if child.tag == "skipped":
            return Result(suite, name, "skipped", reason)
    return Result(suite, name, "passed")


def jobs() -> str:
    return os.environ.get("JOBS") or str(os.cpu_count() or 1)


def tail(text: str, lines: int = 30) -> str:
    return "\n".join(text.strip().splitlines()[-lines:])


def print_summary(results: Sequence[Result]) -> None:
    skipped = [result for result in results if result.outcome == "skipped"]
    failed = [result for result in results if result.outcome == "failed"]
    if skipped:
        print("\nskipped:")
    for reason in dict.fromkeys(result.reason for result in skipped):
        names = [result.name for result in skipped if result.reason == reason]
        print(f"  {reason}: {len(names)} tests")
        print("\n".join(f"    {name}" for name in names))
    if failed:
        print("\nfailed:")
    for result in failed:
        text = result.reason.strip().replace("\n", "\n      ")
        print(f"  {result.suite}: {result.name}\n      {text}")
    print()


def closing_line(results: Sequence[Result]) -> str:
    count = {kind: sum(result.outcome == kind for result in results) for kind in ("passed", "failed", "skipped")}
    line = f"{count['passed']} passed, {count['failed']} failed"
    return f"{line}, {count['skipped']} skipped" if count["skipped"] else line


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", choices=[suite.name for suite in SUITES], action="append", help="only this suite")
    parser.add_argument("pytest_arguments", nargs="*", help="passed to pytest, after --")
    arguments = parser.parse_args()

    shutil.rmtree(REPORTS, ignore_errors=True)
    REPORTS.mkdir(parents=True)
    os.environ["PATH"] = f"{ROOT / '.venv/bin'}:{os.environ['PATH']}"
    # Where nothing may be kept of what Python compiles, each of hundreds of ranks compiles NumPy for itself.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and so end what runs beside
    suites = [suite for suite in SUITES if not arguments.suite or suite.name in arguments.suite]
    extra: list[str] = arguments.pytest_arguments
    beside = Beside([suite for suite in suites if suite.beside], extra)
    results = run_suites([suite for suite in suites if not suite.beside], extra)
    results += beside.results()
    print_summary(results)
    print(closing_line(results), flush=True)
    good = any(result.outcome == "passed" for result in results)
    return 0 if good and not any(result.outcome == "failed" for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
