"""`wherry run`: check, start, wait, read the records, report."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from wherry import launch, paths, record, report, settings, summary
from wherry.analysis import Analysis, analyse
from wherry.check import Finding, check
from wherry.errors import UsageError
from wherry.files import make_folder, write_json, writing_to

#: For a report: errors of a miss-ratio curve are about 1 / sqrt of these.
_CURVE_SAMPLES = "1024"


@dataclass(frozen=True)
class Options:
    report: Path | None = None
    profile_only: bool = False
    verbose: int = 0


def run(command: Sequence[str], options: Options, console: Console) -> int:
    """Runs the command to its end and returns its exit code. Raises UsageError before anything has started."""
    if not command:
        raise UsageError("nothing to run; write for example: wherry run -- mpiexec -n 4 ./app")
    launcher = launch.find_launcher(command)
    findings = check(launcher, launch.programs(command, launcher))
    show_findings(console, [*findings, *(Finding("warning", text) for text in settings.problems())])
    only_looks = looking(options, findings)
    off = only_looks or ("WHERRY_NO_COLLECTIVES is set" if asked_to_leave_collectives() else "")
    with output_directory(options.report) as directory:
        started = launch.build(
            command, launcher, variables(options, directory, bool(only_looks)), paths.built(paths.preload_library())
        )
        for note in started.notes:
            console.print(f"wherry: {escape(note)}", highlight=False, soft_wrap=True)
        code = launch.execute(started)
        conclude(directory, options, console, code, off)
    return code


def looking(options: Options, findings: Sequence[Finding]) -> str:
    """Why this run is only looked at, with no collective replaced and no window cached; empty if they may be."""
    if options.profile_only:
        return "--profile-only was given"
    outside = any(finding.profile_only for finding in findings)
    return "a part of the command may run without Wherry" if outside else ""


def asked_to_leave_collectives() -> bool:
    return settings.is_on(os.environ.get("WHERRY_NO_COLLECTIVES", ""))


def variables(options: Options, directory: Path, only_looks: bool) -> dict[str, str]:
    """Everything of the caller's own WHERRY_ settings, so that ranks on other hosts get them, and this run's."""
    given = {name: value for name, value in os.environ.items() if name.startswith("WHERRY_")}
    given["WHERRY_OUTPUT"] = str(directory)
    if only_looks:
        given |= {"WHERRY_NO_COLLECTIVES": "1", "WHERRY_CACHE": "off", "WHERRY_MEMORY": "leave"}
    if options.report is not None:
        given.setdefault("WHERRY_CACHE_CURVE", _CURVE_SAMPLES)
    if options.verbose:
        given["WHERRY_VERBOSE"] = str(options.verbose)
    return given


def show_findings(console: Console, findings: Sequence[Finding]) -> None:
    for finding in findings:
        style = "yellow" if finding.level == "warning" else "dim"
        console.print(f"[{style}]wherry: {finding.level}: {escape(finding.text)}[/]", highlight=False, soft_wrap=True)


@contextmanager
def output_directory(wanted: Path | None) -> Iterator[Path]:
    """The directory for records, empty of older ones; a temporary one is removed in the end."""
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
        for old in record.record_files(directory):
            old.unlink()
    return directory


def conclude(directory: Path, options: Options, console: Console, code: int, off: str) -> None:
    """Summary and report. The program has ended: nothing that fails here may change its exit code."""
    records = record.read_all(directory)
    if not records.ranks:
        for problem in [*records.problems, *why_nothing(code)]:
            console.print(f"wherry: {escape(problem)}", highlight=False, soft_wrap=True)
        return
    analysis = analyse(records)
    written = write_report(directory, analysis, console) if options.report is not None else None
    reproducible = settings.is_on(os.environ.get("WHERRY_REPRODUCIBLE", ""))
    summary.print_summary(console, analysis, summary.Context(written, off, reproducible))


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


def write_report(directory: Path, analysis: Analysis, console: Console) -> str | None:
    """The path of the page, or None with a message if the disk does not take it."""
    try:
        write_json(directory / "summary.json", analysis.data())
        return str(report.write(directory, analysis))
    except OSError as error:
        reason = error.strerror or str(error)
        text = f"wherry: the report could not be written to {directory}: {reason}"
        console.print(escape(text), style="red", highlight=False, soft_wrap=True)
        return None
