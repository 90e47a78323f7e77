"""The check of documents finds what it should, fills paragraphs without changing a word, and finds nothing here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

from check_documents import COLUMNS, fix, violations  # noqa: E402

LONG = " ".join(["word"] * 40)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "there.hpp").touch()
    return tmp_path


def problems(tree: Path, text: str) -> list[str]:
    (tree / "page.md").write_text(text)
    return list(violations(tree))


def test_documents_are_right() -> None:
    assert list(violations(ROOT)) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{LONG}\n", "page.md:1: 199 columns, of 120"),
        (f"one\n\n- {LONG}\n", "page.md:3: 201 columns"),
        ("`src/gone.hpp` does it\n", "there is no src/gone.hpp"),
        ("`src/{there,gone}.hpp` do it\n", "there is no src/{there,gone}.hpp"),
        ("`src/gone_*.hpp` do it\n", "there is no src/gone_*.hpp"),
        ("`gone.cpp` does it, `there.hpp` not\n", "there is no gone.cpp"),
        ("`rc/there.hpp` does it\n", "there is no rc/there.hpp"),
        ("# A `part`, of it\n\n[it](#a-part-of-it), [it](#the-part)\n", "this page has no heading #the-part"),
        ("[it](gone.md#part)\n", "there is no gone.md"),
        ("```\n[it](src/there.hpp)\n`src/gone.hpp`\n```\n", "there is no src/gone.hpp"),
    ],
)
def test_names_line_and_reason(tree: Path, text: str, reason: str) -> None:
    (found,) = problems(tree, text)
    assert reason in found


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{LONG}\n```\n",
        f"| {LONG} |\n",
        f"# {LONG}\n",
        "x" * 200 + "\n",
        "`src/{there,there}.hpp`, `src/th*.hpp`, `src/<name>.hpp`, `src/NAME.hpp:12`\n",
        "`there.hpp`, [it](src/there.hpp)\n",
        "[elsewhere](https://example.org/gone.md), [here](#part)\n\n# Part\n",
    ],
)
def test_accepts(tree: Path, text: str) -> None:
    assert problems(tree, text) == []


def test_fills_without_changing_a_word(tree: Path) -> None:
    code = "`" + " ".join(["code"] * 10) + "`"
    text = f"Before\nit.\n\n- {LONG} {code} - {code} 1. {LONG}\n  tail\n- next\n\n```\n{LONG}\n```\n| {LONG} |\n"
    page = tree / "page.md"
    page.write_text(text)
    fix(page)
    after = page.read_text()
    assert after.split() == text.split()
    assert list(violations(tree)) == []
    lines = after.splitlines()
    assert lines[:2] == ["Before", "it."]
    assert after.count(code) == 2
    item = lines[3 : lines.index("- next")]
    assert item[0].startswith("- word")
    assert all(line.startswith("  word") or line.startswith("  ") for line in item[1:])
    assert not any(line.strip().startswith(("- ", "1. ")) for line in item[1:])
    assert max(map(len, item)) <= COLUMNS
    fix(page)
    assert page.read_text() == after
