"""The command line as people meet it: help, exit codes, messages, and files that are written whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import Launcher as Installed
from synthetic import example, write

from wherry import paths
from wherry.run import settings
from wherry.run.launch import root_variables

if TYPE_CHECKING:
    from command_line import Invoke

pytest_plugins = ["commanding"]

ROOT = Path(__file__).resolve().parents[3]


# run


def test_a_program_without_launcher_gets_the_environment(wherry: Invoke, prefix: Path) -> None:
    answer = wherry(
        *("run", "--profile-only", "-v", "--", "sh", "-c"),
        'echo "$LD_PRELOAD|$WHERRY_NO_COLLECTIVES|$WHERRY_CACHE|$WHERRY_VERBOSE"',
    )
    assert answer.code == 0
    assert answer.out == f"{paths.preload_library()}|1|off|1\n"
    assert "no rank recorded anything" in answer.err


def test_options_of_the_program_are_its_own(wherry: Invoke) -> None:
    answer = wherry("run", "sh", "-c", 'echo "$@"', "x", "--report", "--help", "-n")
    assert answer.out == "--report --help -n\n"


@pytest.mark.parametrize(("script", "code"), [("exit 7", 7), ("kill -SEGV $$", 139), ("kill -9 $$", 137)])
def test_the_code_of_the_program_is_passed_on(wherry: Invoke, script: str, code: int) -> None:
    assert wherry("run", "--", "sh", "-c", script).code == code


def recording(folder: Path, code: int = 0) -> list[str | Path]:
    """A program that leaves records like those of a run that ended with this code."""
    source = folder / "records"
    write(source, example(4))
    return ["sh", "-c", f'cp "{source}"/*.wrec "$WHERRY_OUTPUT"/ && exit {code}']


def test_why_nothing_was_replaced_is_said(wherry: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drafts = example(2)
    for draft in drafts:
        draft.rows["uses"] = draft.rows["decisions"] = draft.rows["misses"] = []
    write(tmp_path / "bare", drafts)
    command = ["sh", "-c", f'cp "{tmp_path}"/bare/*.wrec "$WHERRY_OUTPUT"/']
    said = wherry("run", "--profile-only", "--", *command).err
    assert "Wherry replaced nothing: --profile-only was given" in said
    assert "too few" in wherry("run", "--", *command).err
    monkeypatch.setenv("WHERRY_NO_COLLECTIVES", "1")
    assert "Wherry replaced nothing: WHERRY_NO_COLLECTIVES is set" in wherry("run", "--", *command).err


@pytest.mark.parametrize("code", [0, 3])
def test_what_was_recorded_is_reported_whatever_the_code(wherry: Invoke, tmp_path: Path, code: int) -> None:
    out = tmp_path / "out 'put' <b>"
    answer = wherry("run", "--report", out, "--", *recording(tmp_path, code))
    assert answer.code == code
    assert answer.out == ""
    assert "MPI_Alltoall" in answer.err
    assert json.loads((out / "summary.json").read_text())["size"] == 4
    assert (out / "report.html").read_text().startswith("<!DOCTYPE html>")


def test_without_report_nothing_stays(wherry: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", None)
    assert "replaced 90%" in wherry("run", "--", *recording(tmp_path)).err
    assert list((tmp_path / "tmp").iterdir()) == []


def test_records_of_an_earlier_run_do_not_count(wherry: Invoke, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, example(8))
    wherry("run", "--report", out, "--", *recording(tmp_path))
    assert json.loads((out / "summary.json").read_text())["size"] == 4


def test_the_report_of_an_earlier_run_does_not_stay(wherry: Invoke, tmp_path: Path) -> None:
    out = tmp_path / "out"
    wherry("run", "--report", out, "--", *recording(tmp_path))
    assert len(list(out.iterdir())) > 4
    wherry("run", "--report", out, "--", "true")
    assert list(out.iterdir()) == []


@pytest.mark.parametrize("name", ["my codes", "c:d"])
def test_a_folder_that_ld_so_would_split_is_refused(
    wherry: Invoke, tmp_path: Path, prefix: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    prefix.rename(tmp_path / name)
    monkeypatch.setattr(paths, "prefix", lambda: tmp_path / name)
    answer = wherry("run", "--", "true")
    assert answer.code == 1
    assert "cannot be preloaded: the system splits LD_PRELOAD at blanks and colons; install Wherry in" in answer.err


def test_a_directory_that_cannot_be_written_stops_before_the_run(wherry: Invoke, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    answer = wherry("run", "--report", tmp_path / "file", "--", "sh", "-c", f"touch '{tmp_path}/ran'")
    assert answer.code == 2
    assert "cannot write to --report" in answer.err
    assert not (tmp_path / "ran").exists()


def test_an_old_record_that_cannot_go_stops_before_the_run(
    wherry: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    write(out, example(1))

    def refuse(path: Path, missing_ok: bool = False) -> None:
        raise PermissionError(1, "Operation not permitted", str(path))

    monkeypatch.setattr(Path, "unlink", refuse)
    answer = wherry("run", "--report", out, "--", "sh", "-c", f"touch '{tmp_path}/ran'")
    assert answer.code == 2
    told = f"cannot write to --report {out}: Operation not permitted; name a directory that you can write to"
    assert told in answer.err
    assert not (tmp_path / "ran").exists()


def test_a_full_disk_keeps_the_code(wherry: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    answer = wherry("run", "--report", tmp_path / "out", "--", *recording(tmp_path, 5))
    assert answer.code == 5
    assert "No space left on device" in answer.err
    assert "MPI_Alltoall" in answer.err
    assert sorted({path.suffix for path in (tmp_path / "out").iterdir()}) == [".wrec"]


def test_damaged_records_are_named_and_the_others_reported(wherry: Invoke, tmp_path: Path) -> None:
    command = recording(tmp_path)
    (tmp_path / "records" / "rank-000002.wrec").write_bytes(b"GARBAGE")
    answer = wherry("run", "--", *command)
    assert "truncated" in answer.err
    assert "MPI_Alltoall" in answer.err


def test_disabled_is_said(wherry: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHERRY_DISABLE", "1")
    assert "WHERRY_DISABLE is set" in wherry("run", "--", "true").err
    monkeypatch.setenv("WHERRY_DISABLE", "no")
    assert "WHERRY_DISABLE is set" not in wherry("run", "--", "true").err


def test_a_command_that_failed_before_any_rank_is_the_first_reason(wherry: Invoke) -> None:
    assert "failed with code 3: see what it said above" in wherry("run", "--", "sh", "-c", "exit 3").err
    assert "failed" not in wherry("run", "--", "true").err


def test_settings_without_effect_are_said_before_the_run(wherry: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHERRY_ALLTOALL", "mehs")
    monkeypatch.setenv("WHERRY_VERBOS", "1")
    said = wherry("run", "--", "true").err
    assert (
        "WHERRY_ALLTOALL: unknown strategy 'mehs', so the native collective runs instead; did you mean 'mesh'?" in said
    )
    assert "unknown variable 'WHERRY_VERBOS'" in said


def launcher_words(mpi: Installed, n: int) -> list[str]:
    # As a user writes it, without the variables that Wherry sets itself.
    return [*mpi.mpi.mpiexec, *(["--oversubscribe"] if mpi.family == "openmpi" else []), "-n", str(n)]


@pytest.fixture
def plain_environment(mpi: Installed, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in root_variables():
        monkeypatch.delenv(name, raising=False)
    for name, value in mpi.mpi.variables.items():
        monkeypatch.setenv(name, value)


def test_every_rank_of_every_part_gets_the_variables(
    wherry: Invoke, mpi: Installed, plain_environment: None, tmp_path: Path
) -> None:
    # Debian's mpiexec can die of a broken pipe if a part ends while it still starts the next one.
    script = 'echo "$WHERRY_OUTPUT|$LD_PRELOAD" >"$0.$$"; sleep 0.5'
    out = tmp_path / "a b;c,d"
    part = ["sh", "-c", script, str(tmp_path / "rank")]
    command = [*launcher_words(mpi, 2), *part, ":", "-n", "1", *part]
    answer = wherry("run", "--report", out, "--", *command)
    assert answer.code == 0, answer.err
    said = [path.read_text() for path in tmp_path.glob("rank.*")]
    assert said == [f"{out}|{paths.preload_library()}\n"] * 3


def test_no_collective_is_replaced_if_a_part_cannot_be_entered(
    wherry: Invoke, mpi: Installed, plain_environment: None, tmp_path: Path
) -> None:
    source, static = tmp_path / "a.c", tmp_path / "static"
    source.write_text("#include <unistd.h>\nint main(void) { return usleep(500000); }\n")
    if subprocess.run(["cc", "-static", "-o", static, source], capture_output=True).returncode != 0:
        pytest.skip("cc cannot link statically")
    script = 'echo "<$WHERRY_NO_COLLECTIVES$WHERRY_CACHE>" >"$0.$$"; sleep 0.5'
    shell = ["sh", "-c", script, str(tmp_path / "rank")]
    for parts, value in (([*shell, ":", "-n", "1", static], "<1off>"), ([*shell, ":", "-n", "1", *shell], "<>")):
        answer = wherry("run", "--", *launcher_words(mpi, 1), *parts)
        assert answer.code == 0, answer.err
        said = list(tmp_path.glob("rank.*"))
        assert {path.read_text().strip() for path in said} == {value}
        assert ("may run without Wherry" in answer.err) == (value == "<1off>")
        for path in said:
            path.unlink()


def test_the_code_of_a_rank_is_passed_on(wherry: Invoke, mpi: Installed, plain_environment: None) -> None:
    # Not at once: MPICH's launcher dies of SIGPIPE now and then if a rank ends while it is still starting ranks.
    assert wherry("run", "--", *launcher_words(mpi, 2), "sh", "-c", "sleep 0.3; exit 9").code == 9


def test_root_is_said_in_one_line(wherry: Invoke, mpi: Installed, plain_environment: None) -> None:
    if mpi.family != "openmpi" or os.geteuid() != 0:
        pytest.skip("only Open MPI asks for more, and only from root")
    lines = [line for line in wherry("run", "--", *launcher_words(mpi, 1), "true").err.splitlines() if "root" in line]
    assert len(lines) == 1
    assert "OMPI_ALLOW_RUN_AS_ROOT" in lines[0]


# explain, draw, info, report


def test_explain_says_what_why_and_what_else(wherry: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    answer = wherry("explain", "alltoall", "-n", "24", "--nodes", "2", "-m", "512")
    assert answer.code == 0
    text = " ".join(answer.out.split())
    for part in ("mesh would be tried first", "how mesh works", "where direct sends 23", "hypercube: 24 is no power"):
        assert part in text, part


def test_explain_shows_what_was_learned(wherry: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "tuning"
    monkeypatch.setenv("WHERRY_TUNING_FILE", str(file))
    words = ("explain", "alltoall", "-n", "24", "-m", "512")
    assert "nothing was learned yet" in wherry(*words).out
    row = "row AMD%20EPYC Open%20MPI%20v5.0.11 {} 88201fb960ff6465 MPI_Alltoall {} {} 1e-05 2.5e-05 2\n"
    rows = [row.format(24, 7, "mesh"), row.format(8, 7, "direct"), row.format(24, "x", "y")]
    # The checksum is that of the runtime for this text.
    file.write_text("wherry-tuning 1\n" + "".join(rows) + "end a4a9741230750894\n")
    out = wherry(*words).out
    assert "blocks <= 64 B: mesh (10 us, native 25 us) on Open MPI v5.0.11" in out
    assert out.count("blocks <=") == 1
    for damaged in (file.read_bytes().replace(b"mesh", b"mess"), file.read_bytes()[:-9], b"", bytes(range(256)) * 10):
        file.write_bytes(damaged)
        out = wherry(*words).out
        assert "is damaged or no tuning file: programs will ignore it" in out
        assert "blocks <=" not in out


def test_explain_as_json(wherry: Invoke) -> None:
    answer = wherry("explain", "alltoall", "-n", "24", "-m", "512", "--json")
    assert [row["name"] for row in json.loads(answer.out)["candidates"]] == ["mesh", "direct"]


def test_draw_prints_or_writes(wherry: Invoke, tmp_path: Path) -> None:
    assert wherry("draw", "mesh", "-n", "4").out == "phase 0: 0 -> 1\n"
    file = tmp_path / "a b.svg"
    for _ in range(2):  # a picture may replace a picture
        assert wherry("draw", "mesh", "-n", "4", "-o", file).code == 0
        assert file.read_text().startswith("<svg")
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ""] == ["a b.svg"]


def test_draw_overwrites_nothing_else(wherry: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "thesis.tex"
    file.write_text("precious")
    answer = wherry("draw", "mesh", "-n", "4", "-o", file)
    assert answer.code == 2
    assert "left alone" in answer.err
    assert file.read_text() == "precious"
    assert wherry("draw", "mesh", "-n", "4", "-o", tmp_path).code == 2
    assert wherry("draw", "mesh", "-n", "4", "-o", tmp_path / "no" / "a.svg").code == 2


def test_info_shows_settings_and_their_origin(wherry: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHERRY_VERBOSE", "2")
    monkeypatch.setenv("WHERRY_ALTOALL", "mesh")
    monkeypatch.setenv("COLUMNS", "120")
    found = json.loads(wherry("info", "--json").out)
    by_name = {row["name"]: row for row in found["settings"]}
    assert by_name["WHERRY_VERBOSE"]["value"] == "2"
    assert by_name["WHERRY_VERBOSE"]["source"] == "environment"
    assert by_name["WHERRY_ALLTOALL"]["source"] == "default"
    assert found["problems"] == ["unknown variable 'WHERRY_ALTOALL'; did you mean 'WHERRY_ALLTOALL'?"]
    monkeypatch.setenv("COLUMNS", "60")
    text = wherry("info").out
    assert all(meaning in text for meaning in (variable.meaning for variable in settings.VARIABLES.values()))
    assert "WHERRY_ALTOALL" in text


def test_info_names_values_that_a_setting_does_not_take(wherry: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHERRY_CACHE", "allways")
    monkeypatch.setenv("WHERRY_PROGRESS", "thread")
    said = (
        "WHERRY_CACHE: transparent is used instead of the unknown value 'allways'"
        " (have: transparent, always, user, off); did you mean 'always'?"
    )
    assert json.loads(wherry("info", "--json").out)["problems"] == [said]
    assert "allways" not in wherry("run", "--", "true").err, "said by the library in a run"


def test_settings_are_those_of_the_source() -> None:
    source = (ROOT / "src/base/settings.cpp").read_text()
    import re

    names = re.findall(r'^ +\{"(WHERRY_\w+)",', source, flags=re.MULTILINE)
    calls = tomllib.loads((ROOT / "tools/mpi_functions.toml").read_text())["call"]
    names += [f"WHERRY_{name.upper()}" for call in calls if call.get("replaceable") for name in call["names"]]
    assert sorted(names) == sorted(settings.VARIABLES)
    (modes,) = re.findall(r"modes\[\] = \{(.*)\};", source)
    assert re.findall(r'"(\w+)"', modes) == [*settings.VARIABLES["WHERRY_CACHE"].values]


def test_every_setting_has_its_row_in_the_reference() -> None:
    rows = (ROOT / "docs/reference/settings.md").read_text().splitlines()
    named = [row.split("`")[1] for row in rows if row.startswith("| `WHERRY_")]
    assert sorted(named) == sorted(settings.VARIABLES)


def test_a_path_that_the_output_has_no_signs_for(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"r\xe9sultats")
    write(folder, example(2))
    command = [sys.executable, "-m", "wherry", "report", folder]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONIOENCODING": "utf-8:strict"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "r\\udce9sultats/report.html" in done.stdout


def test_report_writes_the_page(wherry: Invoke, tmp_path: Path) -> None:
    write(tmp_path / "out", example(4))
    answer = wherry("report", tmp_path / "out")
    assert answer.code == 0
    assert answer.out == f"wrote {tmp_path / 'out' / 'report.html'}\n"
    assert wherry("report", tmp_path).code == 2


def test_completion_for_shells(wherry: Invoke) -> None:
    for shell in ("bash", "zsh", "fish"):
        if shutil.which(shell) or shell != "bash":
            assert "_WHERRY_COMPLETE" in wherry("completion", shell).out


def test_output_that_nobody_reads_is_no_error() -> None:
    source = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(
        ["sh", "-c", f"'{sys.executable}' -m wherry info | true"], env=source, capture_output=True, text=True
    )
    assert "Traceback" not in done.stderr
