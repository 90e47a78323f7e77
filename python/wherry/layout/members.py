"""What is known of a type: its members in the order of their declaration, and what lies between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Member:
    """Bytes, but for bit-fields. fixed: a base class or a pointer to virtual functions, which no order moves."""

    name: str
    type_name: str
    offset: int  # of a bit-field: of the byte that its first bit is in
    size: int
    alignment: int
    bits: int = 0  # width of a bit-field, 0 for others
    first_bit: int = 0  # of a bit-field, from the begin of the object
    fixed: bool = False
    inner_holes: int = 0  # bytes inside of it that hold nothing; of a base class before data_end
    data_end: int | None = None  # of a base class: where its last member ends; others may use what follows

    @property
    def end(self) -> int:
        return -(-(self.first_bit + self.bits) // 8) if self.bits else self.offset + self.size

    @property
    def used_end(self) -> int:
        """Where its values end: of an empty base class at its begin."""
        return self.end if self.data_end is None else self.data_end


@dataclass(frozen=True)
class Layout:
    """A class, structure or union. notes: why no order can be proposed, or what is not told."""

    name: str
    kind: Literal["struct", "class", "union"]
    size: int
    alignment: int
    members: tuple[Member, ...]
    where: str = ""  # file and line of its declaration
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Hole:
    """Bytes that hold nothing. after: the member before it; empty: it is at the begin."""

    offset: int
    size: int
    after: str
    at_end: bool


def holes(layout: Layout) -> list[Hole]:
    """Of the type itself; those inside of members count there."""
    found: list[Hole] = []
    end, last = 0, ""
    for member in sorted(layout.members, key=lambda each: (each.offset, each.end)):
        if member.offset > end:
            found.append(Hole(end, member.offset - end, last, at_end=False))
        if member.used_end > end or not last:
            end, last = max(member.used_end, end), member.name
    if end < layout.size:
        found.append(Hole(end, layout.size - end, last, at_end=True))
    return found


def hole_bytes(layout: Layout) -> int:
    """With those inside of members."""
    return sum(hole.size for hole in holes(layout)) + sum(member.inner_holes for member in layout.members)
