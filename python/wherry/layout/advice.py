"""An order of members that makes objects smaller: pure functions.

Members by falling alignment leave no holes, for the size of each is a multiple of its alignment. What precedes them (a
base class, a pointer to virtual functions) may end in between; then that is filled first. Bit-fields stay together, in
their order. An order is proposed only where the rules give the layout that was found: else other rules are at work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from wherry.layout.members import Layout, Member, hole_bytes
from wherry.layout.rules import Placed, place

LINE_BYTES = 64  # of a cache line of x86-64
OBJECTS = 1000  # of an array, for which cache lines are counted


@dataclass(frozen=True)
class Advice:
    """layout: with the members in the proposed order; None: there is none, for `reason`."""

    layout: Layout | None
    reason: str = ""


def advise(layout: Layout) -> Advice:
    """The smallest layout found by moving members, if it is smaller."""
    if reason := _why_not(layout):
        return Advice(None, reason)
    first = [member for member in layout.members if member.fixed]
    own = [member for member in layout.members if not member.fixed]
    starts = [start for start in _starts(first) if _explains(layout, own, place(own, start, layout.alignment))]
    if not starts:
        return Advice(None, "its layout does not follow the plain rules (packed, unnamed bit-fields or attributes)")
    smallest = layout.size
    for order in _orders(own, max(starts)):
        sizes = {place(order, start, layout.alignment).size for start in starts}
        if len(sizes) == 1 and max(sizes) < layout.size:
            return Advice(_moved(layout, first, order, max(starts)))
        smallest = min(smallest, *sizes)
    if smallest < layout.size:
        return Advice(None, f"debug information does not tell whether members may lie in the end of {first[-1].name}")
    return Advice(None, "no order of its members is smaller")


def _why_not(layout: Layout) -> str:
    if layout.kind == "union":
        return "the members of a union lie upon each other"
    if layout.notes:
        return layout.notes[0]
    movable = [member for member in layout.members if not member.fixed]
    return "" if len(movable) > 1 or any(member.fixed for member in layout.members) else "there is nothing to move"


def _starts(first: Sequence[Member]) -> list[int]:
    """Where the own members may begin: behind the bases, or in the padding at the end of the last one.

    Which of the two depends on the base's constructors and access, which is better seen than derived.
    """
    whole = [member.offset if member.data_end == member.offset else member.end for member in first]
    return sorted({max(whole, default=0), max((member.used_end for member in first), default=0)})


def _explains(layout: Layout, own: Sequence[Member], placed: Placed) -> bool:
    found = tuple(member.first_bit if member.bits else 8 * member.offset for member in own)
    return found == placed.first_bits and placed.size == layout.size


def _orders(own: Sequence[Member], start: int) -> list[list[Member]]:
    """Candidates: all members moved, or all but the first, which the end of a base class may hold."""
    groups = _groups(own)
    if not groups:
        return []
    return [
        _flat(_filled(groups, start)),
        _flat(sorted(groups, key=_alignment, reverse=True)),
        _flat([*groups[:1], *_filled(groups[1:], groups[0][-1].end)]),
        _flat(sorted(groups, key=_alignment)),  # what is small first may lie in the end of a base class
    ]


def _groups(own: Sequence[Member]) -> list[list[Member]]:
    """Bit-fields that follow each other are one."""
    found: list[list[Member]] = []
    for is_bits, members in groupby(own, key=lambda member: bool(member.bits)):
        row = list(members)
        found += [row] if is_bits else [[member] for member in row]
    return found


def _flat(groups: Sequence[Sequence[Member]]) -> list[Member]:
    return [member for group in groups for member in group]


def _alignment(group: Sequence[Member]) -> int:
    return max(member.alignment for member in group)


def _filled(groups: Sequence[list[Member]], start: int) -> list[list[Member]]:
    """Next comes the member of the largest alignment that leaves no hole; where all would, the smallest hole."""
    left, found, at = list(groups), [], start
    while left:
        group = min(left, key=lambda each: (-at % _alignment(each), -_alignment(each), len(each) > 1))
        left.remove(group)
        found.append(group)
        last = place(group, at, 1)
        at = last.size
    return found


def _moved(layout: Layout, first: Sequence[Member], order: Sequence[Member], start: int) -> Layout:
    placed = place(order, start, layout.alignment)
    members = [
        replace(member, offset=bit // 8, first_bit=bit if member.bits else 0)
        for member, bit in zip(order, placed.first_bits, strict=True)
    ]
    return replace(layout, size=placed.size, members=(*first, *members))


@dataclass(frozen=True)
class Use:
    """What an array of objects takes."""

    size: int
    holes: int
    per_line: float  # bytes of a cache line that hold nothing
    lines: int  # of OBJECTS objects


def use(layout: Layout) -> Use:
    empty = hole_bytes(layout)
    return Use(layout.size, empty, LINE_BYTES * empty / max(layout.size, 1), -(-OBJECTS * layout.size // LINE_BYTES))
