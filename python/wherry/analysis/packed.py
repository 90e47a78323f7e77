"""Tables of packed C structs, decoded row by row as they are read.

In place of NumPy, whose import takes longer than reading the records of a usual run, and which `wherry run` would wait
for at the end of each program. A field is declared as NumPy declares it, so that tests can write records with that.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Row = dict[str, Any]
#: Name; type: "<u4" and its like, "S40" for 40 bytes, or another layout; for an array, its shape.
Field = tuple[str, "str | StructLayout"] | tuple[str, "str | StructLayout", tuple[int]]

_CODES = {"<u2": "H", "<u4": "I", "<u8": "Q", "<i4": "i"}  # of the module struct


class StructLayout:
    """A packed little-endian C struct."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self.fields = fields
        self.names = [field[0] for field in fields]
        self._parts: dict[str, Callable[[bytes], list[Any]]] = {}  # fields that are decoded in a second step
        codes = [self._code(*field) for field in fields]
        self._struct = struct.Struct("<" + "".join(codes))
        self.itemsize = self._struct.size

    def _code(self, name: str, kind: str | StructLayout, shape: tuple[int] | None = None) -> str:
        n = shape[0] if shape else 1
        if isinstance(kind, StructLayout):
            self._parts[name] = lambda raw: [kind.row(raw, i * kind.itemsize) for i in range(n)]
            return f"{n * kind.itemsize}s"
        if kind.startswith("S"):
            return f"{kind[1:]}s"
        if shape:
            array = struct.Struct(f"<{n}{_CODES[kind]}")
            self._parts[name] = lambda raw: list(array.unpack(raw))
            return f"{array.size}s"
        return _CODES[kind]

    def row(self, data: bytes | memoryview, offset: int = 0) -> Row:
        return self._named(self._struct.unpack_from(data, offset))

    def rows(self, data: memoryview) -> Iterator[Row]:
        return map(self._named, self._struct.iter_unpack(data))

    def _named(self, values: tuple[Any, ...]) -> Row:
        row = dict(zip(self.names, values, strict=True))
        for name, decode in self._parts.items():
            row[name] = decode(row[name])
        return row


class Table:
    """Rows of one layout that lie one behind the other in a file's bytes, which it refers to and does not copy."""

    def __init__(self, layout: StructLayout, data: bytes, offset: int, count: int) -> None:
        self._layout = layout
        self._data = memoryview(data)[offset : offset + count * layout.itemsize]

    def __len__(self) -> int:
        return len(self._data) // self._layout.itemsize

    def __getitem__(self, index: int) -> Row:
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self._layout.row(self._data, index * self._layout.itemsize)

    def __iter__(self) -> Iterator[Row]:
        return self._layout.rows(self._data)

    def column(self, name: str) -> list[Any]:
        return [row[name] for row in self]
