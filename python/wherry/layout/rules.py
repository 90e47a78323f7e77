"""How compilers for x86-64 Linux lay out members: the rules of its System V and Itanium C++ ABIs.

A member lies at the next multiple of its alignment. A bit-field lies behind the one before it unless it would cross a
boundary of its declared type; then it begins at that boundary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wherry.layout.members import Member


@dataclass(frozen=True)
class Placed:
    """first_bits: of each member, from the begin of the object."""

    first_bits: tuple[int, ...]
    size: int


def aligned(value: int, alignment: int) -> int:
    return -(-value // alignment) * alignment


def place(members: Sequence[Member], start: int, alignment: int) -> Placed:
    """Lays out members in this order from byte `start` on, in an object with this alignment."""
    at, places = 8 * start, []
    for member in members:
        at = _first_bit(member, at)
        places.append(at)
        at += member.bits or 8 * member.size
    return Placed(tuple(places), aligned(max(-(-at // 8), 1), alignment))


def _first_bit(member: Member, at: int) -> int:
    if not member.bits:
        return aligned(at, 8 * member.alignment)
    unit = 8 * member.size
    crosses = at // unit != (at + member.bits - 1) // unit
    return aligned(at, unit) if crosses else at
