"""The test runner counts what its suites report, and does not take silence for success."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

import run_tests  # noqa: E402
from run_tests import Result  # noqa: E402

JUNIT = """<?xml version="1.0"?>
<testsuites><testsuite>
  <testcase classname="a" name="good"/>
  <testcase classname="a" name="bad"><failure message="1 is not 2">long</failure></testcase>
  <testcase name="broken"><error>trace</error></testcase>
  <testcase name="left out"><skipped message="needs root"/></testcase>
</testsuite></testsuites>
"""


def test_reads_outcomes_and_reasons(tmp_path: Path) -> None:
    (tmp_path / "r.xml").write_text(JUNIT)
    assert run_tests.read_junit("s", tmp_path / "r.xml") == [
        Result("s", "a::good", "passed"),
        Result("s", "a::bad", "failed", "1 is not 2"),
        Result("s", "broken", "failed", "trace"),
        Result("s", "left out", "skipped", "needs root"),
    ]


def test_a_damaged_report_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "r.xml").write_text(JUNIT[:100])
    (result,) = run_tests.read_junit("s", tmp_path / "r.xml")
    assert result.outcome == "failed" and "damaged" in result.reason


def test_a_program_that_crashes_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_tests, "REPORTS", tmp_path)
    program = tmp_path / "test_crash"
    program.write_text("#!/bin/sh\necho last words\nkill -SEGV $$\n")
    program.chmod(0o755)
    (result,) = run_tests.run_unit_program("unit", program)
    assert result.outcome == "failed"
    assert "code -11" in result.reason and "last words" in result.reason


def test_what_takes_long_says_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(run_tests, "BEAT_S", 0.2)
    go = tmp_path / "go"

    def release_at_first_sign(*words: object, **how: object) -> None:
        print(*words, **how)  # type: ignore[call-overload]
        if "[1/2]" in str(words[0]):
            go.touch()

    monkeypatch.setattr(run_tests, "print", release_at_first_sign, raising=False)
    script = f"echo '[1/2] first'; until test -e '{go}'; do sleep 0.05; done; echo last >&2; exit 3"
    assert run_tests.run_aloud("suite: building", ["sh", "-c", script]) == (3, "[1/2] first\nlast\n")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "tests: suite: building ..."
    assert any(line.startswith("tests: suite: building: ") and line.endswith(" s: [1/2] first") for line in lines)


def test_what_never_ends_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(run_tests, "BEAT_S", 0.05)
    monkeypatch.setattr(run_tests, "SUITE_TIMEOUT_S", 0.1)
    monkeypatch.setattr(run_tests, "REPORTS", tmp_path)
    program = tmp_path / "test_endless"
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o755)
    (result,) = run_tests.run_unit_program("unit", program)
    assert result.outcome == "failed" and "still running after" in result.reason


def test_a_program_that_is_not_built_is_skipped_with_the_reason(tmp_path: Path) -> None:
    (result,) = run_tests.run_unit_program("unit", tmp_path / "unit/test_none")
    assert result.outcome == "skipped" and "doctest-dev" in result.reason


def test_one_program_alone_that_is_not_built_is_a_failure(tmp_path: Path) -> None:
    (result,) = run_tests.run_unit_program("unit", tmp_path / "test_none")
    assert result.outcome == "failed" and result.reason == "not built; run: make build"


def test_closing_line() -> None:
    passed, failed = Result("s", "a", "passed"), Result("s", "b", "failed")
    assert run_tests.closing_line([passed, passed, failed]) == "2 passed, 1 failed"
    assert run_tests.closing_line([passed, Result("s", "c", "skipped", "why")]) == "1 passed, 0 failed, 1 skipped"


@pytest.mark.parametrize(("results", "code"), [([], 1), (["passed"], 0), (["passed", "failed"], 1), (["skipped"], 1)])
def test_exit_code(
    results: list[str],
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    found = [Result("s", f"t{i}", outcome, "needs root") for i, outcome in enumerate(results)]  # type: ignore[arg-type]
    monkeypatch.setattr(run_tests, "REPORTS", tmp_path / "reports")
    monkeypatch.setattr(run_tests, "SUITES", (run_tests.Suite("unit", lambda _: found),))
    monkeypatch.setattr(sys, "argv", ["run_tests.py"])
    assert run_tests.main() == code
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == run_tests.closing_line(found)
    assert ("  needs root: 1 tests" in lines) == ("skipped" in results)
