"""Checks the documents: prose within 120 columns; the files and headings that they name or link to are there.

Usage: check_documents.py [--fix] [ROOT]. Prints every violation; exit code 1 if there is one. With --fix, paragraphs
with a line that is too long are filled anew first. Table rows, code blocks and headings are left as they are.
"""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

COLUMNS = 120
# Records of what was measured, and of the past: what they name need not be there any more.
RECORDS = ("docs/results/", "CHANGELOG.md")

FENCE = re.compile(r"^\s*(```|~~~)")
ITEM = re.compile(r"^(\s*(?:[-*+]|\d+[.)])\s+)")
AS_IT_IS = re.compile(r"^\s*(\||#|<|\[[^]]+\]:)")
CODE_SPAN = re.compile(r"`[^`]+`")
UNBROKEN = 60  # code spans of more characters may be broken between words
# What begins a line must not be read as a list, a heading or a table.
MISREAD = re.compile(r"^([-*+#>|]+|\d+[.)])(\s|$)")
# A path from the root of the tree, in backticks; {a,b} stands for several, * and <name> for any.
NAMED = re.compile(
    r"`((?:apps|bench|cmake|docs|examples|include|platforms|python|requirements|src|tests|tools)/[^`\s]*)`"
)
# A source of C++, by the end of its path.
SOURCE = re.compile(r"`([\w{},/]+\.(?:cpp|hpp))`")
# What documents tell the reader to write.
TO_WRITE = frozenset({"halves.hpp", "rows_of_eight.hpp", "up_and_down.hpp"})
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)]*))?\)")
HEADING = re.compile(r"^#+ (.*)$")


def files(root: Path, *patterns: str) -> list[str]:
    """The files of these names that Git knows or would add."""
    command = ["git", "ls-files", "-co", "--exclude-standard", *patterns]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    return [name for name in listed.splitlines() if (root / name).is_file()]


def prose(lines: list[str]) -> list[tuple[bool, str]]:
    """Each line, and whether it is prose: not of a code block, a table, a heading or markup."""
    told, fenced = [], False
    for line in lines:
        fence = FENCE.match(line) is not None
        told.append((not (fence or fenced or AS_IT_IS.match(line)), line))
        fenced ^= fence
    return told


def paragraphs(lines: list[str]) -> list[tuple[bool, list[str]]]:
    """The lines by paragraph or list item, and whether each may be filled."""
    number, numbered = 0, []
    for is_prose, line in prose(lines):
        if not is_prose or not line.strip() or ITEM.match(line):
            number += 1
        numbered.append((number, is_prose and bool(line.strip()), line))
        if not is_prose or not line.strip():
            number += 1
    grouped = (list(group) for _, group in groupby(numbered, key=lambda each: each[0]))
    return [(group[0][1], [line for _, _, line in group]) for group in grouped]


def _unbroken(span: re.Match[str]) -> str:
    text = span.group()
    return text.replace(" ", "\0") if len(text) <= UNBROKEN else text


def filled(lines: list[str]) -> list[str]:
    """A paragraph or list item with as many words in each line as fit."""
    item = ITEM.match(lines[0])
    first = item.group(1) if item else re.match(r"\s*", lines[0]).group()  # type: ignore[union-attr]
    rest = re.match(r"\s*", lines[1]).group() if len(lines) > 1 else " " * len(first) if item else first  # type: ignore[union-attr]
    text = " ".join([lines[0][len(first) :], *(line.strip() for line in lines[1:])])
    whole = CODE_SPAN.sub(_unbroken, " ".join(text.split()))
    words: list[str] = []
    for word in whole.split(" "):
        if words and MISREAD.match(word):
            words[-1] += "\1" + word
        else:
            words.append(word)
    wrapped = textwrap.wrap(
        " ".join(words),
        COLUMNS,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\0", " ").replace("\1", " ") for line in wrapped]


def fix(path: Path) -> None:
    """Fills the paragraphs of a document that have a line that is too long."""
    lines = path.read_text().split("\n")
    out: list[str] = []
    for is_prose, group in paragraphs(lines):
        too_long = is_prose and any(len(line) > COLUMNS for line in group)
        out += filled(group) if too_long else group
    if out != lines:
        path.write_text("\n".join(out))


def alternatives(name: str) -> list[str]:
    """`a/{b,c}.hpp` as `a/b.hpp` and `a/c.hpp`; `<name>` and `NAME` as `*`."""
    braces = re.search(r"\{([^{}]*)\}", name)
    if braces is None:
        return [re.sub(r"<[^>]*>|NAME|\.\.\.", "*", name)]
    return [
        one
        for part in braces.group(1).split(",")
        for one in alternatives(name[: braces.start()] + part.strip() + name[braces.end() :])
    ]


def exists(root: Path, name: str) -> bool:
    """Whether the tree has such a file or folder; a function or line of it may be named after ':'."""
    path = name.split(":", 1)[0].rstrip("/.,;")
    return (root / path).exists() or any(True for _ in root.glob(path))


def is_source(sources: list[str], name: str) -> bool:
    """Whether the path of a source ends like this."""
    return name in TO_WRITE or all(
        any(f"/{path}".endswith(f"/{one}") for path in sources) for one in alternatives(name)
    )


def anchors(lines: list[str]) -> set[str]:
    """Of the headings, as GitHub makes them: letters, digits, '_' and '-', in small letters."""
    titles = [heading.group(1) for line in lines if (heading := HEADING.match(line))]
    return {re.sub(r"[^\w\- ]", "", LINK.sub("]", title).lower()).replace(" ", "-") for title in titles}


def too_long(lines: list[str]) -> Iterator[str]:
    for number, (is_prose, line) in enumerate(prose(lines), 1):
        if is_prose and len(line) > COLUMNS and len(line.split()) > 1:
            yield f"{number}: {len(line)} columns, of {COLUMNS}; fill it: tools/check_documents.py --fix"


def dangling(root: Path, path: Path, lines: list[str], sources: list[str]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        from_root = NAMED.findall(line)
        for name in from_root:
            if not all(exists(root, each) for each in alternatives(name)):
                yield f"{number}: there is no {name}; name the file that does this now"
        for name in SOURCE.findall(line):
            if name not in from_root and not is_source(sources, name):
                yield f"{number}: there is no {name}; name the file that does this now"
        for target, anchor in LINK.findall(line):
            if "://" in target or target.startswith("mailto:"):
                continue
            page = path.parent / target if target else path
            if not page.exists():
                yield f"{number}: there is no {target}; link to the file that says this now"
            elif anchor and page.suffix == ".md" and anchor not in anchors(page.read_text().splitlines()):
                yield f"{number}: {target or 'this page'} has no heading #{anchor}; link to one that it has"


def violations(root: Path) -> Iterator[str]:
    """All violations, sorted by document and line."""
    sources = files(root, "*.cpp", "*.hpp")
    for path in map(root.joinpath, files(root, "*.md")):
        name = str(path.relative_to(root))
        lines = path.read_text().splitlines()
        yield from (f"{name}:{problem}" for problem in too_long(lines))
        if not name.startswith(RECORDS):
            yield from (f"{name}:{problem}" for problem in dangling(root, path, lines, sources))


def main(words: list[str]) -> int:
    """Runs the check; the exit code."""
    wanted = [word for word in words if word != "--fix"]
    root = Path(wanted[0]) if wanted else Path(__file__).resolve().parent.parent
    if "--fix" in words:
        for name in files(root, "*.md"):
            fix(root / name)
    found = list(violations(root))
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
