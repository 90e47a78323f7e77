"""What all studies share: parts that answer one question each, and the folder where the answers go.

A part measures records. Its table and its picture are made of the records alone, so that they can be made again.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wherry.errors import UsageError, WherryError, did_you_mean
from wherry.files import DAMAGE, make_folder, read_json, write_whole
from wherry.measure import results
from wherry.measure.harness import Setup
from wherry.measure.record import Measurement, Measurements, only, values, write
from wherry.provenance import commit, machine

Measure = Callable[[Setup], list[Measurement]]

_TEXT, _NUMBER = (str, "text"), (int | float, "a number")
_NUMBER_OR_NULL = (int | float | None, "a number or null")
#: What the members of all records are. Those that only some have are looked at where they are used.
_MEMBERS: dict[str, tuple[Any, str]] = {
    **dict.fromkeys(("bench", "case", "metric", "unit", "mpi", "network", "machine", "commit"), _TEXT),
    "samples": (list, "a list"),
    "value": _NUMBER,
    "baseline": _NUMBER_OR_NULL,
    "ratio": _NUMBER_OR_NULL,
    "ranks": (int, "a whole number"),
    "quick": (bool, "true or false"),
}
_DO_NOT_FIT = "its records make no table and picture, because one is missing or a member is of another kind"


@dataclass(frozen=True)
class StudyTable:
    """Of words; the first column stands on the left."""

    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]

    def text(self) -> str:
        """For terminals; never cut, for a number without its row says nothing."""
        widths = [max(map(len, column)) for column in zip(self.head, *self.rows, strict=True)]
        lines = [[row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in (self.head, *self.rows)]
        return "".join(f"{'  '.join(line).rstrip()}\n" for line in lines)

    def markdown(self) -> str:
        marks = ("---", *["---:"] * (len(self.head) - 1))
        return "".join(f"| {' | '.join(row)} |\n" for row in (self.head, marks, *self.rows))


@dataclass(frozen=True)
class StudyPart:
    """A question.

    why_not: why it cannot be answered here, with what to do; empty if it can. options: of `wherry study` that it
    uses, besides those of all parts. fewest_ranks: that -n may say; fewest_quick: with --quick, if that is another
    number. every_mpi: without --mpi it measures all installations; table and picture show all of a machine, whenever
    each was measured. answers: a second table, of what the records say of statements. sheet: CSV beside the records.
    """

    name: str
    question: str
    measure: Measure
    tabulate: Callable[[Measurements], StudyTable]
    draw: Callable[[Measurements], str]  # SVG
    why_not: Callable[[Setup], str] = lambda setup: ""
    options: tuple[str, ...] = ()
    fewest_ranks: int = 1
    fewest_quick: int | None = None
    every_mpi: bool = False
    answers: Callable[[Measurements], StudyTable] | None = None
    sheet: Callable[[Measurements], str] | None = None

    def tables(self, records: Measurements) -> list[StudyTable]:
        return [self.tabulate(records), *([self.answers(records)] if self.answers else [])]

    def why_too_few(self, setup: Setup) -> str:
        """Why -n leaves it nothing to measure; empty if it does not."""
        fewest = self.fewest_ranks if self.fewest_quick is None or not setup.quick else self.fewest_quick
        if setup.ranks is None or setup.ranks >= fewest:
            return ""
        return f"-n {setup.ranks} is below its fewest ranks; write -n {fewest} or more, or leave it out"


@dataclass(frozen=True)
class Study:
    name: str
    summary: str
    parts: tuple[StudyPart, ...]

    @property
    def options(self) -> tuple[str, ...]:
        """That any of its parts uses."""
        return tuple(dict.fromkeys(option for part in self.parts for option in part.options))

    def find(self, names: Sequence[str]) -> tuple[StudyPart, ...]:
        """The parts of these names, in their own order; without names all."""
        known = [part.name for part in self.parts]
        for name in names:
            if name not in known:
                have = f"it has {', '.join(known)}{did_you_mean(name, known)}"
                raise UsageError(f"the study '{self.name}' has no part '{name}'; {have}")
        return tuple(part for part in self.parts if part.name in names or not names)


def record(*, case: str, metric: str, unit: str, value: float, mpi: str, ranks: int, **more: Any) -> Measurement:
    """A record; what is not given has no value. ratio: baseline / value, if there is a baseline and it is not given."""
    baseline = more.get("baseline")
    ratio = baseline / value if baseline is not None and value > 0 else None
    return Measurement("", case, metric, unit, value, baseline, ratio, mpi, ranks, []) | more


def in_words(reached: bool | None) -> str:
    """Of a goal. None: a quick check cannot tell."""
    return {None: "not validated (quick)", True: "yes", False: "no"}[reached]


def check(part: StudyPart, setup: Setup) -> None:
    """Raises WherryError if the part cannot be answered here, UsageError if -n leaves it nothing to measure."""
    if why := part.why_too_few(setup):
        raise UsageError(f"cannot answer '{part.name}': {why}")
    if why := part.why_not(setup):
        raise WherryError(f"cannot answer '{part.name}': {why}")


def measured(study: Study, part: StudyPart, setup: Setup) -> list[Measurement]:
    """The records of a part, with what those of all parts say."""
    check(part, setup)
    provenance = {"part": part.name, "machine": machine(), "commit": commit(), "quick": setup.quick}
    return [row | {"bench": row.bench or f"study {study.name}", **provenance} for row in part.measure(setup)]


@dataclass(frozen=True)
class Folder:
    """Where results/, images/ and the pages in studies/ are; docs/ of the project is one."""

    path: Path

    def results(self, study: Study, part: StudyPart, records: Measurements) -> Path:
        """Where these records go: each machine and MPI has a file of its own."""
        return results.path_of(self.path / "results", f"{study.name}-{part.name}", records)

    def recorded(self, study: Study, part: StudyPart) -> list[Path]:
        """All files of the part."""
        return results.files(self.path / "results", f"{study.name}-{part.name}")

    def image(self, study: Study, part: StudyPart) -> Path:
        return self.path / "images" / f"{study.name}-{part.name}.svg"

    def page(self, study: Study) -> Path:
        return self.path / "studies" / f"{study.name}.md"

    def prepare(self) -> None:
        """Raises UsageError if nothing can be written there: before hours of measuring, not after them."""
        for name in ("results", "images"):
            make_folder(self.path / name, "-o")

    def check_quick(self, study: Study, parts: Iterable[StudyPart]) -> None:
        """Raises UsageError if a quick check would replace what was measured."""
        for path in (path for part in parts for path in self.recorded(study, part)):
            if _is_measured(path):
                raise UsageError(
                    f"{path} is a measurement, which --quick does not replace; name another folder with -o,"
                    " or leave out --quick"
                )

    def read(self, study: Study, part: StudyPart) -> list[Measurement]:
        """The records of the part; of several machines those that the page names.

        Raises UsageError if there are none, if they are damaged, or if it is not clear which are meant.
        """
        found = {path: _read(path) for path in self.recorded(study, part)}
        if part.every_mpi:
            found = _by_folder(found)
        if not found:
            folder = self.path / "results" / f"{study.name}-{part.name}"
            raise UsageError(f"{folder} holds no records; measure them first, without --redraw")
        path = next(iter(found)) if len(found) == 1 else self._shown(study, part, found)
        _check_shown(path, part, found[path])
        return found[path]

    def _shown(self, study: Study, part: StudyPart, found: Mapping[Path, Measurements]) -> Path:
        """Of several files the one whose provenance stands in the part's place in the page."""
        page = self.page(study)
        place = _place(part.name).search(_text(page)) if page.exists() else None
        named = [path for path, rows in found.items() if place and provenance(rows) in place[0]]
        if len(named) != 1:
            several = ", ".join(str(path) for path in found)
            raise UsageError(f"the page does not name one of {several}; move the others away, or measure again")
        return named[0]

    def write(self, study: Study, part: StudyPart, records: Measurements) -> list[Path]:
        """Results, picture, and the part's place in the study's page, if there is one. Returns what was written."""
        written = []
        for rows in _files(part, records):
            path = self.results(study, part, rows)
            make_folder(path.parent, "-o")
            write(path, rows)  # first: whatever goes wrong then, they are there
            written.append(path)
            if part.sheet:
                write_whole(path.with_suffix(".csv"), part.sheet(rows))
                written.append(path.with_suffix(".csv"))
        if part.every_mpi:
            records = [row for path in sorted(written[0].parent.glob("*.json")) for row in _read(path)]
        return [*written, *self.show(study, part, records)]

    def show(self, study: Study, part: StudyPart, records: Measurements) -> list[Path]:
        """As write(), but for the records."""
        files = {self.image(study, part): part.draw(records)}
        page = self.page(study)
        if page.exists() and not self.why_no_place(study, part):
            files[page] = filled(_text(page), part.name, _shown(study, part, records))
        for file, content in files.items():
            write_whole(file, content)
        return list(files)

    def why_no_place(self, study: Study, part: StudyPart) -> str:
        """Why the study's page does not show the part, with what to do; empty if it does, or if there is no page."""
        page = self.page(study)
        if not page.exists() or _place(part.name).search(_text(page)):
            return ""
        begin, end = _marks(part.name)
        return f"{page} has no place for part '{part.name}'; put the lines {begin} and {end} where it is to stand"


