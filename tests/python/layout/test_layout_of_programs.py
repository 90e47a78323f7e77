"""`wherry layout` on compiled programs, which say themselves where their members lie; proposed orders compiled anew."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke

from wherry.layout import dwarf
from wherry.layout.advice import advise
from wherry.layout.dwarf import find_layout
from wherry.layout.members import Layout

SEED, COUNT = 29, 60
COMPILERS = [
    pytest.param(
        words, id="-".join(words), marks=pytest.mark.skipif(not shutil.which(words[0]), reason="not installed")
    )
    for words in (("g++",), ("g++", "-gdwarf-4"), ("g++", "-O2"), ("clang++-19", "-fstandalone-debug"))
]
PARTS = """
#include <cstdio>
#include <cstring>
#include <cstddef>
#include <complex>
#include <string>
#include <vector>
struct Inner { double d; char c; };
struct Pod { double d; int i; };
struct NonPod { NonPod() {} double d; int i; };
struct Virtual { virtual ~Virtual() {} int i; };
struct Empty {};
union Either { int i; double d; };
enum class Color : unsigned char { red };
namespace n { template <class T, int N> struct Box { char tag; T values[N]; }; }
static int bits_set(const unsigned char* bytes, size_t size, int* first) {
  int count = 0;
  *first = -1;
  for (size_t i = 0; i < 8 * size; ++i)
    if (bytes[i / 8] >> i % 8 & 1) { if (*first < 0) *first = int(i); ++count; }
  return count;
}
"""
TYPES = (
    "char", "bool", "short", "int", "long", "float", "double", "long double", "void*", "int[3]", "char[5]", "Inner",
    "Inner[2]", "Either", "Color", "std::string", "std::vector<int>", "std::complex<float>", "n::Box<short, 3>",
    "int (*)(int)", "Empty",
)  # fmt: skip
BASES = ("", "", "Pod", "NonPod", "Virtual", "Empty", "Pod, Virtual")


@dataclass(frozen=True)
class Draft:
    """A random class: members by name, each with its declaration and, of a bit-field, its width."""

    name: str
    base: str
    members: dict[str, tuple[str, int]]

    def declaration(self, name: str, order: list[str]) -> str:
        base = f" : {self.base}" if self.base else ""
        return f"struct {name}{base} {{ {' '.join(self.members[member][0] for member in order)} }};\n"


def draft(generator: random.Random, number: int) -> Draft:
    members: dict[str, tuple[str, int]] = {}
    for i in range(generator.randint(2, 8)):
        name = f"m{i}"
        if generator.random() < 0.2:
            of, bits = generator.choice([("unsigned", 32), ("unsigned char", 8), ("unsigned long", 64)])
            width = generator.randint(1, bits)
            members[name] = (f"{of} {name} : {width};", width)
        else:
            members[name] = (_declared(generator.choice(TYPES), name), 0)
    return Draft(f"T{number}", generator.choice(BASES), members)


def _declared(type_name: str, name: str) -> str:
    if "[" in type_name:
        head, _, extent = type_name.partition("[")
        return f"{head} {name}[{extent};"
    if "(*)" in type_name:
        return type_name.replace("(*)", f"(*{name})") + ";"
    return f"{type_name} {name};"


def drafts() -> list[Draft]:
    generator = random.Random(SEED)
    return [draft(generator, number) for number in range(COUNT)]


def program_of(types: list[Draft]) -> str:
    """Prints for each type its size, alignment, and first bit and bits of each member."""
    text = PARTS + "".join(one.declaration(one.name, list(one.members)) for one in types) + "int main() {\n"
    for one in types:
        text += f'{{ static {one.name} object; std::printf("{one.name} %zu %zu", sizeof object, alignof({one.name}));\n'
        for name, (_, width) in one.members.items():
            if width:
                text += (
                    "{ std::memset((void*)&object, 0, sizeof object); int first;"
                    f" object.{name} = decltype(object.{name})(-1);"
                    " int set = bits_set((const unsigned char*)&object, sizeof object, &first);"
                    ' std::printf(" %d %d", first, set); }\n'
                )
            else:
                text += f'std::printf(" %zu %zu", 8 * offsetof({one.name}, {name}), 8 * sizeof(object.{name}));\n'
        text += 'std::printf("\\n"); std::fflush(stdout); }\n'
    return text + "std::_Exit(0); }\n"  # some objects were overwritten: nothing is to be destroyed


def compiled(folder: Path, source: str, words: tuple[str, ...], name: str = "program") -> Path:
    file, program = folder / f"{name}.cpp", folder / name
    file.write_text("#include <cstdlib>\n" + source)
    command = [words[0], "-std=c++20", "-g", "-w", *words[1:], "-o", str(program), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return program


def said(program: Path) -> dict[str, list[int]]:
    output = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    return {line.split()[0]: [int(word) for word in line.split()[1:]] for line in output.splitlines()}


def told(layout: Layout) -> list[int]:
    """In the form of what the program says."""
    own = [member for member in layout.members if not member.fixed]
    places = [
        number
        for member in own
        for number in (member.first_bit if member.bits else 8 * member.offset, member.bits or 8 * member.size)
    ]
    return [layout.size, layout.alignment, *places]


@pytest.fixture
def parsed_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A program's debug information, for all types that are looked up in it."""
    parse = dwarf._sources
    with ExitStack() as files:

        @cache
        def sources(program: Path) -> list[Any]:
            return list(parse(program, files.enter_context(program.open("rb"))))

        monkeypatch.setattr(dwarf, "_sources", lambda program, _: sources(program))
        yield


