"""Types that mean nothing on another rank do not compile, and the message says why and what to do."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

#: A declaration of `struct Wrong`, and what the compiler must say of it.
REJECTED = {
    "pointer": ("struct Wrong { int n; int* p; };", "a pointer means nothing on another rank"),
    "unique_ptr": ("struct Wrong { std::unique_ptr<int> p; };", "a pointer means nothing on another rank"),
    "pointer to member": ("struct X { int a; }; struct Wrong { int X::*p; };", "a pointer means nothing"),
    "pointers in a vector": ("struct Wrong { std::vector<int*> p; };", "a pointer means nothing on another rank"),
    "reference": ("struct Wrong { int a; int& r; };", "is a reference, or has no default value"),
    "virtual function": ("struct Wrong { virtual void f() {} int a; };", "virtual functions and virtual bases"),
    "virtual base": ("struct B { int b; }; struct Wrong : virtual B { int a; };", "are not visible"),
    "base class": ("struct B { int b; }; struct Wrong : B { int a; };", "has a base class"),
    "private members": ("class Wrong { int a; public: int b; };", "static constexpr auto members()"),
    "union": ("union Wrong { int a; double b; };", "use std::variant"),
    "bit-field": ("struct Wrong { int a : 3; int b : 5; };", "bit-field"),
    "bit-field in padding": ("struct Wrong { double d; unsigned a : 3; char c; };", "bit-field"),
    "const member": ("struct Wrong { const int a; int b; };", "a const member cannot be received"),
    "view": ("struct Wrong { std::string_view s; };", "are not visible"),
    "33 members": (f"struct Wrong {{ int {', '.join(f'm{i}' for i in range(33))}; }};", "may have 32 members"),
    "elements without bytes": ("struct E {}; struct Wrong { std::vector<E> e; };", "send their number instead"),
    "members() of the base": (
        "struct B { int b; static constexpr auto members() { return wherry::members(&B::b); } };"
        " struct Wrong : B { double own; };",
        "has the members() of its base class",
    ),
    "more than a container": ("struct Wrong : std::vector<int> { int own; };", "only the elements would be sent"),
    "members() of values": (
        "struct Wrong { int a; static constexpr auto members() { return wherry::members(1); } };",
        "takes pointers to data members",
    ),
}
ACCEPTED = "struct Wrong { int a; std::vector<double> b; };"

HEADERS = """#pragma once
#include <memory>
#include <string_view>
#include <vector>
#include <wherry/pack.hpp>
"""
PROGRAM = """
#include "headers.hpp"
{declaration}
void use(std::span<const std::byte> bytes, Wrong& wrong) {{
  wherry::unpack(bytes, wrong);
  wherry::pack(wrong);
}}
"""


def compiler(build: Path) -> str:
    """The one that Wherry was built with."""
    for line in (build / "CMakeCache.txt").read_text().splitlines():
        if line.startswith("CMAKE_CXX_COMPILER:"):
            return line.split("=", 1)[1]
    return shutil.which("c++") or "c++"


@pytest.fixture(scope="session")
def command(build: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Reads a program from its input. The headers are compiled once."""
    folder = tmp_path_factory.mktemp("rejected-types")
    headers = folder / "headers.hpp"
    headers.write_text(HEADERS)
    command = [compiler(build), "-std=c++20", f"-I{ROOT / 'include'}"]
    precompiled = folder / "headers.hpp.gch"  # GCC takes it in place of the header, other compilers may not
    done = subprocess.run(
        [*command, "-xc++-header", str(headers), "-o", str(precompiled)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [*command, f"-I{folder}", "-fsyntax-only", "-xc++", "-"]


def compiled(command: list[str], declaration: str) -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(declaration=declaration)
    return subprocess.run(command, input=program, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", REJECTED)
def test_rejected(command: list[str], name: str) -> None:
    declaration, said = REJECTED[name]
    done = compiled(command, declaration)
    assert done.returncode != 0
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    assert any(said in line for line in errors), done.stderr


def test_the_program_around_it_compiles(command: list[str]) -> None:
    done = compiled(command, ACCEPTED)
    assert done.returncode == 0, done.stderr
