"""Finding a type in the debug information of a program. pyelftools reads the files."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elftools.common.exceptions import DWARFError, ELFError
from elftools.elf.elffile import ELFFile

from wherry.errors import UsageError, WherryError
from wherry.layout.classes import layout_of
from wherry.layout.members import Layout
from wherry.layout.types import CLASSES, DIE, WHERE_DESCRIBED, Unknown, attribute, number, stripped, text

_DEBUG_FOLDER = Path("/usr/lib/debug")
_SCOPES = ("DW_TAG_namespace", "DW_TAG_module", *CLASSES)
_FUNCTIONS = ("DW_TAG_subprogram", "DW_TAG_lexical_block")
_MOST_NAMED = 6


def find_layout(program: Path, wanted: str) -> Layout:
    """Of the type of that name, with or without its namespaces. Raises UsageError or WherryError, saying what to do."""
    try:
        with program.open("rb") as file:
            return _find(program, file, wanted)
    except OSError as error:
        raise UsageError(f"cannot read {program}: {error.strerror}; name a program or a library") from error
    except Unknown as error:
        raise WherryError(
            f"the debug information of {program} does not tell the layout of {wanted}: {error}"
        ) from error
    except (ELFError, DWARFError) as error:
        raise WherryError(
            f"the debug information of {program} cannot be read: {error}; compile it with -g and without other options"
            " that change debug information"
        ) from error


def _find(program: Path, file: Any, wanted: str) -> Layout:
    names: dict[str, bool] = {}  # of types, and whether they are described
    for functions in (False, True):  # types of functions only if there is no other: most of a program is functions
        found = [
            one
            for source in _sources(program, file)
            for one in _named(source, wanted, functions=functions, names=names)
        ]
        if found:
            return _only(program, wanted, found)
    raise UsageError(_no_such_type(program, wanted, names))


@dataclass(frozen=True)
class _Found:
    name: str
    die: DIE
    where: str


def _only(program: Path, wanted: str, found: list[_Found]) -> Layout:
    """The same type stands in every source that uses it. Raises UsageError where several have the name."""
    layouts: dict[tuple[Any, ...], Layout] = {}
    for one in found:
        layout = layout_of(one.die, one.name, one.where)
        layouts.setdefault((layout.name, layout.size, layout.members), layout)
    several = list(layouts.values())
    if len(several) == 1:
        return several[0]
    if exact := [layout for layout in several if plain(layout.name) == plain(wanted)]:
        if len(exact) == 1:
            return exact[0]
        several = exact
    shown = ", ".join(f"{layout.name} ({layout.size} bytes, {layout.where})" for layout in several[:_MOST_NAMED])
    advice = "write its namespaces, too"
    if len({layout.name for layout in several}) == 1:
        advice = "its sources differ in it, which C++ forbids; rename one, or name an object file"
    raise UsageError(f"{len(several)} types of {program} are called '{wanted}': {shown}; {advice}")


def _no_such_type(program: Path, wanted: str, names: dict[str, bool]) -> str:
    if not names:
        return f"{program} defines no classes or structures in its debug information; name another program or library"
    if any(_is_called(name, wanted) and not described for name, described in names.items()):
        return f"the debug information of {program} names {wanted} but does not describe it{WHERE_DESCRIBED}"
    return f"{program} has no type '{wanted}' that it uses{_near(wanted, list(names))}"


def _near(wanted: str, names: list[str]) -> str:
    """What to write instead, if anything comes near."""
    templates = sorted(name for name in names if plain(_last(name)).startswith(f"{plain(_last(wanted))}<"))
    if templates:
        return f"; it is a template, of which there are {', '.join(templates[:_MOST_NAMED])}"
    last = {_last(name): name for name in names}
    near = difflib.get_close_matches(_last(wanted), last, n=3, cutoff=0.6)
    return (
        f"; did you mean {' or '.join(repr(last[name]) for name in near)}?" if near else "; see how its source calls it"
    )


def _last(name: str) -> str:
    """Without namespaces: ns::Map<a::B> is Map<a::B>."""
    head = name.split("<", 1)[0]
    return name[head.rfind("::") + 2 :] if "::" in head else name


def plain(name: str) -> str:
    """Without spaces that do not matter: of Pair<int, Box<3> > and Pair<int,Box<3>>."""
    return re.sub(r"\s*([<>,*&()\[\]])\s*", r"\1", " ".join(name.split()))


def _is_called(name: str, wanted: str) -> bool:
    name, wanted = plain(name), plain(wanted)
    return name == wanted or name.endswith(f"::{wanted}")


# the sources of a program


def _sources(program: Path, file: Any) -> Iterator[Any]:
    """Compilation units. Raises WherryError if there are none, UsageError for what is no program."""
    file.seek(0)
    if file.read(4) != b"\x7fELF":
        raise UsageError(f"{program} is no program or library (no ELF file); name the program itself, not a script")
    elf = ELFFile(file)
    if elf.get_machine_arch() != "x64":
        raise UsageError(f"{program} is a program for {elf.get_machine_arch()}; layouts are known for x86-64")
    if not elf.has_dwarf_info(strict=True):
        elf = _separate(program, elf)
    units = list(elf.get_dwarf_info(follow_links=False).iter_CUs())
    if units and all(_is_split(unit.get_top_DIE()) for unit in units):
        raise WherryError(
            f"the debug information of {program} is in .dwo files, which are not read; compile it without -gsplit-dwarf"
        )
    yield from units


def _is_split(top: DIE) -> bool:
    return (
        top.tag == "DW_TAG_skeleton_unit"
        or "DW_AT_GNU_dwo_name" in top.attributes
        or "DW_AT_dwo_name" in top.attributes
    )


def _separate(program: Path, elf: ELFFile) -> ELFFile:
    """The file that Debian's and other packages put debug information in. Raises WherryError if it is not there."""
    for path in _candidates(program, elf):
        if path.is_file():
            found = ELFFile(path.open("rb"))  # open as long as its information is read
            if found.has_dwarf_info(strict=True):
                return found
    raise WherryError(
        f"{program} has no debug information, which tells the members of types; compile it with -g, and do not strip it"
    )


