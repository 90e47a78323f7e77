"""Writes what the tree keeps of the collectives that Wherry performs, from the table of MPI functions.

Usage: generate_interface.py [--check]. The table is tools/mpi_functions.toml. Written:
  include/wherry/collectives.h           wherry_<name> and wherry_<name>_plan of the C library
  python/wherry/collective_names.py      the names of the collectives, for the tool and the Python library
  docs/reference/settings.md             the rows of their settings
These are read without building, and what changes in them is the interface: so they are kept, unlike the rest that is
made from the table. With --check nothing is written: it names the files that are not as they should be; exit code 1.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path

from mpi_table import Function, narrow, read_table, write

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = 110  # of .clang-format
MADE = "Made by tools/generate_interface.py from tools/mpi_functions.toml, which is what to change."
SETTINGS = "docs/reference/settings.md"
#: Where the standard has the persistent forms of a chapter's collectives.
PERSISTENT = {"6": "6.13", "8": "8.8"}

HEADER = """\
// The collectives of wherry.h, in the order of MPI's standard, and the makers of their plans. What holds for all of
// them stands there.
//
// {made}
#ifndef WHERRY_COLLECTIVES_H
#define WHERRY_COLLECTIVES_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {{
#endif

{collectives}
// The plans of these: wherry.h says what a plan is, and what holds for all of the makers.
struct wherry_plan;

{plans}
#ifdef __cplusplus
}}
#endif

#endif
"""

NAMES = '''\
"""The collectives that Wherry performs, as the command line names them, in the order of MPI's standard.

{made}
"""

OPERATIONS = {operations}
#: Those among neighbors. What is learned about them is of one graph, which nobody knows ahead.
NEIGHBORHOODS = {neighborhoods}
REDUCTIONS = {reductions}
#: Those that the C library and the Python library have.
IN_LIBRARY = {in_library}
'''


def declaration(name: str, parameters: Iterable[str]) -> str:
    """As clang-format fills it."""
    opening = f"int {name}("
    unbroken = ", ".join(p.replace(" ", "\0") for p in parameters)
    filled = textwrap.fill(f"{unbroken});", COLUMNS, initial_indent=opening, subsequent_indent=" " * len(opening))
    return filled.replace("\0", " ") + "\n"


def collective(f: Function) -> str:
    if not f.doc:
        raise SystemExit(f"MPI_{f.name}: the C library has it, but no doc; write it, or `library = false`")
    text = "".join(f"/// {line}".rstrip() + "\n" for line in f.doc.splitlines())
    standard = f"/// Standard: MPI 4.1, section {f.section}, MPI_{f.name}.\n"
    return text + standard + declaration(f"wherry_{f.name.lower()}", (narrow(p.declaration) for p in f.parameters))


def plan(f: Function) -> str:
    parameters = [*(narrow(p.declaration) for p in f.parameters), "struct wherry_plan** plan"]
    standard = f"/// Standard: MPI 4.1, section {PERSISTENT[f.section[0]]}, MPI_{f.name}_init.\n"
    return standard + declaration(f"wherry_{f.name.lower()}_plan", parameters)


def names(functions: Iterable[Function]) -> str:
    return "(\n" + "".join(f'    "{f.name.lower()}",\n' for f in functions) + ")"


def setting(f: Function) -> str:
    neighborhoods = "[strategy of neighborhoods](../design/0007-neighborhoods.md#strategies)"
    strategy = neighborhoods if f.is_neighborhood else "strategy"
    return f"| `WHERRY_{f.name.upper()}` | a {strategy}, `native`, `auto` | `auto` | how `MPI_{f.name}` runs |\n"


def settings(page: str, collectives: Iterable[Function]) -> str:
    """The page with these rows in the place of those that it has."""
    lines = page.splitlines(keepends=True)
    found = [number for number, line in enumerate(lines) if re.search(r"\| how `MPI_\w+` runs \|$", line)]
    return "".join((*lines[: found[0]], *map(setting, collectives), *lines[found[-1] + 1 :]))


def interface_files(functions: list[Function], settings_page: str) -> dict[str, str]:
    collectives = [f for f in functions if f.replaceable]
    in_library = [f for f in collectives if f.library]
    header = HEADER.format(
        made=MADE, collectives="\n".join(map(collective, in_library)), plans="".join(map(plan, in_library))
    )
    python = NAMES.format(
        made=MADE,
        operations=names(f for f in collectives if not f.is_neighborhood),
        neighborhoods=names(f for f in collectives if f.is_neighborhood),
        reductions=names(f for f in collectives if f.is_reduction),
        in_library=names(in_library),
    )
    return {
        "include/wherry/collectives.h": header,
        "python/wherry/collective_names.py": python,
        SETTINGS: settings(settings_page, collectives),
    }


def main(arguments: list[str]) -> int:
    files = interface_files(read_table(ROOT / "tools/mpi_functions.toml"), (ROOT / SETTINGS).read_text())
    if arguments != ["--check"]:
        for name, text in files.items():
            write(ROOT / name, text)
        return 0
    stale = [name for name, text in files.items() if not (ROOT / name).is_file() or (ROOT / name).read_text() != text]
    for name in stale:
        print(f"{name}: not what tools/generate_interface.py makes; run it")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
