"""The set-up says what is missing, keeps what is there, and makes anew what changed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

import setup  # noqa: E402


def test_rows_of_debian_packages_are_complete() -> None:
    packages = setup.read_packages()
    assert [package.name for package in packages if package.required] == ["g++"]
    assert all(package.purpose and "{" not in package.marker for package in packages)


@pytest.mark.parametrize("sign", [" ", ":"])
def test_a_path_that_cannot_be_preloaded_is_refused(sign: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup, "ROOT", Path(f"/home/my{sign}wherry"))
    with pytest.raises(setup.SetupError, match=f"has a '{sign}', which LD_PRELOAD cannot name; move this folder"):
        setup.check_place()


def test_a_required_package_that_is_missing_stops_a_user_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [setup.Package("g++", "no-such-compiler", True, "building Wherry")]
    monkeypatch.setattr(setup, "read_packages", lambda: rows)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(
        setup.SetupError, match=r"g\+\+ missing \(for building Wherry\); as root: apt-get install g\+\+"
    ):
        setup.install_packages("demo")


def test_an_optional_package_that_is_missing_is_a_note(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [setup.Package("libfftw3-dev", "/no/such/*.h", False, "mpi4py-fft")]
    monkeypatch.setattr(setup, "read_packages", lambda: rows)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    setup.install_packages("demo")
    assert capsys.readouterr().out == (
        "setup: without libfftw3-dev you miss mpi4py-fft (as root: apt-get install libfftw3-dev)\n"
    )


def test_what_only_the_tests_need_waits_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {package.name: package.stage for package in setup.read_packages()}
    assert rows["g++"] == rows["libfftw3-dev"] == rows["iproute2"] == "demo"
    assert rows["doctest-dev"] == rows["libsimgrid-dev"] == rows["mpich"] == "all"
    made: dict[str, list[str]] = {stage: [] for stage in setup.STAGES}
    for stage in setup.STAGES:
        monkeypatch.setattr(setup, "make_environment", lambda environment, stage: made[stage].append(environment.name))
        setup.make_environments(stage)
    assert set(made["demo"]) == {"tool", "openmpi", "mpich", "impi"}
    assert set(made["all"]) == {environment.name for environment in setup.ENVIRONMENTS}


def test_tools_of_the_tests_are_added_to_an_environment_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup, "ROOT", tmp_path)
    (tmp_path / "requirements").mkdir()
    (tmp_path / "e").mkdir()
    for name in ("tool", "develop"):
        (tmp_path / f"requirements/{name}.txt").write_text(f"{name}==1\n")
    environment = setup.Environment("e", tmp_path / "e", ("tool.txt",), for_tests=("develop.txt",))
    done: list[str] = []
    monkeypatch.setattr(setup, "runs", lambda python: True)
    monkeypatch.setattr(setup, "fill_environment", lambda environment: done.append("made"))
    monkeypatch.setattr(setup, "install_all", lambda environment, names: done.extend(names))
    for stage in ("demo", "demo", "all", "all"):
        setup.make_environment(environment, stage)
    assert done == ["made", "develop.txt"]
    (tmp_path / "requirements/develop.txt").write_text("develop==2\n")
    setup.make_environment(environment, "demo")
    assert done == ["made", "develop.txt"]
    setup.make_environment(environment, "all")
    assert done == ["made", "develop.txt", "develop.txt"]


@pytest.mark.parametrize("change", ["requirements", "place", "headers"])
def test_an_environment_is_made_anew_when_what_it_is_made_from_changed(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup, "ROOT", tmp_path)
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements/a.txt").write_text("a==1\n")
    (tmp_path / "requirements/b.txt").write_text("b==1\n")
    monkeypatch.setattr(setup, "can_build_fft", lambda: True)
    before = setup.fingerprint(setup.Environment("e", tmp_path / "e", ("a.txt",), ("b.txt",)))
    assert before == setup.fingerprint(setup.Environment("e", tmp_path / "e", ("a.txt",), ("b.txt",)))
    place = tmp_path / ("moved" if change == "place" else "e")
    if change == "requirements":
        (tmp_path / "requirements/b.txt").write_text("b==2\n")
    if change == "headers":
        monkeypatch.setattr(setup, "can_build_fft", lambda: False)
    assert before != setup.fingerprint(setup.Environment("e", place, ("a.txt",), ("b.txt",)))


def test_the_environments_stay_when_make_finds_their_own_python(tmp_path: Path) -> None:
    """The first `make` runs the system's python3, later ones that of .venv, which the Makefile puts on the PATH."""
    subprocess.run([setup.PYTHON, "-m", "venv", "--without-pip", str(tmp_path / "v")], check=True)
    program = f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r}); import setup;"
    program += "print(*(setup.fingerprint(environment) for environment in setup.ENVIRONMENTS))"
    said = [
        subprocess.run([python, "-c", program], capture_output=True, text=True, check=True).stdout
        for python in (setup.PYTHON, str(tmp_path / "v/bin/python3"))
    ]
    assert said[0] == said[1]


def test_an_interrupted_environment_has_no_stamp_and_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = setup.Environment("tool", ROOT / ".no-such-environment", ("tool.txt",))
    made: list[str] = []

    def interrupt(which: setup.Environment) -> None:
        made.append(which.name)
        raise setup.SetupError("interrupted")

    monkeypatch.setattr(setup, "fill_environment", interrupt)
    for _ in range(2):
        with pytest.raises(setup.SetupError):
            setup.make_environment(environment, "demo")
    assert made == ["tool", "tool"]


def test_a_failing_command_is_told_with_the_end_of_its_output(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "print('no space left'); raise SystemExit(3)"]
    with pytest.raises(setup.SetupError, match=r"(?s)fetching ended with code 3; free some space\n.*no space left"):
        setup.run_logged(command, tmp_path / "log", None, "fetching", "free some space")
    with pytest.raises(setup.SetupError, match="No such file"):
        setup.run_logged([str(tmp_path / "none")], tmp_path / "log", None, "fetching", "retry")


def test_every_pinned_version_is_exact() -> None:
    for path in (ROOT / "requirements").glob("*.txt"):
        if path.name == "debian.txt":
            continue
        lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
        assert lines and all(line.count("==") == 1 for line in lines), path.name
