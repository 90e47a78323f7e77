"""HTML and SVG by construction: text is always escaped, only `Markup` is not."""

from __future__ import annotations

import html
from collections.abc import Iterable


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
    """A table; cells of numbers are right-aligned by their class."""
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in headers)))
    body = tag("tbody", *(tag("tr", *(_cell(value) for value in row)) for row in rows))
    return tag("div", tag("table", tag("caption", caption) if caption else None, head, body), class_="scroll")


def _cell(value: Markup | str | float) -> Markup:
    return tag("td", value, class_="n" if _numeric(value) else None)


def _numeric(value: Markup | str | float) -> bool:
    return not isinstance(value, str) or value[:1].isdigit() or value[:2].strip("-.")[:1].isdigit()


def _text(value: Markup | str | float) -> str:
    if isinstance(value, Markup):
        return value
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return html.escape(str(value), quote=True)
