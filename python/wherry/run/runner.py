"""`wherry run`: check, start, wait, read the records, report.

What reads and shows records is imported while the launcher is asked what it is, or when there are some.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from wherry import paths
from wherry.errors import UsageError
from wherry.files import DATA_FILE, REPORT_FILES, make_folder, record_files, write_json, writing_to
from wherry.messages import say, takes_colours, unfailing_stderr
from wherry.run import launch, settings
from wherry.run.check import Finding, check
from wherry.run.options import Options

if TYPE_CHECKING:
    from wherry.analysis import Analysis

#: For a report: errors of a miss-ratio curve are about 1 / sqrt of these.
_CURVE_SAMPLES = "1024"
#: More than any line of a summary has.
_LOG_COLUMNS = 10_000
_TERMINAL_COLUMNS = 80  # of one that does not say


#: What records and changes nothing.
PROFILE_ONLY = {
    "WHERRY_NO_COLLECTIVES": "1", "WHERRY_CACHE": "off", "WHERRY_WAIT": "spin", "WHERRY_MEMORY": "leave",
    "WHERRY_LAYOUT": "native",
}  # fmt: skip


#: Where a launcher starts the ranks: from a command to that command and what the ranks must be told.
Placing = Callable[[Sequence[str], launch.Launcher | None], tuple[Sequence[str], Mapping[str, str]]]


def as_given(command: Sequence[str], launcher: launch.Launcher | None) -> tuple[Sequence[str], Mapping[str, str]]:
    return command, {}


def run(command: Sequence[str], options: Options, place: Placing = as_given) -> int:
    """Runs the command to its end and returns its exit code. Raises UsageError before anything has started."""
    if not command:
        raise UsageError("nothing to run; write for example: wherry run -- mpiexec -n 4 ./app")
    launcher = launch.find_launcher(command, import_readers)
    programs = launch.programs(command, launcher)
    findings = check(launcher, programs)
    show_findings([*findings, *(Finding("warning", text) for text in settings.problems())])
    profile_only = looking(options, findings)
    off = profile_only or ("WHERRY_NO_COLLECTIVES is set" if asked_to_leave_collectives() else "")
    with output_directory(options.report) as directory:
        placed, told = place(command, launcher)
        started = launch.build(
            placed,
            launcher,
            {**variables(options, directory, bool(profile_only)), **told},
            paths.preload(),
            launch.loaded_first(programs),
        )
        for note in started.notes:
            say(note)
        code = launch.execute(started)
        try:
            conclude(directory, options, code, off)
        except Exception as error:  # the code is the program's, whatever a record may do to its reader
            say(f"no summary: {error!r}", "error")
    return code


def import_readers() -> None:
    """What the end of a run needs. While the launcher says what it is, the import costs no time."""
    from wherry import analysis, screen  # noqa: F401
    from wherry.run import failure, summary  # noqa: F401


def looking(options: Options, findings: Sequence[Finding]) -> str:
    """Why this run is only profiled, with no collective replaced and no window cached; empty if they may be."""
    if options.profile_only:
        return "--profile-only was given"
    outside = any(finding.profile_only for finding in findings)
    return "a part of the command may run without Wherry" if outside else ""


def asked_to_leave_collectives() -> bool:
    return settings.is_on(os.environ.get("WHERRY_NO_COLLECTIVES", ""))


def variables(options: Options, directory: Path, profile_only: bool) -> dict[str, str]:
    """Everything of the caller's own WHERRY_ settings, so that ranks on other hosts get them, and this run's."""
    given = {name: value for name, value in os.environ.items() if name.startswith("WHERRY_")}
    given["WHERRY_OUTPUT"] = str(directory)
    if profile_only:
        given |= PROFILE_ONLY
    if options.report is not None:
        given.setdefault("WHERRY_CACHE_CURVE", _CURVE_SAMPLES)
    if options.verbose:
        given["WHERRY_VERBOSE"] = str(options.verbose)
    return given


def show_findings(findings: Sequence[Finding]) -> None:
    for finding in findings:
        say(f"{finding.level}: {finding.text}", finding.level)


@contextmanager
def output_directory(wanted: Path | None) -> Iterator[Path]:
    """The directory for records, empty of older ones and their report; a temporary one is removed in the end."""
    if wanted is not None:
        yield _prepare(wanted)
        return
    directory = Path(tempfile.mkdtemp(prefix="wherry-"))
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _prepare(wanted: Path) -> Path:
    directory = wanted.absolute()
    make_folder(directory, "--report")
    with writing_to(directory, "--report"):
        made = REPORT_FILES if (directory / DATA_FILE).exists() else ()  # else they are somebody else's
        for old in (*record_files(directory), *(directory / name for name in made)):
            old.unlink(missing_ok=True)
    return directory


def conclude(directory: Path, options: Options, code: int, off: str) -> None:
    """Summary and report. The program has ended: nothing that fails here may change its exit code."""
    if not record_files(directory):
        say_all(why_nothing(code))
        return
    from wherry.analysis import analyse, record
    from wherry.run import failure, summary
    from wherry.screen import Screen

    records = record.read_all(directory)
    if not records.ranks:
        say_all([*records.problems, *why_nothing(code)])
        return
    analysis = analyse(records) if code == 0 else failure.without_gains(analyse(records))
    written = write_report(directory, analysis) if options.report is not None else None
    reproducible = settings.is_on(os.environ.get("WHERRY_REPRODUCIBLE", ""))
    said = failure.sentences(code, records.ranks) if code else ()
    screen = Screen(unfailing_stderr(), summary_columns(), takes_colours())
    waits = os.environ.get("WHERRY_WAIT", "")
    summary.print_summary(screen, analysis, summary.Context(written, off, reproducible, said, waits))


def summary_columns() -> int:
    """As many as the terminal has, or enough for no line to be cut or wrapped in a log."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or _TERMINAL_COLUMNS
    except (OSError, ValueError):  # no terminal
        return _LOG_COLUMNS


def say_all(sentences: Sequence[str]) -> None:
    for sentence in sentences:
        say(sentence)


def why_nothing(code: int) -> list[str]:
    for name in ("WHERRY_DISABLE", "WHERRY_NO_PROFILE"):
        if settings.is_on(os.environ.get(name, "")):
            return [f"nothing was recorded: {name} is set"]
    failed = f" and the command failed with code {code}: see what it said above" if code else ""
    return [
        f"no rank recorded anything{failed}. {'Other likely' if code else 'Likely'} reasons: the program does not use"
        " MPI; it is statically linked; it ended before MPI_Init; it is set-user-id; the launcher did not pass"
        " LD_PRELOAD on, or started the ranks on hosts that do not see this directory (name a shared one with --report)"
    ]


def write_report(directory: Path, analysis: Analysis) -> str | None:
    """The path of the page, or None with a message if the disk does not take it."""
    from wherry import report

    try:
        write_json(directory / "summary.json", analysis.data())
        return str(report.write(directory, analysis))
    except OSError as error:
        say(f"the report could not be written to {directory}: {error.strerror or error}", "error")
        return None
