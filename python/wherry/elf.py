"""What the dynamic loader would see in a program: static or dynamic, and which MPI it is linked to."""

from __future__ import annotations

import os
import re
import struct
from dataclasses import dataclass
from pathlib import Path

_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NEEDED, _DT_STRTAB, _DT_RPATH, _DT_RUNPATH = 1, 5, 15, 29
_SHT_SYMTAB, _SHT_DYNSYM, _STT_FUNC = 2, 11, 2
_SYMBOL = struct.Struct("<IBBHQQ")  # name, information, other, section, value, size
_MOST_DYNAMIC = 1 << 16  # bytes of a dynamic section; more is taken for damage

#: Families by the libraries that only they have. The first match counts.
_FAMILIES = (
    (re.compile(r"libmpi_abi\.so"), "abi"),
    (re.compile(r"lib(mpi|mpi_mpifh|mpi_usempi\w*|mpi_cxx)\.so\.(20|40)$"), "openmpi"),
    (re.compile(r"lib(mpi|mpifort|mpicxx)\.so\.12$"), "mpich"),
    (re.compile(r"libmpich\w*\.so"), "mpich"),
    (re.compile(r"libmpi\w*\.so"), "unknown"),
)


_SANITIZER = re.compile(r"lib(clang_rt\.)?(asan|hwasan|lsan|tsan)\b")


@dataclass(frozen=True)
class Elf:
    executable: bool  # ET_EXEC: addresses are absolute
    interpreter: bool  # names a dynamic loader
    needed: tuple[str, ...]
    search: tuple[str, ...]  # RPATH and RUNPATH, $ORIGIN expanded
    base: int  # lowest address that is loaded

    @property
    def dynamic(self) -> bool:
        return self.interpreter or bool(self.needed)


def read(path: Path) -> Elf | None:
    """The headers of a 64-bit little-endian ELF file; None for anything else, damaged files included."""
    try:
        with path.open("rb") as file:
            data = file.read(64)
            if len(data) < 64 or data[:6] != b"\x7fELF\x02\x01":
                return None
            file.seek(0)
            return _parse(path, file.read())
    except (OSError, struct.error, IndexError, ValueError):
        return None


def sanitizer(path: Path) -> str | None:
    """The run-time of a sanitizer that a program is linked to: its path, or its name if it is not found here."""
    elf = read(path)
    name = next((name for name in elf.needed if _SANITIZER.match(name)), None) if elf else None
    return str(_find(name, elf) or name) if elf and name else None


def functions(path: Path) -> list[tuple[int, int]]:
    """(first address, address behind the last) of each function that the symbol tables tell the size of, ascending."""
    try:
        data = path.read_bytes()
        if data[:6] != b"\x7fELF\x02\x01":
            return []
        tables = [data[offset : offset + size] for offset, size in _symbol_tables(data)]
        symbols = (entry for table in tables for entry in _SYMBOL.iter_unpack(table))
        return sorted({(s[4], s[4] + s[5]) for s in symbols if s[1] & 15 == _STT_FUNC and s[3] and s[5]})
    except (OSError, struct.error, IndexError):
        return []


def _symbol_tables(data: bytes) -> list[tuple[int, int]]:
    """(offset, whole symbols' bytes) in the file."""
    start = struct.unpack_from("<Q", data, 40)[0]
    size, count = struct.unpack_from("<HH", data, 58)
    found = []
    for i in range(count if start else 0):
        kind, offset, length = struct.unpack_from("<4xI16xQQ", data, start + i * size)
        if kind in (_SHT_SYMTAB, _SHT_DYNSYM):
            found.append((offset, length // _SYMBOL.size * _SYMBOL.size))
    return found


def is_script(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def family(path: Path) -> str | None:
    """'openmpi', 'mpich', 'abi' or 'unknown' if the program reaches an MPI library; None if it reaches none."""
    return mpi_of(path)[0]


def mpi_of(path: Path) -> tuple[str | None, str]:
    """Family and name of the MPI library that a program is linked to, through other libraries if need be."""
    seen: set[Path] = set()
    queue = [path]
    while queue:
        current = queue.pop(0)
        if current in seen or (elf := read(current)) is None:
            continue
        seen.add(current)
        for name in elf.needed:
            for pattern, which in _FAMILIES:
                if pattern.match(name):
                    return which, name
        queue += [found for name in elf.needed if (found := _find(name, elf)) is not None]
    return None, ""


def _find(name: str, elf: Elf) -> Path | None:
    if "/" in name:
        return Path(name)
    preset = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    system = ["/lib", "/usr/lib", "/usr/local/lib", "/lib64", "/usr/lib64", "/lib/x86_64-linux-gnu"]
    for folder in [*elf.search, *preset, *system, "/usr/lib/x86_64-linux-gnu"]:
        if folder and (path := Path(folder) / name).is_file():
            return path
    return None


def _parse(path: Path, data: bytes) -> Elf:
    kind = struct.unpack_from("<H", data, 16)[0]
    segments = _segments(data)
    loads = [s for s in segments if s[0] == _PT_LOAD]
    interpreter = any(s[0] == _PT_INTERP for s in segments)
    needed: list[str] = []
    search: list[str] = []
    for tag, value in _dynamic(data, segments):
        if tag == _DT_NEEDED:
            needed.append(value)
        elif tag in (_DT_RPATH, _DT_RUNPATH):
            origin = str(path.resolve().parent)
            search += value.replace("${ORIGIN}", origin).replace("$ORIGIN", origin).split(":")
    return Elf(kind == 2, interpreter, tuple(needed), tuple(search), min((s[2] for s in loads), default=0))


def _segments(data: bytes) -> list[tuple[int, int, int, int]]:
    """(type, offset, virtual address, bytes in the file) of each program header."""
    start, size, count = (
        struct.unpack_from("<Q", data, 32)[0],
        struct.unpack_from("<H", data, 54)[0],
        struct.unpack_from("<H", data, 56)[0],
    )
    found = []
    for i in range(count):
        kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", data, start + i * size)
        found.append((kind, offset, address, length))
    return found


def _dynamic(data: bytes, segments: list[tuple[int, int, int, int]]) -> list[tuple[int, str]]:
    """The entries of the dynamic section whose values are text."""
    section = next((s for s in segments if s[0] == _PT_DYNAMIC), None)
    if section is None or section[3] > _MOST_DYNAMIC:
        return []
    entries = []
    for at in range(section[1], section[1] + section[3], 16):
        tag, value = struct.unpack_from("<QQ", data, at)
        if tag == 0:
            break
        entries.append((tag, value))
    table = next((value for tag, value in entries if tag == _DT_STRTAB), None)
    strings = _file_offset(table, segments) if table is not None else None
    if strings is None:
        return []
    wanted = (_DT_NEEDED, _DT_RPATH, _DT_RUNPATH)
    return [(tag, _string(data, strings + value)) for tag, value in entries if tag in wanted]


def _file_offset(address: int, segments: list[tuple[int, int, int, int]]) -> int | None:
    for kind, offset, start, length in segments:
        if kind == _PT_LOAD and start <= address < start + length:
            return offset + address - start
    return None


def _string(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode("utf-8", errors="replace")
