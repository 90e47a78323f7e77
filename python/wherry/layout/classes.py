"""From a class of DWARF to its Layout."""

from __future__ import annotations

from wherry.layout.members import Layout, Member, hole_bytes, holes
from wherry.layout.types import (
    CLASSES,
    DIE,
    Unknown,
    alignment_of,
    attribute,
    class_alignment,
    extents,
    name_of,
    number,
    part_alignment,
    parts,
    size_of,
    stripped,
    text,
    type_of,
)


def layout_of(die: DIE, name: str, where: str = "") -> Layout:
    """Raises Unknown for what cannot be laid out at all."""
    members: list[Member] = []
    notes: list[str] = []
    for part in parts(die):
        if part.tag == "DW_TAG_inheritance" and number(part, "data_member_location") is None:
            base = name_of(type_of(part))
            notes.append(f"virtual base class {base}: it lies where each object says, and is not shown")
        else:
            members.append(_base(part) if part.tag == "DW_TAG_inheritance" else _member(part))
    size = number(die, "byte_size") or 0
    notes += _overlaps(members) if die.tag != "DW_TAG_union_type" else []
    if members and members[-1].size == 0:
        notes.append(f"{members[-1].name} has no size of its own and must stay last")
    kind = CLASSES[die.tag]
    return Layout(name, kind, size, class_alignment(die), tuple(members), where, tuple(notes))  # type: ignore[arg-type]


def _overlaps(members: list[Member]) -> list[str]:
    end, last = 0, ""
    for member in members:
        begin = member.first_bit if member.bits else 8 * member.offset
        if begin < end:
            return [f"{member.name} lies on {last}, as [[no_unique_address]] allows"]
        end = begin + member.bits if member.bits else 8 * member.used_end
        last = member.name
    return []


def _base(part: DIE) -> Member:
    die = stripped(type_of(part))
    name, offset = name_of(die), number(part, "data_member_location") or 0
    inner = layout_of(die, name)
    end = max((member.used_end for member in inner.members), default=0)
    inside = sum(hole.size for hole in holes(inner) if not hole.at_end) + sum(m.inner_holes for m in inner.members)
    return Member(
        f"base {name}", name, offset, inner.size, alignment_of(die), fixed=True, inner_holes=inside,
        data_end=offset + end,
    )  # fmt: skip


def _member(part: DIE) -> Member:
    die = type_of(part)
    shown, offset = name_of(die), number(part, "data_member_location") or 0
    name = text(part) or shown
    if "DW_AT_bit_size" in part.attributes:
        return _bit_field(part, name, shown)
    fixed = bool(attribute(part, "artificial")) and name.startswith(("_vptr.", "_vptr$"))
    return Member(
        "pointer to virtual functions" if fixed else name, shown, offset, size_of(die), part_alignment(part),
        fixed=fixed, inner_holes=_inner_holes(die),
    )  # fmt: skip


def _bit_field(part: DIE, name: str, shown: str) -> Member:
    die = type_of(part)
    size, bits = size_of(die), number(part, "bit_size") or 0
    first = number(part, "data_bit_offset")
    if first is None:  # before DWARF 4: counted from the most significant bit of a unit
        unit, from_top = number(part, "byte_size") or size, number(part, "bit_offset") or 0
        first = 8 * (number(part, "data_member_location") or 0) + 8 * unit - from_top - bits
    return Member(name, shown, first // 8, size, alignment_of(die), bits=bits, first_bit=first)


def _inner_holes(die: DIE | None) -> int:
    """Of a member: of arrays in each element; of unions none, since what they hold is not known."""
    die = stripped(die)
    if die is None:
        return 0
    if die.tag == "DW_TAG_array_type":
        count = 1
        for extent in extents(die):
            count *= extent or 0
        return count * _inner_holes(type_of(die))
    if die.tag not in CLASSES or die.tag == "DW_TAG_union_type" or attribute(die, "declaration"):
        return 0
    try:
        return hole_bytes(layout_of(die, ""))
    except Unknown:
        return 0
