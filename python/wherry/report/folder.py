"""The folder of a report: what it is made from, and the files that it becomes."""

from __future__ import annotations

from pathlib import Path

from wherry.analysis import Analysis, analyse, from_data
from wherry.analysis.record import read_all
from wherry.errors import UsageError, WherryError
from wherry.files import DAMAGE, DATA_FILE, read_json, write_json, write_whole
from wherry.report.html_page import page


def write(directory: Path, analysis: Analysis) -> Path:
    """Writes report.html and report-data.json, each whole or not at all; returns the page's path. Raises OSError."""
    path = directory / "report.html"
    write_json(directory / DATA_FILE, analysis.data())
    write_whole(path, page(analysis))
    return path


def from_directory(directory: Path) -> Path:
    """The page for what is in a directory: records of ranks, or the summary.json of a run. Raises WherryError."""
    if not directory.is_dir():
        raise UsageError(f"{directory} is not a directory; name the one that `wherry run --report DIR` filled")
    analysis = load(directory)
    try:
        return write(directory, analysis)
    except OSError as error:
        raise WherryError(f"cannot write the report to {directory}: {error.strerror or error}") from error


def load(directory: Path) -> Analysis:
    """Records count more than a summary: they are the source."""
    records = read_all(directory)
    summary = directory / "summary.json"
    if records.ranks or not summary.is_file():
        if not records.ranks:
            found = "; ".join(records.problems) or "it holds no rank-*.wrec and no summary.json"
            raise UsageError(
                f"nothing to report in {directory}: {found}; record a run: wherry run --report {directory} -- ..."
            )
        return analyse(records)
    try:
        analysis = from_data(read_json(summary))
        page(analysis)  # A member of another kind shows only where it is used.
    except (OSError, *DAMAGE) as error:
        raise UsageError(f"{summary} is damaged ({error}); record the run again") from error
    return analysis
