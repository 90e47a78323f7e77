"""The layer check finds what it should, and finds nothing in the sources."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

from check_layers import violations  # noqa: E402


def test_sources_include_downwards_only() -> None:
    assert violations(ROOT) == []


@pytest.mark.parametrize(
    ("file", "line", "reason"),
    [
        ("src/plan/a.cpp", "#include <mpi.h>", "pure"),
        ("src/profile/a.cpp", '#include "plan/b.hpp"', "profile may not include plan/b.hpp"),
        ("src/base/a.hpp", '#  include "run/b.hpp"', "base may not include run/b.hpp (it may include: nothing)"),
        ("src/run/a.cpp", '#include "interpose/b.hpp"', "run may not include"),
        ("src/run/a.cpp", '#include "../plan/b.hpp"', "relative to src/"),
        ("src/run/a.cpp", '#include "api/b.hpp"', "run may not include"),
        ("src/api/a.cpp", '#include "interpose/b.hpp"', "api may not include"),
        ("src/api/a.cpp", '#include "plan/b.hpp"', "api may not include"),
        ("src/run/a.cpp", '#include "window/b.hpp"', "run may not include"),
        ("src/window/a.cpp", '#include "interpose/b.hpp"', "window may not include"),
        ("src/news/a.cpp", "", "in no layer"),
        ("examples/a.cpp", '#include "plan/b.hpp"', "public headers only"),
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
        ("src/plan/a.cpp", '#include "base/b.hpp"'),
        ("src/plan/a.cpp", "#include <span>"),
        ("src/plan/a.cpp", '#include "plan/b.hpp"'),
        ("src/run/a.cpp", "#include <mpi.h>"),
        ("src/interpose/a.cpp", '#include "run/b.hpp"'),
        ("src/api/a.cpp", '#include "run/b.hpp"'),
        ("src/api/a.cpp", '#include "window/b.hpp"'),
        ("src/window/a.cpp", '#include "run/b.hpp"'),
        ("src/base/a.cpp", '// #include "run/b.hpp"'),
        ("examples/a.cpp", '#include "wherry/wherry.hpp"'),
    ],
)
def test_accepts_what_is_below(tmp_path: Path, file: str, line: str) -> None:
    make_tree(tmp_path, file, line + "\n")
    assert violations(tmp_path) == []


def make_tree(root: Path, file: str, text: str) -> None:
    for layer in ("base", "plan", "run", "window", "api", "interpose"):
        (root / "src" / layer).mkdir(parents=True)
        (root / "src" / layer / "b.hpp").write_text("")
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).write_text(text)
