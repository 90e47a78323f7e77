"""Who called the functions that call MPI, as far as the ranks looked: a wrapper is not the caller."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from wherry.analysis.packed import Row
from wherry.analysis.record import Record, text
from wherry.analysis.record_format import FRAMES, NONE
from wherry.analysis.rows import NS, Analysis, PathRow, SiteRow, Totals
from wherry.analysis.sites import Site, plain

#: Between a place and where it was called from.
FROM = " < "


class Frame(NamedTuple):
    """Of a path, on all ranks alike."""

    kind: str  # of record_format.FRAMES
    module: str  # path
    at: int  # return address minus base, or the line


@dataclass
class _Seen:
    samples: int = 0
    calls: int = 0
    seconds: float = 0.0


@dataclass
class Paths:
    """Those of all ranks, by function and place."""

    bases: dict[Frame, int] = field(default_factory=dict)
    _seen: defaultdict[tuple[str, str, int], defaultdict[tuple[Frame, ...], _Seen]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(_Seen))
    )

    def add(self, record: Record) -> None:
        for row in record.tables["paths"]:
            frames = tuple(self._frame(record, frame) for frame in row["frame"][: row["frames"]])
            module, at = ("", 0) if row["module"] == NONE else (self._module(record, row), row["site"])
            seen = self._seen[record.function(row["function"]), module, at][frames]
            seen.samples += row["samples"]
            seen.calls += row["calls"]
            seen.seconds += row["time_ns"] * NS

    @staticmethod
    def _module(record: Record, row: Row) -> str:
        return text(record.tables["modules"][row["module"]]["path"])

    def _frame(self, record: Record, row: Row) -> Frame:
        module = record.tables["modules"][row["module"]]
        frame = Frame(FRAMES[row["kind"]], text(module["path"]), row["at"])
        self.bases.setdefault(frame, module["base"])
        return frame

    def places(self) -> Iterator[Site]:
        """Of which names are wanted."""
        return (self._site(frame) for frame in self.bases if frame.kind == "native")

    def rows(self, function: str, module: str, at: int, names: Mapping[Site, str]) -> list[PathRow]:
        """Those of one place, the longest in MPI first; what has the same names counts together."""
        rows: dict[tuple[str, ...], PathRow] = {}
        for frames, seen in self._seen.get((function, module, at), {}).items():
            callers = tuple(self._name(frame, names) for frame in frames)
            script = frames != () and frames[-1].kind == "script"
            row = rows.setdefault(callers, PathRow(list(callers), script))
            row.samples += seen.samples
            row.calls += seen.calls
            row.seconds += seen.seconds
        return sorted(rows.values(), key=lambda row: -row.seconds)

    def _site(self, frame: Frame) -> Site:
        return Site(frame.module, frame.at, self.bases[frame])

    def _name(self, frame: Frame, names: Mapping[Site, str]) -> str:
        if frame.kind == "script":
            return f"{Path(frame.module).name}:{frame.at}"
        site = self._site(frame)
        return names.get(site) or plain(site)


@dataclass
class PlaceRow:
    """Calls of one function that came about in the same way."""

    function: str
    place: str
    totals: Totals  # if there are several ways: estimated, but for the sum over them
    ranks: int
    samples: int = 0  # of this way
    of_samples: int = 0  # of all ways to call from there


def places(analysis: Analysis) -> list[PlaceRow]:
    """The call sites, each as often as it has callers; the longest in MPI first."""
    rows = [place for site in analysis.sites for place in _places(site)]
    return sorted(rows, key=lambda row: -row.totals.seconds)


def _places(site: SiteRow) -> Iterator[PlaceRow]:
    samples = sum(path.samples for path in site.paths)
    calls, seconds = sum(path.calls for path in site.paths), sum(path.seconds for path in site.paths)
    if len(site.paths) <= 1:
        callers = site.paths[0] if site.paths else PathRow()
        yield PlaceRow(site.function, called_from(site.site, callers), site.totals, site.ranks, samples, samples)
        return
    for path in site.paths:
        share = path.calls / max(calls, 1)
        t = site.totals
        part = Totals(
            calls=round(share * t.calls),
            bytes=round(share * t.bytes),
            seconds=t.seconds * (path.seconds / seconds if seconds > 0 else share),
            longest_seconds=t.longest_seconds,
            derived_calls=round(share * t.derived_calls),
        )
        yield PlaceRow(site.function, called_from(site.site, path), part, site.ranks, path.samples, samples)


def called_from(site: str, path: PathRow) -> str:
    """The place and its callers, innermost first; of a script's call its lines first, which people know."""
    frames = [site, *path.callers]
    distinct = [frame for i, frame in enumerate(frames) if i == 0 or frame != frames[i - 1]]
    if not path.script:
        return FROM.join(distinct)
    return f"{FROM.join(path.callers)} ({site.partition(' ')[0]})"
