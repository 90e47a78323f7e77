"""The record: what one measurement found, as it stands in files of results (docs/reference/command-line.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from wherry.files import write_records

COUNT = "a count"


@dataclass
class Measurement:
    """ratio = baseline / value unless the metric says otherwise.

    What only some measurements have, such as the coordinates of a study's case, is in `more`; in files it stands beside
    the other members, and record["name"] finds both kinds.
    """

    bench: str
    case: str
    metric: str
    unit: str
    value: float
    baseline: float | None
    ratio: float | None
    mpi: str
    ranks: int
    samples: list[dict[str, Any]]
    machine: str = ""
    commit: str = ""
    statistic: str = COUNT
    network: str = ""
    goal: str = ""
    reached: bool | None = None
    # Of cells of a grid: where they are in it, and the variant that is the baseline.
    operation: str = ""
    size: int | None = None
    against: str = ""
    #: The ratio to whoever was fastest in these very samples, noise included.
    hindsight: float | None = None
    #: The library's algorithms that failed there, with the reason.
    excluded: dict[str, str] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name) if name in MEMBERS else self.more[name]

    def __contains__(self, name: str) -> bool:
        return name in MEMBERS or name in self.more

    def __or__(self, members: Mapping[str, Any]) -> Measurement:
        """The record with these members."""
        own = {name: value for name, value in members.items() if name in MEMBERS}
        more = {name: value for name, value in members.items() if name not in MEMBERS}
        return replace(self, **own, more=self.more | more)

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in MEMBERS} | self.more

    @staticmethod
    def from_json(row: Mapping[str, Any]) -> Measurement:
        """Raises KeyError if a member of the contract is missing. Not checked is what the values are."""
        return Measurement(**{name: row[name] for name in CONTRACT}) | row


#: In the order of files.
MEMBERS = tuple(each.name for each in fields(Measurement) if each.name != "more")
#: What every record of every file has.
CONTRACT = MEMBERS[:10]

Measurements = Sequence[Measurement]


def only(records: Iterable[Measurement], **wanted: Any) -> list[Measurement]:
    """The records with these members."""
    return [
        record for record in records if all(name in record and record[name] == value for name, value in wanted.items())
    ]


def values(records: Iterable[Measurement], name: str) -> list[Any]:
    """Of a member, each once, in the order of the records."""
    return list(dict.fromkeys(record[name] for record in records))


def write(path: Path, records: Measurements) -> None:
    write_records(path, [record.to_json() for record in records])
