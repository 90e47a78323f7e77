"""The picture of a layout: a row for each cache line, members in colours, holes hatched; then the proposed order."""

from __future__ import annotations

from collections.abc import Iterator

from wherry import units
from wherry.draw.figures import COLOURS, LINES, TEXT
from wherry.draw.markup import Markup, tag
from wherry.layout.advice import LINE_BYTES, Advice
from wherry.layout.members import Layout, holes

_BYTE, _ROW, _LEFT, _TOP, _GAP = 12.0, 30.0, 46.0, 34.0, 22.0
_LETTER = 6.6  # width of a letter, about
MOST_LINES = 64  # of cache lines that are drawn
_STYLE = (
    f"text {{ font: 11px system-ui, 'DejaVu Sans', sans-serif; fill: {TEXT}; }}"
    f" .hole {{ stroke: {LINES}; fill: url(#hole); }}"
    " .name { fill: #fff; } .head { font-size: 13px; font-weight: 600; } .member { stroke: #fff; stroke-width: 1; }"
)


def picture(layout: Layout, advice: Advice) -> str:
    """An SVG of its own. A union's members would lie upon each other: it is drawn as one."""
    colours = {member.name: COLOURS[i % len(COLOURS)] for i, member in enumerate(layout.members)}
    marks, height = _panel(layout, f"{layout.name}: {layout.size} bytes", 0.0, colours)
    if advice.layout is not None:
        more, height = _panel(advice.layout, f"proposed order: {advice.layout.size} bytes", height + _GAP, colours)
        marks += more
    width = _LEFT + LINE_BYTES * _BYTE + 8
    made = tag(
        "svg", tag("title", f"Layout of {layout.name}"), tag("style", Markup(_STYLE)), _hatching(), *marks,
        xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width:.0f} {height:.0f}", width=width, height=height,
        role="img",
    )  # fmt: skip
    return f"{made}\n"


def _hatching() -> Markup:
    line = tag("path", d="M0 6 L6 0", stroke=LINES, stroke_width=1.0)
    return tag("defs", tag("pattern", line, id="hole", width=6.0, height=6.0, patternUnits="userSpaceOnUse"))


def _panel(layout: Layout, title: str, top: float, colours: dict[str, str]) -> tuple[list[Markup], float]:
    lines = min(-(-layout.size // LINE_BYTES), MOST_LINES)
    more = f", the first {lines} cache lines" if lines * LINE_BYTES < layout.size else f", cache lines of {LINE_BYTES}"
    marks = [tag("text", title + more, x=2.0, y=top + 16, class_="head")]
    for line in range(lines):
        at = top + _TOP + line * _ROW + 15
        marks.append(tag("text", str(line * LINE_BYTES), x=_LEFT - 8, y=at, text_anchor="end"))
    for begin, end, name, tip in _pieces(layout):
        marks += _piece(begin, end, name, tip, top, colours.get(name, ""))
    return marks, top + _TOP + lines * _ROW + 4


def _pieces(layout: Layout) -> Iterator[tuple[int, int, str, str]]:
    """First bit, end, name and tooltip; holes have no name."""
    if layout.kind == "union":
        name = layout.members[0].name if layout.members else layout.name
        yield 0, 8 * layout.size, name, " or ".join(f"{m.name} ({m.size} bytes)" for m in layout.members)
        return
    for member in layout.members:
        begin = member.first_bit if member.bits else 8 * member.offset
        end = begin + member.bits if member.bits else 8 * member.used_end
        size = units.plural(member.bits, "bit") if member.bits else units.plural(member.size, "byte")
        if end > begin:
            yield begin, end, member.name, f"{member.name}: {member.type_name}, {size} at {member.offset}"
    for hole in holes(layout):
        tip = f"hole of {units.plural(hole.size, 'byte')} at {hole.offset}"
        yield 8 * hole.offset, 8 * (hole.offset + hole.size), "", tip


def _piece(begin: int, end: int, name: str, tip: str, top: float, colour: str) -> Iterator[Markup]:
    """Cut where a cache line ends."""
    line_bits = 8 * LINE_BYTES
    while begin < end and begin // line_bits < MOST_LINES:
        line, stop = begin // line_bits, min(end, (begin // line_bits + 1) * line_bits)
        x, width = _LEFT + (begin - line * line_bits) / 8 * _BYTE, (stop - begin) / 8 * _BYTE
        y = top + _TOP + line * _ROW
        css, fill = ("member", colour) if name else ("hole", None)
        yield tag("rect", tag("title", tip), x=x, y=y, width=width, height=_ROW - 8, class_=css, fill=fill)
        if name and width > _LETTER:
            most = int((width - 4) / _LETTER)
            shown = name if len(name) <= most else name[: most - 1] + "…" if most > 2 else ""
            yield tag("text", shown, x=x + width / 2, y=y + 15, text_anchor="middle", class_="name")
        begin = stop
