"""What all studies share: parts that answer one question each, and the folder where the answers go.

A part measures records. Its table and its picture are made of the records alone, so that they can be made again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wherry.bench.frame import Setup, commit, machine
from wherry.errors import UsageError, WherryError, unknown
from wherry.files import make_folder, read_json, write_records, write_whole

#: The members of a benchmark's record (docs/reference/command-line.md), and the case's coordinates.
Record = dict[str, Any]
Records = Sequence[Record]
Measure = Callable[[Setup], list[Record]]


@dataclass(frozen=True)
class Table:
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
class Part:
    """A question.

    why_not: why it cannot be answered here, with what to do; empty if it can. options: of `wherry study` that it looks
    at, besides those that all parts have. fewest_ranks: that -n may say; fewest_quick: with --quick, if that is another
    number.
    """

    name: str
    question: str
    measure: Measure
    tabulate: Callable[[Records], Table]
    draw: Callable[[Records], str]  # SVG
    why_not: Callable[[Setup], str] = lambda setup: ""
    options: tuple[str, ...] = ()
    fewest_ranks: int = 1
    fewest_quick: int | None = None

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
    parts: tuple[Part, ...]

    @property
    def options(self) -> tuple[str, ...]:
        """That any of its parts looks at."""
        return tuple(dict.fromkeys(option for part in self.parts for option in part.options))

    def find(self, names: Sequence[str]) -> tuple[Part, ...]:
        """The parts of these names, in their own order; without names all."""
        known = [part.name for part in self.parts]
        for name in names:
            if name not in known:
                raise unknown(f"part of the study '{self.name}'", name, known)
        return tuple(part for part in self.parts if part.name in names or not names)


def record(*, case: str, metric: str, unit: str, value: float, mpi: str, ranks: int, **more: Any) -> Record:
    """A record; what is not given has no value. ratio: baseline / value, if there is a baseline and it is not given."""
    baseline = more.get("baseline")
    row: Record = {"case": case, "metric": metric, "unit": unit, "value": value, "baseline": baseline}
    row["ratio"] = baseline / value if baseline is not None and value > 0 else None
    return row | {"mpi": mpi, "ranks": ranks, "samples": [], "statistic": "a count", "network": ""} | more


def only(rows: Iterable[Record], **wanted: Any) -> list[Record]:
    """The records with these members."""
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]


def values(rows: Iterable[Record], name: str) -> list[Any]:
    """Of a member, each once, in the order of the records."""
    return list(dict.fromkeys(row[name] for row in rows))


def in_words(reached: bool | None) -> str:
    """Of a goal. None: a quick look cannot judge."""
    return {None: "not judged (quick)", True: "yes", False: "no"}[reached]


def check(part: Part, setup: Setup) -> None:
    """Raises WherryError if the part cannot be answered here, UsageError if -n leaves it nothing to measure."""
    if why := part.why_too_few(setup):
        raise UsageError(f"cannot answer '{part.name}': {why}")
    if why := part.why_not(setup):
        raise WherryError(f"cannot answer '{part.name}': {why}")


def measured(study: Study, part: Part, setup: Setup) -> list[Record]:
    """The records of a part, with what those of all parts say."""
    check(part, setup)
    where = {"bench": f"study {study.name}", "part": part.name}
    origin = {"machine": machine(), "commit": commit(), "quick": setup.quick}
    return [where | row | origin for row in part.measure(setup)]


@dataclass(frozen=True)
class Folder:
    """Where results/, images/ and the pages in studies/ are; docs/ of the project is one."""

    path: Path

    def results(self, study: Study, part: Part) -> Path:
        return self.path / "results" / f"{study.name}-{part.name}.json"

    def image(self, study: Study, part: Part) -> Path:
        return self.path / "images" / f"{study.name}-{part.name}.svg"

    def page(self, study: Study) -> Path:
        return self.path / "studies" / f"{study.name}.md"

    def prepare(self) -> None:
        """Raises UsageError if nothing can be written there: before hours of measuring, not after them."""
        for name in ("results", "images"):
            make_folder(self.path / name, "-o")

    def read(self, study: Study, part: Part) -> list[Record]:
        path = self.results(study, part)
        try:
            rows = read_json(path)
            if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
                raise ValueError("it is no list of objects")
            if not rows:
                raise ValueError("its list is empty")
        except FileNotFoundError:
            raise UsageError(f"{path} does not exist; measure it first, without --redraw") from None
        except ValueError as error:
            raise WherryError(f"{path} holds no records ({error}); measure it again, without --redraw") from error
        return rows

    def write(self, study: Study, part: Part, records: Records) -> list[Path]:
        """Records, picture, and the part's place in the study's page, if there is a page. Returns what was written."""
        files = {self.image(study, part): part.draw(records)}
        page = self.page(study)
        if page.exists():
            text = page.read_text(encoding="utf-8")
            files[page] = filled(text, part.name, _shown(study, part, records))
        write_records(self.results(study, part), records)
        for path, content in files.items():
            write_whole(path, content)
        return [self.results(study, part), *files]


def filled(page: str, place: str, text: str) -> str:
    """The page with this text between <!-- PLACE --> and <!-- end of PLACE -->, if it has such a place."""
    begin, end = f"<!-- {place} -->\n", f"<!-- end of {place} -->"
    return re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: begin + text + end, page, flags=re.DOTALL)


def _shown(study: Study, part: Part, records: Records) -> str:
    """Picture, table and origin, as a page shows them."""
    picture = f"![{part.question}](../images/{study.name}-{part.name}.svg)"
    return f"\n{picture}\n\n{part.tabulate(records).markdown()}\n{origin(records)}\n\n"


def origin(records: Records) -> str:
    """Where the records come from, in a line. Networks that are alike in part are not told again and again."""
    words = [str(mpi) for mpi in values(records, "mpi") if mpi]
    words += dict.fromkeys(word for network in values(records, "network") if network for word in network.split("; "))
    words += [str(records[0]["machine"]), f"commit {records[0]['commit']}"]
    if records[0]["quick"]:
        words.append("a quick look, not a measurement")
    return "; ".join(words) + "."