def _read(path: Path) -> list[Measurement]:
    """Raises UsageError if there are no records, or damaged ones."""
    try:
        rows = read_json(path)
        _check_records(rows)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}; measure it again, without --redraw") from error
    except ValueError as error:
        raise _damaged(path, str(error)) from error
    return [Measurement.from_json(row) for row in rows]


def _files(part: StudyPart, records: Measurements) -> list[Measurements]:
    """Records that go to a file each."""
    return [only(records, mpi=mpi) for mpi in values(records, "mpi")] if part.every_mpi else [records]


def _by_folder(found: Mapping[Path, list[Measurement]]) -> dict[Path, list[Measurement]]:
    """The files of each machine as one."""
    joined: dict[Path, list[Measurement]] = {}
    for path, rows in found.items():
        joined.setdefault(path.parent, []).extend(rows)
    return joined


def _check_records(rows: Any) -> None:
    """Raises ValueError if these are no records, or if what all records have is missing in one."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError("it is no list of objects")
    if not rows:
        raise ValueError("its list is empty")
    for number, row in enumerate(rows, 1):
        for name, (kind, words) in _MEMBERS.items():
            if name not in row:
                raise ValueError(f"record {number} has no '{name}'")
            if not isinstance(row[name], kind):
                raise ValueError(f"'{name}' of record {number} is {reprlib.repr(row[name])}, not {words}")


def _check_shown(path: Path, part: StudyPart, records: Measurements) -> None:
    """Raises UsageError if only table and picture find that records are damaged."""
    try:
        part.tables(records)
        part.draw(records)
    except KeyError as error:
        raise _damaged(path, f"its records have no {error} where one is needed") from error
    except DAMAGE as error:
        raise _damaged(path, f"{_DO_NOT_FIT} ({error})") from error


def _damaged(path: Path, how: str) -> UsageError:
    return UsageError(f"{path} is damaged: {how}; measure it again, without --redraw")


def _is_measured(path: Path) -> bool:
    """Whether it holds records, and one that does not say that it is a quick check's."""
    try:
        rows = read_json(path)
    except (OSError, ValueError):
        return False
    return isinstance(rows, list) and any(isinstance(row, dict) and row.get("quick") is not True for row in rows)


