"""HTML and SVG by construction: text is always escaped, only `Markup` is not."""

from __future__ import annotations

import html
from collections.abc import Iterable

#: Cells that say nothing about what their column holds.
_UNKNOWN = ("", "unknown")


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def tag(name: str, *children: Markup | str | float | None, **attributes: str | float | None) -> Markup:
    """<name attributes>children</name>. A trailing _ of an attribute is dropped, other _ become -; None: left out."""
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_text(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{shown}>{join(children)}</{name}>")


def join(children: Iterable[Markup | str | float | None]) -> Markup:
    return Markup("".join(_text(child) for child in children if child is not None))


def table(headers: Iterable[str], rows: Iterable[Iterable[Markup | str | float]], caption: str | None = None) -> Markup:
    """A table; columns of numbers are right-aligned by their class. The keyboard moves one wider than the page."""
    names, cells = list(headers), [list(row) for row in rows]
    css = [_column_class(column) for column in zip(*cells, strict=True)] or [None] * len(names)
    head = tag("tr", *(tag("th", name, scope="col", class_=c) for name, c in zip(names, css, strict=True)))
    lines = (tag("tr", *(tag("td", cell, class_=c) for cell, c in zip(row, css, strict=True))) for row in cells)
    head, body = tag("thead", head), tag("tbody", *lines)
    label = caption or f"table: {', '.join(filter(None, names))}" if any(names) else "table"
    shown = tag("table", tag("caption", caption) if caption else None, head, body)
    return tag("div", shown, class_="scroll", tabindex=0, role="region", aria_label=label)


def _column_class(cells: Iterable[Markup | str | float]) -> str | None:
    known = [cell for cell in cells if cell not in _UNKNOWN]
    return "n" if known and all(map(_numeric, known)) else None


def _numeric(value: Markup | str | float) -> bool:
    """Whether it reads as one number, perhaps with a unit: no list of them."""
    return not isinstance(value, str) or (value.lstrip("-.<= ")[:1].isdigit() and ", " not in value)


def _text(value: Markup | str | float) -> str:
    if isinstance(value, Markup):
        return value
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return html.escape(str(value), quote=True)
