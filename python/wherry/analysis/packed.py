"""Tables of packed C structs, decoded as they are read.

The module `struct` decodes them: importing NumPy takes 0.1 s, which `wherry run` would add to the end of every program.
Fields are declared as for `numpy.dtype`, so that tests can write records with NumPy.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Row = dict[str, Any]
#: Name; type: "<u4" and its like, "S40" for 40 bytes, or another layout; for an array of numbers or structs, its shape.
Field = tuple[str, "str | StructLayout"] | tuple[str, "str | StructLayout", tuple[int]]

_CODES = {"<u2": "H", "<u4": "I", "<u8": "Q", "<i4": "i"}  # of the module struct


class StructLayout:
    """A packed little-endian C struct."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self.fields = fields
        self._decoders: dict[str, Callable[[bytes], Any]] = {}  # of fields that are decoded in a second step
        self._codes = {field[0]: self._code(*field) for field in fields}
        self._struct = struct.Struct("<" + "".join(self._codes.values()))
        self.itemsize = self._struct.size

    def _code(self, name: str, kind: str | StructLayout, shape: tuple[int] | None = None) -> str:
        if isinstance(kind, StructLayout):
            size, n = kind.itemsize, shape[0] if shape else 1
            self._decoders[name] = (
                (lambda raw: [kind.row(raw, i * size) for i in range(n)]) if shape else lambda raw: kind.row(raw)
            )
            return f"{n * size}s"
        if kind.startswith("S"):
            assert shape is None, "an array of texts is not supported"
            return f"{kind[1:]}s"
        if shape:
            array = struct.Struct(f"<{shape[0]}{_CODES[kind]}")
            self._decoders[name] = lambda raw: list(array.unpack(raw))
            return f"{array.size}s"
        return _CODES[kind]

    def row(self, data: bytes | memoryview, offset: int = 0) -> Row:
        return self._named(self._struct.unpack_from(data, offset))

    def rows(self, data: memoryview) -> Iterator[Row]:
        return map(self._named, self._struct.iter_unpack(data))

    def column(self, data: memoryview, name: str) -> list[Any]:
        """The field of all rows; the other fields are skipped."""
        codes = (code if other == name else f"{struct.calcsize('<' + code)}x" for other, code in self._codes.items())
        values = (value for (value,) in struct.iter_unpack("<" + "".join(codes), data))
        decode = self._decoders.get(name)
        return list(values) if decode is None else [decode(value) for value in values]

    def _named(self, values: tuple[Any, ...]) -> Row:
        row = dict(zip(self._codes, values, strict=True))
        for name, decode in self._decoders.items():
            row[name] = decode(row[name])
        return row


class Table:
    """Consecutive rows of one layout in a file's bytes; a view, not a copy."""

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
        return self._layout.column(self._data, name)