def _candidates(program: Path, elf: ELFFile) -> Iterator[Path]:
    identity: Any = elf.get_section_by_name(".note.gnu.build-id")
    for note in identity.iter_notes() if identity is not None else ():
        if note["n_type"] == "NT_GNU_BUILD_ID":
            word = str(note["n_desc"])
            yield _DEBUG_FOLDER / ".build-id" / word[:2] / f"{word[2:]}.debug"
    link = elf.get_section_by_name(".gnu_debuglink")
    if link is not None:
        name = link.data().split(b"\0", 1)[0].decode("utf-8", errors="replace")
        home = program.resolve().parent
        yield from (home / name, home / ".debug" / name, _DEBUG_FOLDER / str(home).lstrip("/") / name)


# types by name


def _named(unit: Any, wanted: str, *, functions: bool, names: dict[str, bool]) -> Iterator[_Found]:
    """The classes of that name in a unit, and what typedefs of that name lead to. Adds all to `names`."""
    for name, die in _types(unit.get_top_DIE(), "", functions):
        target = stripped(die)
        if target is None or target.tag not in CLASSES:
            continue
        described = not attribute(target, "declaration")
        names[name] = names.get(name, False) or described
        if described and _is_called(name, wanted):
            yield _Found(name, target, _where(unit, target))


def _types(scope: DIE, prefix: str, functions: bool) -> Iterator[tuple[str, DIE]]:
    for die in scope.iter_children():
        name = _own_name(die)
        if name and (die.tag in CLASSES or die.tag == "DW_TAG_typedef"):
            yield prefix_of(die, prefix) + name, die
        if die.tag in _SCOPES or (functions and die.tag in _FUNCTIONS):
            inner = _scope_name(die, name)
            yield from _types(die, f"{prefix_of(die, prefix)}{inner}", functions)


def _own_name(die: DIE) -> str:
    return text(die) or (text(_specification(die)) if "DW_AT_specification" in die.attributes else "")


def _specification(die: DIE) -> DIE:
    return die.get_DIE_from_attribute("DW_AT_specification")


def prefix_of(die: DIE, prefix: str) -> str:
    """Of a class that is defined outside of its scope, the scopes of its declaration."""
    if "DW_AT_specification" not in die.attributes:
        return prefix
    scopes, scope = "", _specification(die).get_parent()
    while scope is not None and scope.tag in _SCOPES:
        scopes = f"{_scope_name(scope, text(scope))}{scopes}"
        scope = scope.get_parent()
    return scopes


def _scope_name(die: DIE, name: str) -> str:
    if die.tag == "DW_TAG_lexical_block":
        return ""
    if die.tag == "DW_TAG_subprogram":
        return f"{name}()::" if name else ""
    return f"{name or ('(anonymous namespace)' if die.tag == 'DW_TAG_namespace' else '(anonymous)')}::"


def _where(unit: Any, die: DIE) -> str:
    """File and line of the declaration, as far as they are told."""
    line, index = number(die, "decl_line"), number(die, "decl_file")
    lines = unit.dwarfinfo.line_program_for_CU(unit)
    if line is None or index is None or lines is None:
        return ""
    version, files = lines.header["version"], lines.header["file_entry"]
    at = index if version >= 5 else index - 1
    return f"{files[at].name.decode('utf-8', errors='replace')}:{line}" if 0 <= at < len(files) else ""
