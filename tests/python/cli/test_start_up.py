"""What `wherry run` imports: each package costs a program's user time, before the program starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from synthetic import example, write

from wherry import cli
from wherry.cli import commands, plain_run
from wherry.run import runner
from wherry.run.options import Options

pytest_plugins = ["commanding"]

#: All of Wherry that a run needs until there are records to read.
RUNNING = {
    "wherry",
    "wherry.ansi",
    "wherry.cli",
    "wherry.cli.plain_run",
    "wherry.collective_names",
    "wherry.elf",
    "wherry.errors",
    "wherry.files",
    "wherry.messages",
    "wherry.paths",
    "wherry.run",
    "wherry.run.check",
    "wherry.run.launch",
    "wherry.run.options",
    "wherry.run.runner",
    "wherry.run.settings",
}
#: Of Python's own: what is wanted only where there is a mistake, or does little and imports much.
NEVER = {"difflib", "fractions", "statistics"}
#: Runs the command line on a prefix, then tells which modules were loaded.
SCRIPT = """
import json, sys
from pathlib import Path
before = set(sys.modules)
from wherry import cli, paths
prefix, told = Path(sys.argv[1]), Path(sys.argv[2])
paths.prefix = lambda: prefix
sys.argv = ["wherry", *sys.argv[3:]]
try:
    cli.main()
finally:
    told.write_text(json.dumps(sorted(set(sys.modules) - before)))
"""


def modules_of(prefix: Path, *words: str) -> set[str]:
    told = prefix / "modules.json"
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).resolve().parents[2])}
    command = [sys.executable, "-c", SCRIPT, str(prefix), str(told), *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(json.loads(told.read_text()))


def packages(modules: set[str]) -> set[str]:
    """Of the modules that are no part of Python."""
    return {name.partition(".")[0] for name in modules} - sys.stdlib_module_names - {"__mp_main__"}


@pytest.mark.usefixtures("wherry")
def test_a_run_imports_what_it_needs(prefix: Path) -> None:
    modules = modules_of(prefix, "run", "--", "true")
    assert packages(modules) == {"wherry"}
    assert not modules & NEVER
    assert {name for name in modules if name.startswith("wherry")} == RUNNING


@pytest.mark.usefixtures("wherry")
def test_a_summary_imports_no_other_package_and_no_other_command(prefix: Path) -> None:
    source = prefix / "records"
    write(source, example(2))
    modules = modules_of(prefix, "run", "--", "sh", "-c", f'cp "{source}"/*.wrec "$WHERRY_OUTPUT"/')
    assert "wherry.run.summary" in modules
    assert packages(modules) == {"wherry"}
    assert not modules & NEVER
    assert {name for name in modules if name.startswith("wherry.cli.")} == {"wherry.cli.plain_run"}
    assert not {name for name in modules if name.startswith(("wherry.bench", "wherry.measure", "wherry.report"))}


def test_every_command_is_found_under_its_name() -> None:
    for name in commands.COMMANDS:
        command = commands.wherry.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        assert command.name == name


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--report", "out"],
        ["--report=out"],
        ["--report=a=b", "--report", "last"],
        ["--profile-only", "-v"],
        ["-v", "-vv", "--verbose"],
        ["--verbose", "--report", "out", "--profile-only"],
    ],
)
@pytest.mark.parametrize("command", [["mpiexec", "-n", "2", "./app", "--", "-v"], []])
def test_plain_runs_are_read_as_click_reads_them(
    words: list[str], command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Options, list[str]]] = []

    def note(command: tuple[str, ...], options: Options) -> int:
        asked.append((options, list(command)))
        return 0

    monkeypatch.setattr(runner, "run", note)
    arguments = ["run", *words, "--", *command]
    with pytest.raises(SystemExit):
        commands.wherry(arguments, prog_name="wherry", standalone_mode=False)
    assert [plain_run.read(arguments)] == asked


@pytest.mark.parametrize(
    "words",
    [
        ["run", "true"],
        ["run", "--help", "--", "true"],
        ["run", "--netlab", "--", "true"],
        ["run", "--report", "--", "true"],
        ["run", "--report", "-v", "--", "true"],
        ["run", "--report=", "--", "true"],
        ["run", "--repot", "out", "--", "true"],
        ["run", "-vx", "--", "true"],
        ["run", "true", "--", "true"],
        ["bench", "--", "true"],
        ["--", "run"],
        [],
    ],
)
def test_what_is_not_plain_is_for_click(words: list[str]) -> None:
    assert plain_run.read(words) is None