@pytest.mark.usefixtures("parsed_once")
@pytest.mark.parametrize("words", COMPILERS)
def test_random_types_lie_where_the_program_says_and_proposed_orders_have_the_size_promised(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    types = drafts()
    program = compiled(tmp_path, program_of(types), words)
    truth = said(program)
    anew, promised = PARTS, {}
    for one in types:
        layout = find_layout(program, one.name)
        assert told(layout) == truth[one.name], (SEED, one)
        found = advise(layout).layout
        if found is not None:
            order = [member.name for member in found.members if not member.fixed]
            anew += one.declaration(one.name, order)
            promised[one.name] = found.size
    assert len(promised) > COUNT // 4
    sizes = "".join(f'std::printf("{name} %zu\\n", sizeof({name}));\n' for name in promised)
    again = said(compiled(tmp_path, f"{anew}int main() {{\n{sizes}}}\n", words, "anew"))
    assert {name: [size] for name, size in promised.items()} == again, SEED


# what is told of one program


SOURCE = """
#include <cstdint>
#include <vector>
namespace md {
template <class T, int N> struct Cell { char tag; T values[N]; short count; };
struct Particle {
  char kind; double x[3]; bool fixed; double mass; int id; union { int i; double d; }; struct { char c; int n; } named;
};
class Shape { public: virtual ~Shape() {} int sides; };
class Square : public Shape { public: char color; double length; char style; static int count; };
struct Joined : virtual Shape { char a; double b; };
struct __attribute__((packed)) Packed { char c; double d; char e; };
struct Flexible { char n; int values[]; };
struct Empty {};
struct Shares { [[no_unique_address]] Empty nothing; char c; double d; char e; };
struct Outer { struct Deep { char a; int b; char c; } deep; };
}
int md::Square::count = 0;
namespace one { struct Same { char a; int b; }; }
namespace two { struct Same { char a; double b; }; }
namespace { struct Quiet { char a; int b; char c; }; }
typedef struct { char a; int b; char c; } CStyle;
using Pair = md::Cell<double, 2>;
template <class T> void keep() { static T object; T* volatile p = &object; (void)p; }
int main() {
  struct Local { char a; double b; char c; };
  keep<md::Cell<double, 3>>(); keep<md::Cell<md::Cell<int, 1>, 2>>(); keep<md::Particle>(); keep<md::Shape>();
  keep<md::Square>(); keep<md::Joined>(); keep<md::Packed>(); keep<md::Shares>(); keep<one::Same>(); keep<two::Same>();
  keep<Quiet>(); keep<CStyle>(); keep<Local>(); keep<md::Outer>(); keep<md::Outer::Deep>();
  md::Flexible* volatile p = nullptr; (void)p;
  static Pair pair; Pair* volatile q = &pair; (void)q;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("layout"), SOURCE, ("g++",))


@pytest.mark.parametrize(
    "name",
    [
        "Cell<double, 3>",
        "Cell<double,3>",
        "md::Cell< double,3 >",
        "md::Cell<md::Cell<int,1>,2>",
        "Cell<md::Cell<int, 1>, 2 >",
    ],
)
def test_spaces_in_names_do_not_matter(program: Path, name: str) -> None:
    assert find_layout(program, name).size in (40, 32)


@pytest.mark.parametrize(
    ("name", "found", "size"),
    [
        ("md::Particle", "md::Particle", 72),
        ("Particle", "md::Particle", 72),
        ("two::Same", "two::Same", 16),
        ("Quiet", "(anonymous namespace)::Quiet", 12),
        ("CStyle", "CStyle", 12),
        ("Pair", "Pair", 32),
        ("Local", "main()::Local", 24),
        ("Outer::Deep", "md::Outer::Deep", 12),
        ("Deep", "md::Outer::Deep", 12),
    ],
)
def test_names_with_and_without_scopes(program: Path, name: str, found: str, size: int) -> None:
    layout = find_layout(program, name)
    assert (layout.name, layout.size) == (found, size)
    assert layout.where.startswith("program.cpp:")


def test_anonymous_members_are_named_so(program: Path) -> None:
    names = [member.name for member in find_layout(program, "Particle").members]
    assert names == ["kind", "x", "fixed", "mass", "id", "(anonymous union)", "named"]


def test_static_members_are_none_and_virtual_functions_come_first(program: Path) -> None:
    layout = find_layout(program, "Square")
    assert [member.name for member in layout.members] == ["base Shape", "color", "length", "style"]
    (pointer, sides) = find_layout(program, "Shape").members
    assert (pointer.name, pointer.offset, pointer.size, pointer.fixed) == ("pointer to virtual functions", 0, 8, True)
    assert sides.offset == 8
    found = advise(layout).layout
    assert found is not None
    assert [member.name for member in found.members][:1] == ["base Shape"]
    assert found.size == 24  # color and style lie behind sides, where the base has padding


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Joined", "virtual base class Shape"),
        ("Packed", "does not follow the plain rules"),
        ("Flexible", "values has no size of its own and must stay last"),
        ("Shares", "as [[no_unique_address]] allows"),
    ],
)
def test_what_is_not_handled_is_named(program: Path, invoke: Invoke, name: str, why: str) -> None:
    answer = invoke("layout", program, name)
    assert answer.code == 0, answer.err
    assert why in answer.out
    assert "proposed order:" not in answer.out


def test_the_text_tells_holes_and_what_an_order_saves(program: Path, invoke: Invoke) -> None:
    answer = invoke("layout", program, "CStyle")
    assert answer.code == 0
    lines = [line.split() for line in answer.out.splitlines()]
    assert "struct CStyle: 12 bytes, alignment 4, 3 members (program.cpp:" in answer.out
    assert ["1", "3", "-", "hole"] in lines and ["9", "3", "-", "hole"] in lines
    assert "6 of 12 bytes are holes" in answer.out
    assert "proposed order: 8 bytes" in answer.out
    assert "it saves 4 bytes of each object (33%)" in answer.out


def test_the_picture_has_all_members_and_holes_of_both_orders(program: Path, invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "type.svg"
    answer = invoke("layout", program, "Particle", "-o", file)
    assert (answer.code, answer.out) == (0, f"wrote {file}\n"), answer.err
    space = "{http://www.w3.org/2000/svg}"
    rects = ET.parse(file).getroot().findall(f"{space}rect")
    tips = [rect.findtext(f"{space}title") or "" for rect in rects]
    for name in ("kind", "x", "fixed", "mass", "id", "(anonymous union)", "named"):
        assert sum(tip.startswith(f"{name}:") for tip in tips) == 2
    # Each panel covers its object: 12 pixels a byte.
    assert sum(float(rect.get("width", 0)) for rect in rects) == 12 * (72 + 56)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Partcle", "did you mean 'md::Particle'"),
        ("Cell", "it is a template, of which there are md::Cell<"),
        ("Same", "2 types of"),
        ("Same", "one::Same (8 bytes, program.cpp:"),
        ("zzzzzz", "see how its source calls it"),
    ],
)
def test_wrong_names_say_what_to_write(program: Path, invoke: Invoke, name: str, why: str) -> None:
    answer = invoke("layout", program, name)
    assert answer.code == 2 and answer.out == ""
    assert why in answer.err


def test_programs_that_tell_nothing(program: Path, invoke: Invoke, tmp_path: Path) -> None:
    script = tmp_path / "script.sh"
    script.write_text("#!/bin/sh\n")
    cases: dict[str, tuple[Any, int, str]] = {
        "missing": (tmp_path / "nothing", 2, "cannot read"),
        "folder": (tmp_path, 2, "cannot read"),
        "script": (script, 2, "no ELF file"),
        "no debug information": (compiled(tmp_path, SOURCE, ("g++", "-g0"), "plain"), 1, "compile it with -g"),
        "stripped": (compiled(tmp_path, SOURCE, ("g++", "-s"), "stripped"), 1, "do not strip it"),
    }
    for case, (path, code, why) in cases.items():
        answer = invoke("layout", path, "Particle")
        assert (answer.code, answer.out) == (code, ""), (case, answer.err)
        assert why in answer.err, case


def test_damaged_debug_information_is_an_error_with_what_to_do(program: Path, invoke: Invoke, tmp_path: Path) -> None:
    data = program.read_bytes()
    generator = random.Random(SEED)
    for number in range(12):
        broken = tmp_path / f"broken{number}"
        broken.write_bytes(data[: generator.randrange(64, len(data))])
        answer = invoke("layout", broken, "Particle")
        assert answer.code in (1, 2), (SEED, number, answer.err)
        assert "Traceback" not in answer.err and answer.err.startswith("wherry: "), (SEED, number)


@pytest.mark.skipif(not shutil.which("objcopy"), reason="objcopy is not installed; as root: apt-get install binutils")
def test_debug_information_in_a_file_of_its_own_is_found(program: Path, tmp_path: Path) -> None:
    apart, bare = tmp_path / "program.debug", tmp_path / "bare"
    subprocess.run(["objcopy", "--only-keep-debug", str(program), str(apart)], check=True)
    subprocess.run(["objcopy", "-g", f"--add-gnu-debuglink={apart}", str(program), str(bare)], check=True)
    assert find_layout(bare, "Particle").size == 72


def test_split_debug_information_is_named(tmp_path: Path, invoke: Invoke) -> None:
    answer = invoke("layout", compiled(tmp_path, SOURCE, ("g++", "-gsplit-dwarf"), "split"), "Particle")
    assert answer.code == 1 and "compile it without -gsplit-dwarf" in answer.err


def test_a_class_that_is_only_declared_says_how_to_get_it(tmp_path: Path, invoke: Invoke) -> None:
    source = "struct Shape { virtual ~Shape(); int sides; }; int f(Shape* s) { return s->sides; } int main() {}\n"
    answer = invoke("layout", compiled(tmp_path, source, ("g++",), "declared"), "Shape")
    assert answer.code == 2 and "-femit-class-debug-always" in answer.err
    always = compiled(tmp_path, source, ("g++", "-femit-class-debug-always"), "always")
    assert find_layout(always, "Shape").size == 16


@pytest.mark.skipif(not shutil.which("gfortran"), reason="gfortran is not installed")
def test_derived_types_of_fortran(tmp_path: Path) -> None:
    source, made = tmp_path / "p.f90", tmp_path / "fortran"
    source.write_text(
        "program p\n type :: particle\n  logical(1) :: fixed\n  real(8) :: x(3)\n  integer :: id\n"
        "  logical(1) :: seen\n  real(8) :: mass\n end type\n type(particle) :: one\n"
        " one%id = 1\n print *, storage_size(one) / 8\nend program\n"
    )
    subprocess.run(["gfortran", "-g", "-o", str(made), str(source)], check=True)
    size = int(subprocess.run([str(made)], capture_output=True, text=True, check=True).stdout)
    layout = find_layout(made, "particle")
    assert layout.size == size == 48
    assert json.dumps([member.name for member in layout.members]) == '["fixed", "x", "id", "seen", "mass"]'
    found = advise(layout).layout
    assert found is not None and found.size == 40