def _text(page: Path) -> str:
    try:
        return page.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{page} is not UTF-8 from byte {error.start} on; mend it, or move it away") from error


def filled(page: str, place: str, text: str) -> str:
    """The page with this text between <!-- PLACE --> and <!-- end of PLACE -->, if it has such a place."""
    begin, end = _marks(place)
    return _place(place).sub(lambda _: f"{begin}\n{text}{end}", page)


def _place(name: str) -> re.Pattern[str]:
    begin, end = _marks(name)
    return re.compile(f"{re.escape(begin)}\n.*?{re.escape(end)}", re.DOTALL)


def _marks(place: str) -> tuple[str, str]:
    return f"<!-- {place} -->", f"<!-- end of {place} -->"


def _shown(study: Study, part: StudyPart, records: Measurements) -> str:
    """Picture, tables and provenance, as a page shows them."""
    picture = f"![{part.question}](../images/{study.name}-{part.name}.svg)"
    tables = "\n".join(table.markdown() for table in part.tables(records))
    return f"\n{picture}\n\n{tables}\n{provenance(records)}\n\n"


def provenance(records: Measurements) -> str:
    """Where the records come from, in a line. Networks that are alike in part are not told again and again."""
    words = [str(mpi) for mpi in values(records, "mpi") if mpi]
    words += dict.fromkeys(word for network in values(records, "network") if network for word in network.split("; "))
    words += [str(records[0]["machine"]), f"commit {', '.join(values(records, 'commit'))}"]
    if any(row["quick"] for row in records):
        words.append("a quick check, not a measurement")
    return "; ".join(words) + "."
