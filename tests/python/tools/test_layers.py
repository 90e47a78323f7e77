"""The layer check finds what it should, and finds nothing in the sources."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

from check_layers import BELOW, KNOWN, Known, violations  # noqa: E402


def test_sources_include_downwards_only() -> None:
    assert violations(ROOT, KNOWN) == []


@pytest.mark.parametrize(
    ("file", "line", "reason"),
    [
        ("src/schedule/a.cpp", "#include <mpi.h>", "pure"),
        ("src/profile/a.cpp", '#include "schedule/schedule_b.hpp"', "profile may not include schedule/schedule_b.hpp"),
        (
            "src/base/a.hpp",
            '#  include "coll/coll_b.hpp"',
            "base may not include coll/coll_b.hpp (it may include: nothing)",
        ),
        ("src/coll/a.cpp", '#include "interpose/interpose_b.hpp"', "coll may not include"),
        ("src/coll/a.cpp", '#include "../schedule/schedule_b.hpp"', "relative to src/"),
        ("src/coll/a.cpp", '#include "api/api_b.hpp"', "coll may not include"),
        ("src/api/a.cpp", '#include "interpose/interpose_b.hpp"', "api may not include"),
        ("src/api/a.cpp", '#include "schedule/schedule_b.hpp"', "api may not include"),
        ("src/coll/a.cpp", '#include "window/window_b.hpp"', "coll may not include"),
        ("src/window/a.cpp", '#include "interpose/interpose_b.hpp"', "window may not include"),
        ("src/news/a.cpp", "", "in no layer"),
        ("examples/a.cpp", '#include "schedule/schedule_b.hpp"', "public headers only"),
        ("apps/lcc/a.cpp", '#include "base/base_b.hpp"', "apps may include public headers only, not base/base_b.hpp"),
        ("apps/support/a.cpp", '#include "mpi/mpi_b.hpp"', "may include public headers and base, not mpi/mpi_b.hpp"),
    ],
)
def test_names_file_line_and_reason(tmp_path: Path, file: str, line: str, reason: str) -> None:
    make_tree(tmp_path, file, f"// one\n{line}\n")
    (found,) = violations(tmp_path)
    assert found.startswith(f"{file}:2: " if line else f"{file}: ")
    assert reason in found


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("src/schedule/a.cpp", '#include "base/base_b.hpp"'),
        ("src/schedule/a.cpp", "#include <span>"),
        ("src/schedule/a.cpp", '#include "schedule/schedule_b.hpp"'),
        ("src/coll/a.cpp", "#include <mpi.h>"),
        ("src/interpose/a.cpp", '#include "coll/coll_b.hpp"'),
        ("src/api/a.cpp", '#include "coll/coll_b.hpp"'),
        ("src/api/a.cpp", '#include "window/window_b.hpp"'),
        ("src/window/a.cpp", '#include "comm/comm_b.hpp"'),
        ("src/base/a.cpp", '// #include "coll/coll_b.hpp"'),
        ("examples/a.cpp", '#include "wherry/wherry.hpp"'),
        ("apps/lcc/a.cpp", '#include "support/mpi/comm.hpp"'),
        ("apps/support/a.cpp", '#include "base/base_b.hpp"'),
    ],
)
def test_accepts_what_is_below(tmp_path: Path, file: str, line: str) -> None:
    make_tree(tmp_path, file, line + "\n")
    assert violations(tmp_path) == []


# Files of src/ and what each includes.
CIRCLES = [
    ({"coll/a.cpp": "coll/x/b.hpp", "coll/x/b.hpp": "coll/c.hpp", "coll/c.hpp": "base/d.hpp"}, "coll, coll/x"),
    (
        {"coll/x/a.hpp": "coll/y/b.hpp", "coll/y/b.hpp": "coll/z/c.hpp", "coll/z/c.hpp": "coll/x/a.hpp"},
        "coll/x, coll/y, coll/z",
    ),
]


@pytest.mark.parametrize(("files", "folders"), CIRCLES)
def test_names_the_folders_of_a_circle(tmp_path: Path, files: dict[str, str], folders: str) -> None:
    make_files(tmp_path, files)
    (found,) = violations(tmp_path)
    assert found.startswith(f"src: folders form a circle: {folders}; for example src/")
    assert violations(tmp_path, Known(circles=frozenset({frozenset(folders.split(", "))}))) == []


def test_nested_folders_may_include_downwards(tmp_path: Path) -> None:
    make_files(
        tmp_path, {"coll/a.cpp": "coll/x/b.hpp", "coll/x/b.hpp": "coll/x/y/c.hpp", "coll/x/y/c.hpp": "coll/z/d.hpp"}
    )
    assert violations(tmp_path) == []


def test_names_files_that_share_a_name(tmp_path: Path) -> None:
    make_files(tmp_path, {"coll/a.cpp": "coll/x/b.hpp", "coll/x/b.hpp": "base/d.hpp", "window/b.hpp": "base/d.hpp"})
    (found,) = violations(tmp_path)
    assert found == "src/coll/x/b.hpp: has the name of src/window/b.hpp; give each file a name of its own"
    assert violations(tmp_path, Known(names=frozenset({"b.hpp"}))) == []


@pytest.mark.parametrize(
    ("files", "shared"),
    [
        (
            {"src/base/a.hpp": "struct Pair {\n};\n", "src/cache/b.hpp": "class Pair final : public Base {\n};\n"},
            "Pair",
        ),
        ({"src/base/a.hpp": "enum class Way { in };\n", "src/cache/b.h": "enum Way { out };\n"}, "Way"),
        (
            {
                "src/base/a.hpp": "class [[nodiscard]] Work {",
                "src/cache/b.hpp": "class alignas(64) Work\n    : A {\n",
            },
            "Work",
        ),
        (
            {"include/wherry/a.hpp": "template <class T>\nstruct Halo {\n", "include/wherry/b.hpp": "class Halo {\n"},
            "Halo",
        ),
        ({"python/wherry/a.py": "class Row:\n", "python/wherry/run/b.py": "class Row(Base):\n"}, "Row"),
        ({"src/base/a.hpp": "struct Pair {\n};\n", "src/cache/b.hpp": "class Pair;\nvoid use(const Pair&);\n"}, ""),
        ({"src/base/a.hpp": "struct Pair {\n};\n", "src/cache/b.cpp": "struct Pair {\n};\n"}, ""),
        ({"python/wherry/a.py": "class _Row:\n", "python/wherry/run/b.py": "class _Row:\n"}, ""),
    ],
)
def test_names_types_that_share_a_name(tmp_path: Path, files: dict[str, str], shared: str) -> None:
    for file, text in files.items():
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    first, second = files
    expected = f"{first}: {shared} is also the name of a type in {second}; give each a name of its own"
    assert violations(tmp_path) == ([expected] if shared else [])


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        (Known(circles=frozenset({frozenset({"coll", "coll/x"})})), "coll, coll/x form no circle"),
        (Known(names=frozenset({"b.hpp"})), "only one file is named b.hpp"),
    ],
)
def test_a_known_violation_that_is_gone_is_one(tmp_path: Path, known: Known, reason: str) -> None:
    make_files(tmp_path, {"coll/a.cpp": "coll/x/b.hpp"})
    (found,) = violations(tmp_path, known)
    assert reason in found


def make_files(root: Path, includes: dict[str, str]) -> None:
    for file, included in includes.items():
        for name in (file, included):
            (root / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "src" / file).write_text(f'#include "{included}"\n')
        (root / "src" / included).touch()


def make_tree(root: Path, file: str, text: str) -> None:
    for layer in ("base", "schedule", "comm", "coll", "window", "api", "interpose"):
        (root / "src" / layer).mkdir(parents=True)
        (root / "src" / layer / f"{layer}_b.hpp").write_text("")
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).write_text(text)


def test_the_documented_table_is_the_checked_one() -> None:
    lines = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| `")]
    shown = {row[0].strip("`"): set(re.findall(r"`(\w+)`", row[2])) for row in rows if len(row) == 3}
    assert shown == {folder: set(below) for folder, below in BELOW.items()}
