"""Orders of members: against all permutations, and the rules by which sizes are promised."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import permutations

import pytest

from wherry.layout import text
from wherry.layout.advice import advise, use
from wherry.layout.members import Layout, Member, hole_bytes, holes
from wherry.layout.rules import aligned, place

SEED = 29
BASES = ((), (8, 8), (12, 8), (13, 4), (16, 8))  # where values of a base class end, and its alignment


def plain(number: int, size: int, alignment: int) -> Member:
    return Member(f"m{number}", "type", 0, size, alignment)


def laid_out(members: list[Member], base: tuple[int, ...] = ()) -> Layout:
    """What a compiler would make of it; base: the end of its values, and its alignment."""
    start, least = base or (0, 1)
    whole = max([least, *(member.alignment for member in members)])
    first = [Member("base B", "B", 0, start, least, fixed=True, data_end=start)] if base else []
    placed = place(members, start, whole)
    own = [
        replace(member, offset=bit // 8, first_bit=bit if member.bits else 0)
        for member, bit in zip(members, placed.first_bits, strict=True)
    ]
    return Layout("T", "struct", placed.size, whole, (*first, *own))


def random_members(generator: random.Random, most: int) -> list[Member]:
    count = generator.randint(1, most)
    alignments = [generator.choice([1, 1, 2, 4, 8, 16]) for _ in range(count)]
    return [plain(i, alignment * generator.randint(1, 3), alignment) for i, alignment in enumerate(alignments)]


@pytest.mark.parametrize("base", BASES)
def test_no_permutation_is_smaller_by_more_than_a_base_leaves(base: tuple[int, ...]) -> None:
    generator = random.Random(SEED)
    for _ in range(150):
        layout = laid_out(random_members(generator, 6), base)
        own = [member for member in layout.members if not member.fixed]
        start = base[0] if base else 0
        best = min(place(order, start, layout.alignment).size for order in permutations(own))
        found = advise(layout).layout or layout
        assert found.size == best, (SEED, base, layout)


def test_what_is_proposed_has_all_members_none_of_them_upon_another() -> None:
    generator = random.Random(SEED)
    for _ in range(300):
        layout = laid_out(random_members(generator, 12))
        found = advise(layout).layout
        if found is None:
            continue
        assert sorted(member.name for member in found.members) == sorted(member.name for member in layout.members)
        ends = [(member.offset, member.end) for member in found.members]
        assert all(a[1] <= b[0] for a, b in zip(sorted(ends), sorted(ends)[1:], strict=False)), (SEED, found)
        assert all(member.offset % member.alignment == 0 for member in found.members)
        assert sum(member.size for member in found.members) + hole_bytes(found) == found.size < layout.size


def test_members_by_falling_alignment_leave_no_holes() -> None:
    members = sorted([plain(i, size, size) for i, size in enumerate((1, 8, 2, 4, 1, 8))], key=lambda m: -m.alignment)
    assert place(members, 0, 8).size == aligned(24, 8)


def test_bit_fields_stay_together_and_in_order() -> None:
    fields = [Member(f"b{i}", "unsigned", 0, 4, 4, bits=n) for i, n in enumerate((3, 30, 5))]
    layout = laid_out([plain(0, 1, 1), plain(1, 8, 8), *fields, plain(2, 1, 1)])
    found = advise(layout).layout
    assert found is not None and found.size < layout.size
    names = [member.name for member in found.members]
    assert names[names.index("b0") : names.index("b0") + 3] == ["b0", "b1", "b2"]


def test_a_bit_field_that_would_cross_its_unit_begins_at_the_next() -> None:
    fields = [Member("a", "unsigned", 0, 4, 4, bits=30), Member("b", "unsigned", 0, 4, 4, bits=3)]
    assert place(fields, 0, 4).first_bits == (0, 32)
    assert place([plain(0, 1, 1), *fields[::-1]], 0, 4).first_bits == (0, 8, 32)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"size": 40}, "does not follow the plain rules"),
        ({"kind": "union"}, "lie upon each other"),
        ({"notes": ("virtual base class B",)}, "virtual base class B"),
        ({"members": (Member("a", "char", 0, 1, 1),), "size": 1, "alignment": 1}, "nothing to move"),
    ],
)
def test_no_order_is_proposed_with_the_reason(change: dict[str, object], why: str) -> None:
    layout = laid_out([plain(0, 1, 1), plain(1, 8, 8), plain(2, 1, 1)])
    found = advise(replace(layout, **change))  # type: ignore[arg-type]
    assert found.layout is None and why in found.reason


def test_where_it_is_unknown_whether_a_base_gives_room_nothing_is_promised() -> None:
    base = Member("base B", "B", 0, 16, 8, fixed=True, data_end=12)
    own = (Member("d", "double", 16, 8, 8), Member("i", "int", 24, 4, 4))
    found = advise(Layout("T", "struct", 32, 8, (base, *own)))  # both beginnings, 12 and 16, explain it
    assert found.layout is None and "in the end of base B" in found.reason


# what is said


def test_holes_gains_and_cache_lines_in_numbers() -> None:
    layout = laid_out([plain(0, 1, 1), plain(1, 8, 8), plain(2, 1, 1)])
    assert [(hole.offset, hole.size, hole.after, hole.at_end) for hole in holes(layout)] == [
        (1, 7, "m0", False),
        (17, 7, "m2", True),
    ]
    found = advise(layout).layout
    assert found is not None and (layout.size, found.size) == (24, 16)
    assert (use(layout).lines, use(found).lines) == (375, 250)
    lines = list(text.gains(layout, found))
    assert lines[0] == "it saves 8 bytes of each object (33%)"
    assert lines[1] == "of a cache line of 64 bytes 24.0 instead of 37.3 hold nothing"
    assert lines[2] == "an array of 1000 objects takes 250 cache lines instead of 375"


def test_the_table_has_members_and_holes_in_their_order() -> None:
    layout = laid_out([plain(0, 1, 1), Member("b", "unsigned", 0, 4, 4, bits=3), plain(1, 8, 8)])
    rows = [line.split() for line in text.table(layout)]
    assert rows[1:] == [
        ["0", "1", "m0", "type"],
        ["1", "3", "bits", "b", "unsigned"],
        ["2", "6", "-", "hole"],
        ["8", "8", "m1", "type"],
    ]
