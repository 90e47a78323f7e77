"""What is said of a layout: pure functions from layouts to lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wherry import units
from wherry.layout.advice import LINE_BYTES, OBJECTS, Advice, use
from wherry.layout.members import Layout, Member, hole_bytes, holes

_HEAD = ("offset", "size", "member", "type", "")


def report(layout: Layout, advice: Advice) -> Iterator[str]:
    where = f" ({layout.where})" if layout.where else ""
    count = units.plural(len(layout.members), "member")
    yield f"{layout.kind} {layout.name}: {layout.size} bytes, alignment {layout.alignment}, {count}{where}"
    yield ""
    yield from table(layout)
    yield ""
    yield _holes(layout)
    yield from (f"note: {note}" for note in layout.notes)
    if advice.layout is None:
        yield f"no order is proposed: {advice.reason}"
        return
    yield ""
    yield f"proposed order: {advice.layout.size} bytes"
    yield ""
    yield from table(advice.layout)
    yield ""
    yield from gains(layout, advice.layout)


def _holes(layout: Layout) -> str:
    own, inner = sum(hole.size for hole in holes(layout)), sum(member.inner_holes for member in layout.members)
    inside = f", and {inner} inside of members" if inner else ""
    if not own and not inner:
        return "no holes"
    return f"{own} of {layout.size} bytes are holes{inside}"


def gains(before: Layout, after: Layout) -> Iterator[str]:
    was, now = use(before), use(after)
    saved = was.size - now.size
    yield f"it saves {units.plural(saved, 'byte')} of each object ({units.percent(saved / was.size)})"
    yield f"of a cache line of {LINE_BYTES} bytes {now.per_line:.1f} instead of {was.per_line:.1f} hold nothing"
    yield f"an array of {OBJECTS} objects takes {now.lines} cache lines instead of {was.lines}"
    if rest := hole_bytes(after):
        yield f"what remains ({units.plural(rest, 'byte')}): {_rest(after)}"


def _rest(after: Layout) -> str:
    ends = [hole for hole in holes(after) if hole.at_end]
    inner = [member.type_name for member in after.members if member.inner_holes]
    parts = [f"{ends[0].size} at the end, so that the size is a multiple of {after.alignment}"] if ends else []
    parts += [f"in {', '.join(dict.fromkeys(inner))}"] if inner else []
    return "; ".join(parts) or "between members"


def table(layout: Layout) -> Iterator[str]:
    yield from _columns([_HEAD, *_rows(layout)])


def _rows(layout: Layout) -> list[tuple[str, ...]]:
    """Members and holes by their offsets; those of unions in their order."""
    rows = [(member.first_bit or 8 * member.offset, 0, _member(member)) for member in layout.members]
    if layout.kind != "union":
        rows += [(8 * hole.offset, 1, _hole(hole.offset, hole.size)) for hole in holes(layout)]
        rows.sort(key=lambda row: row[:2])
    return [row for _, _, row in rows]


def _member(member: Member) -> tuple[str, ...]:
    inner = f"{units.plural(member.inner_holes, 'byte')} of holes inside" if member.inner_holes else ""
    if member.bits:
        bit = member.first_bit % 8
        place = f"{member.offset}" + (f" bit {bit}" if bit else "")
        return place, units.plural(member.bits, "bit"), member.name, member.type_name, inner
    return str(member.offset), str(member.size), member.name, "" if member.fixed else member.type_name, inner


def _hole(offset: int, size: int) -> tuple[str, ...]:
    return str(offset), str(size), "-", "hole", ""


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [cell.rjust(w) if i < 2 else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))]
        yield "  ".join(cells).rstrip()
