"""Types of DWARF: their names, sizes and alignments. Debug information tells sizes, but alignments only where a program
asks for other than the usual ones; those follow from the ABI of x86-64 Linux.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

DIE = Any  # of pyelftools, which has no types

POINTERS = {
    "DW_TAG_pointer_type": "*",
    "DW_TAG_reference_type": "&",
    "DW_TAG_rvalue_reference_type": "&&",
}
_QUALIFIERS = {
    "DW_TAG_const_type": "const ",
    "DW_TAG_volatile_type": "volatile ",
    "DW_TAG_atomic_type": "_Atomic ",
    "DW_TAG_restrict_type": "",
}
CLASSES = {"DW_TAG_structure_type": "struct", "DW_TAG_class_type": "class", "DW_TAG_union_type": "union"}
#: Clang describes classes from other headers, and both compilers classes with virtual functions, in one source only.
WHERE_DESCRIBED = "; compile with -fstandalone-debug (clang) or -femit-class-debug-always (g++)"
_POINTER_BYTES, _MOST_ALIGNMENT, _COMPLEX = 8, 16, 3
#: DW_LANG_Fortran77, 90, 95, 03, 08 and 18: the first index of an array is 1 if nothing else is told.
_FORTRAN = (0x07, 0x08, 0x0E, 0x22, 0x23, 0x2D)


class Unknown(Exception):
    """What debug information does not tell, or this does not know."""


def attribute(die: DIE, name: str) -> Any:
    """Its value, or None."""
    found = die.attributes.get(f"DW_AT_{name}")
    return None if found is None else found.value


def text(die: DIE, name: str = "name") -> str:
    value = attribute(die, name)
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else ""


def number(die: DIE, name: str) -> int | None:
    """None where it is no constant, such as the offset of a virtual base."""
    value = attribute(die, name)
    return value if isinstance(value, int) else None


def type_of(die: DIE) -> DIE | None:
    return die.get_DIE_from_attribute("DW_AT_type") if "DW_AT_type" in die.attributes else None


def stripped(die: DIE | None) -> DIE | None:
    """Behind typedefs and qualifiers."""
    while die is not None and (die.tag == "DW_TAG_typedef" or die.tag in _QUALIFIERS):
        die = type_of(die)
    return die


def name_of(die: DIE | None) -> str:
    """As C++ writes it, about."""
    if die is None:
        return "void"
    if name := text(die):
        return name
    if die.tag in POINTERS:
        return name_of(type_of(die)) + POINTERS[die.tag]
    if die.tag in _QUALIFIERS:
        return _QUALIFIERS[die.tag] + name_of(type_of(die))
    if die.tag == "DW_TAG_array_type":
        return name_of(type_of(die)) + "".join(f"[{'' if n is None else n}]" for n in extents(die))
    if die.tag in ("DW_TAG_subroutine_type", "DW_TAG_ptr_to_member_type"):
        return "function" if die.tag == "DW_TAG_subroutine_type" else "pointer to member"
    word = CLASSES.get(die.tag) or ("enum" if die.tag == "DW_TAG_enumeration_type" else "type")
    return f"(anonymous {word})"


def extents(die: DIE) -> list[int | None]:
    """Of the dimensions of an array; None: not told."""
    return [_extent(child) for child in die.iter_children() if child.tag == "DW_TAG_subrange_type"]


def _extent(child: DIE) -> int | None:
    if (count := number(child, "count")) is not None:
        return count
    upper, lower = number(child, "upper_bound"), number(child, "lower_bound")
    # GCC writes the bound of an array of no elements as -1 in as many bytes as it needs.
    if upper is None or upper in (-1, 2**32 - 1, 2**64 - 1):
        return None
    return upper + 1 - (lower if lower is not None else _first_index(child))


def _first_index(die: DIE) -> int:
    return 1 if attribute(die.cu.get_top_DIE(), "language") in _FORTRAN else 0


def size_of(die: DIE | None) -> int:
    """Raises Unknown."""
    die = stripped(die)
    if die is None:
        raise Unknown("a member has no type")
    if (size := number(die, "byte_size")) is not None:
        return size
    if die.tag == "DW_TAG_array_type":
        size = size_of(type_of(die))
        for count in extents(die):
            size *= count or 0
        return size
    if die.tag in POINTERS or die.tag == "DW_TAG_unspecified_type":
        return _POINTER_BYTES
    if die.tag == "DW_TAG_ptr_to_member_type":
        target = stripped(type_of(die))
        return _POINTER_BYTES * (2 if target is not None and target.tag == "DW_TAG_subroutine_type" else 1)
    raise Unknown(f"it does not describe {name_of(die)}{WHERE_DESCRIBED}")


def alignment_of(die: DIE | None) -> int:
    """Raises Unknown."""
    while die is not None:
        if (told := number(die, "alignment")) is not None:
            return told
        if die.tag == "DW_TAG_atomic_type" and (size := size_of(die)) in (1, 2, 4, 8, 16):
            return size
        if die.tag != "DW_TAG_typedef" and die.tag not in _QUALIFIERS:
            break
        die = type_of(die)
    if die is None:
        raise Unknown("a member has no type")
    if die.tag in CLASSES:
        return class_alignment(die)
    if die.tag == "DW_TAG_array_type":
        return size_of(die) if attribute(die, "GNU_vector") else alignment_of(type_of(die))
    if die.tag == "DW_TAG_ptr_to_member_type":
        return _POINTER_BYTES
    size = size_of(die)
    return min(size // 2 if attribute(die, "encoding") == _COMPLEX else size, _MOST_ALIGNMENT)


def class_alignment(die: DIE) -> int:
    """That of its parts; less where it is packed, as far as sizes and offsets show."""
    if (told := number(die, "alignment")) is not None:
        return told
    alignment = max((_told_alignment(part) for part in parts(die)), default=1)
    while size_of(die) % alignment or _is_misplaced(die, alignment):
        alignment //= 2
    return alignment


def _told_alignment(part: DIE) -> int:
    """1 where it is not told, which shows where the whole is laid out."""
    try:
        return part_alignment(part)
    except Unknown:
        return 1


def part_alignment(part: DIE) -> int:
    told = number(part, "alignment")
    return told if told is not None else alignment_of(type_of(part))


def _is_misplaced(die: DIE, alignment: int) -> bool:
    """Whether a part lies where this alignment of the whole, and the part's own, do not let it lie."""
    for part in parts(die):
        offset = number(part, "data_member_location")
        if "DW_AT_bit_size" in part.attributes or offset is None:
            continue
        if offset % min(_told_alignment(part), alignment):
            return True
    return False


def parts(die: DIE) -> Iterator[DIE]:
    """Members and base classes; static members are none."""
    for child in die.iter_children():
        is_static = attribute(child, "external") or attribute(child, "declaration")
        if child.tag == "DW_TAG_inheritance" or (child.tag == "DW_TAG_member" and not is_static):
            yield child
