"""Writes the preload's entry points, and what is alike for all collectives, from the table of MPI functions
(tools/mpi_functions.toml).

Made while building, so that nothing generated is kept and nothing can be stale. Of the preload:
  trampolines.S         every exported name: a jump through a slot, type-agnostic
  symbols.inc           SYMBOL(name), FORTRAN(name) in the order of the slots
  wrappers.inc          one C++ template per function, and the tables that the backend reads
With --collectives instead, of the collectives that Wherry performs:
  collectives.inc       COLLECTIVE(value, MPI's name, that of its nonblocking form, struct of its arguments, setting)
  calls.inc             the structs of their arguments that are templates of src/arguments/calls.hpp
  c_collectives.inc     wherry_<name> of the C library
  c_plans.inc           wherry_<name>_plan
Needs only Python's standard library.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

KINDS = ["point_to_point", "collective", "one_sided", "wait", "other"]
FORTRAN_SUFFIXES = ["_", "__", "_f08_", "_f08ts_", "_f08ts_large_"]
WIDE = {"COUNT": "MPI_Count", "DISPL": "MPI_Aint"}


@dataclass(frozen=True)
class Parameter:
    """A parameter as C declares it: `type name[]`; length: what the table says about an array."""

    type: str
    name: str
    is_array: bool = False
    length: str = ""

    @property
    def declaration(self) -> str:
        return f"{self.type} {self.name}[]" if self.is_array else f"{self.type} {self.name}"

    @property
    def in_signature(self) -> str:
        return f"{self.type}*" if self.is_array else self.type

    @property
    def scalar(self) -> str:
        """COUNT, DISPL or empty: what narrowing has to convert."""
        return next((word for word in WIDE if re.search(rf"\b{word}\b", self.type)), "")


@dataclass(frozen=True)
class Function:
    name: str
    kind: str
    parameters: tuple[Parameter, ...]
    volume: str = ""
    peers: str = ""
    before: str = ""
    after: str = ""
    done: str = ""
    synchronizing: bool = False
    replaceable: bool = False
    arguments: str = ""
    library: bool = True
    runs: str = ""
    natively: str = ""
    always: bool = False
    wrapped: str = "recording"
    starts: tuple[str, ...] = ()
    tests: str = ""
    until: str = ""
    checks: str = ""
    awaits: str = ""
    ends: str = ""
    waits: bool = False

    @property
    def can_poll(self) -> bool:
        return bool(self.starts or self.tests or self.awaits)

    @property
    def gives_way(self) -> bool:
        """Whether the core may be given away while it waits."""
        return self.can_poll or self.waits

    @property
    def has_large_count(self) -> bool:
        return any(p.scalar for p in self.parameters)

    @property
    def object(self) -> str:
        """The parameter that names the ranks involved: comm, win, or none."""
        names = {p.name: p.type for p in self.parameters}
        if names.get("comm") == "MPI_Comm":
            return "comm"
        return "win" if names.get("win") == "MPI_Win" else ""


def split_parameters(text: str) -> list[str]:
    """Splits at commas that are not inside brackets."""
    parts = re.split(r",(?![^\[]*\])", " ".join(text.split()))
    return [p.strip() for p in parts if p.strip()]


def parse_parameter(text: str) -> Parameter:
    match = re.fullmatch(r"(?P<type>.+?[ *])(?P<name>\w+)(?P<array>\[(?P<length>.*)\])?", text)
    if match is None:
        raise SystemExit(f"cannot read parameter '{text}'; write `type name` or `type name[length]`")
    return Parameter(match["type"].strip(), match["name"], match["array"] is not None, match["length"] or "")


def struct_name(function: Function) -> str:
    return "".join(word.capitalize() for word in function.name.split("_"))


def struct(function: Function) -> str:
    """Its arguments as the runtime takes them."""
    return f"run::{struct_name(function)}{{{arguments(function)}}}"


def nonblocking_name(function: Function) -> str:
    return "I" + function.name[0].lower() + function.name[1:]


def has_types(function: Function) -> bool:
    """Whether each block has a type of its own, so that the blocking form may be by the layout kernels."""
    return any(p.name == "sendtypes" for p in function.parameters)


def twin(function: Function, name: str, added: str, start: str) -> Function:
    """A form that does not end in the call that begins it: Wherry may start what it may replace."""
    parameters = (*function.parameters, *(parse_parameter(p) for p in split_parameters(added)))
    runs = f"{start}(call, {struct(function)}, request, next)" if function.replaceable else ""
    wrapped = "nonblocking" if runs else "recording"
    peers = f"{function.peers}; book_library_copies(call, volume)" if has_types(function) else function.peers
    return Function(name, function.kind, parameters, function.volume, peers, runs=runs, wrapped=wrapped)


def nonblocking(function: Function) -> Function:
    """MPI_Ix: the same with a request; it says nothing about waiting."""
    return twin(function, nonblocking_name(function), "MPI_Request* request", "startable")


def persistent(function: Function) -> Function:
    """MPI_X_init: its data move at each MPI_Start, and are counted there."""
    made = twin(function, f"{function.name}_init", "MPI_Info info, MPI_Request* request", "initializable")
    volume = function.volume or "Volume{}"
    after = f"remember(*request, comm, MPI_PROC_NULL, {volume})"
    if has_types(function):
        after += f"; book_library_copies(call, {volume})"
    return replace(made, volume="", peers="", after=after)


def read_table(path: Path) -> list[Function]:
    functions = []
    for call in tomllib.loads(path.read_text())["call"]:
        names, twins = call.pop("names"), call.pop("nonblocking", False)
        if call["kind"] not in KINDS:
            raise SystemExit(f"{names[0]}: unknown kind '{call['kind']}' (have: {', '.join(KINDS)})")
        call["parameters"] = tuple(parse_parameter(p) for p in split_parameters(call["parameters"]))
        if call.get("replaceable"):
            call["wrapped"] = "always"
        starts = call.pop("starts", [])
        if starts or twins or call.keys() & {"tests", "awaits", "waits"}:
            call.setdefault("wrapped", "waiting")
        for name in names:
            begins = tuple(text.replace("<lower>", name.lower()) for text in starts)
            function = Function(name=name, starts=begins, **call)
            function = replace(function, runs=function.runs.replace("<name>", name))
            # Open MPI orders the blocks of a neighbor that is listed twice otherwise in its nonblocking forms.
            if twins and not name.startswith("Neighbor"):
                function = replace(function, starts=(f"{nonblocking(function).name}({arguments(function)})",))
            functions += [function, nonblocking(function), persistent(function)] if twins else [function]
    return functions


@dataclass(frozen=True)
class Symbol:
    name: str
    function: Function
    large_count: bool


def symbols_of(functions: list[Function]) -> list[Symbol]:
    return [
        Symbol(f"{prefix}MPI_{f.name}{'_c' if large else ''}", f, large)
        for f in functions
        for large in ([False, True] if f.has_large_count else [False])
        for prefix in ("", "P")
    ]


def fortran_names(functions: list[Function]) -> list[str]:
    return [f"mpi_{f.name.lower()}{suffix}" for f in functions for suffix in FORTRAN_SUFFIXES]


# --- trampolines.S


def trampolines(symbols: list[Symbol], fortran: list[str]) -> str:
    lines = ['#include "interpose/trampoline.h"', ""]
    lines += [f"ENTRY {s.name}, {i}" for i, s in enumerate(symbols)]
    lines += [f"CONTROL MPI_Pcontrol, {len(symbols)}", f"CONTROL PMPI_Pcontrol, {len(symbols) + 1}"]
    lines += [f"FORTRAN_ENTRY {name}, {i}" for i, name in enumerate(fortran)]
    lines += ["", "SLOTS wherry_slots"]
    lines += [f"SLOT {i}" for i in range(len(symbols) + 2)]
    lines += ["", "SLOTS wherry_fortran_slots"]
    lines += [f"FORTRAN_SLOT {i}" for i in range(len(fortran))]
    return "\n".join(lines) + '\n\n.section .note.GNU-stack, "", @progbits\n'


def symbol_list(symbols: list[Symbol], fortran: list[str]) -> str:
    lines = [f"SYMBOL({s.name})" for s in symbols] + ["SYMBOL(MPI_Pcontrol)", "SYMBOL(PMPI_Pcontrol)"]
    return "\n".join(lines + [f"FORTRAN({name})" for name in fortran]) + "\n"


# --- wrappers.inc


def signature(f: Function) -> str:
    return ", ".join(p.declaration for p in f.parameters)


def arguments(f: Function) -> str:
    return ", ".join(p.name for p in f.parameters)


def types(f: Function) -> str:
    return ", ".join(p.in_signature for p in f.parameters)


def statement(code: str, when: bool = True) -> list[str]:
    return [f"  {code};"] if code and when else []


def booking(f: Function) -> list[str]:
    """The code that runs after the call, while the account is locked."""
    lines = ["    if (!call.succeeded()) return account.book(call, profile::none, {}), code;"]
    if f.after:
        lines.append(f"    {f.after};")
    if f.volume or f.peers:
        lines.append(f"    const Volume volume = {f.volume or '{}'};")
    if f.peers:
        lines.append(f"    {f.peers};")
    where = {"comm": "comm_index(comm)", "win": "window_comm(win)", "": "profile::none"}[f.object]
    volume = "volume" if f.volume or f.peers else "Volume{}"
    sequence = ", sequence_of(comm)" if f.synchronizing else ""
    return [*lines, f"    account.book(call, {where}, {volume}{sequence});"]


def running(f: Function) -> str:
    """What the call runs: the library's function, or the runtime's choice."""
    if f.runs:
        return f"[&] {{ return {f.runs}; }}"
    if not f.replaceable:
        return "next"
    native = f"[&] {{ return {f.natively}; }}" if f.natively else "next"
    return f"[&] {{ return replaceable(&run::Runtime::{f.name.lower()}, call, {{{arguments(f)}}}, {native}); }}"


class Others:
    """How a wrapper calls another native function of the same form as itself: MPI_ or PMPI_, with _c or without."""

    def __init__(self, functions: list[Function], symbols: list[Symbol]) -> None:
        self._functions = {f.name: f for f in functions}
        self._first = {f.name: next(i for i, s in enumerate(symbols) if s.function is f) for f in functions}

    def call(self, caller: Function, text: str, added: str = "") -> str:
        name, given = text.rstrip(")").split("(", 1)
        callee = self._functions[name]
        if callee.has_large_count and not caller.has_large_count:
            raise SystemExit(f"{caller.name} cannot be performed by {name}: it has no _c variant")
        values = ", ".join(v for v in (given, added) if v)
        # MPI_X, PMPI_X, MPI_X_c, PMPI_X_c: a function without the last two is the same for both.
        variant = f"entry.symbol - {self._first[caller.name]}"
        if caller.has_large_count and not callee.has_large_count:
            variant = f"({variant}) % 2"
        return f"next_of<int({types(callee)})>({self._first[name]} + {variant})({values})"


def polling(f: Function, others: Others) -> str:
    """What runs instead of the library's blocking function where this rank, or these, had better poll."""
    if f.tests:
        test = f"{others.call(f, f.tests)}"
        body = f"const int code = {test}; *flag = {f.until}; return code;" if f.until else f"return {test};"
        return f"by_testing([&](int* flag) {{ {body} }})"
    started = [text for text in (f.checks, *f.starts) if text]
    begins = [f"[&](MPI_Request* begun) {{ return {others.call(f, text, 'begun')}; }}" for text in started]
    if not f.awaits:
        return f"by_request({begins[0]})"
    test = f"[&](int* flag) {{ return {others.call(f, f.awaits)}; }}"
    take = others.call(f, f.ends or f"{f.name}({arguments(f)})")
    return f"by_arrival({', '.join([*begins, test, f'[&] {{ return {take}; }}'])})"


def condition(f: Function, index: int) -> str:
    if f.kind != "collective":
        return f"is_patient({index})"
    together = f"is_patient{'_reducing' if any(p.name == 'op' for p in f.parameters) else ''}_in(comm, {index})"
    return f"may_poll_with<COUNT>() && {together}" if f.has_large_count else together


def passing_on(f: Function, index: int, capture: str, others: Others) -> list[str]:
    """`next`, what the call comes to in the end, and what it is inside another MPI call."""
    native = f"return next_of<int({types(f)})>(entry.symbol)({arguments(f)});"
    if not f.gives_way:
        return [f"  const auto next = [{capture}] {{ {native} }};"]
    waiting = [f"    const LibraryWait wait({index});"] if f.waits or f.kind == "collective" else []
    polled = [f"    if ({condition(f, index)}) return {polling(f, others)};"] if f.can_poll else []
    return [
        f"  const auto native = [&] {{ {native} }};",
        f"  const auto next = [{capture}] {{",
        *polled,
        *waiting,
        f"    {native}",
        "  };",
    ]


def wrapper(f: Function, index: int, others: Others) -> str:
    # By value: then a collective's arguments are stored once. By reference where a statement before may change one.
    capture = "=" if f.replaceable and not f.before else "&"
    given = ", ".join(filter(None, ("Entry entry", signature(f))))
    passed = ", ".join(filter(None, ("{symbol, __builtin_return_address(0)}", arguments(f))))
    lines = [
        f"// MPI_{f.name}",
        "template <class COUNT, class DISPL>",
        f"[[gnu::noinline]] int {f.name}_entered({given}) {{",
        *passing_on(f, index, capture, others),
        *statement(f.before, f.always),
        f"  if (inside_mpi()) return {'native' if f.gives_way else 'next'}();",
        *statement(f.before, not f.always),
        f"  Call call({index}, entry.site);",
        f"  const int code = call.run({running(f)});",
        *statement(f"if (call.succeeded()) {f.done}", bool(f.done)),
        "  if (const Account account(call); account) {",
        *booking(f),
        "  }",
        "  return code;",
        "}",
        "template <int symbol, class COUNT, class DISPL>",
        f"int {f.name}({signature(f)}) {{",
        f"  return {f.name}_entered<COUNT, DISPL>({passed});",
        "}",
    ]
    return "\n".join(lines)


def narrowed(p: Parameter) -> str:
    if not p.scalar:
        return p.name
    if p.type.endswith("*"):
        return f"narrow.both_ways({p.name})"
    return f"narrow.array({p.name}, {p.length})" if p.is_array else f"narrow.number({p.name})"


def wide(text: str) -> str:
    return re.sub(r"\b(COUNT|DISPL)\b", lambda m: WIDE[m[0]], text)


def int_types(f: Function) -> str:
    return re.sub(r"\b(COUNT|DISPL)\b", "int", types(f))


def narrowing(f: Function) -> str:
    """MPI_X_c where the library has none: by the int function, or MPI_ERR_COUNT."""
    report = {"comm": "refuse(comm)", "win": "refuse_window(win)", "": "MPI_ERR_COUNT"}[f.object]
    scalars = [p for p in f.parameters if p.scalar]
    has_arrays = any(p.is_array for p in scalars)
    inner = ", ".join(f"{p.name}_" if p in scalars else p.name for p in f.parameters)
    call = f"next_of<int({int_types(f)})>(int_symbol)({inner})"
    if has_arrays and any(p.name == "request" for p in f.parameters):
        call = f"narrow.keep_until(request, {call})"
    lines = [
        "template <int int_symbol>",
        f"int {f.name}_by_int({wide(signature(f))}) {{",
        "  Narrow narrow;",
        *statement("std::unique_lock lengths(backend().lock)", has_arrays),
        *[f"  const auto {p.name}_ = {narrowed(p)};" for p in scalars],
        *statement("lengths.unlock()", has_arrays),
        f"  if (!narrow.fits()) return {report};",
        f"  return {call};",
        "}",
    ]
    return "\n".join(lines)


def instance(s: Symbol, index: int) -> str:
    count, displ = ("MPI_Count", "MPI_Aint") if s.large_count else ("int", "int")
    return f"&{s.function.name}<{index}, {count}, {displ}>"


def symbol_row(s: Symbol, index: int) -> str:
    """name, wrapper, what stands in for a missing _c, when it is wrapped"""
    stand_in = f"{s.function.name}_by_int<{index - 2}>" if s.large_count else "absent"
    when = f"Wrapped::{s.function.wrapped}"
    return f'    {{"{s.name}", as_address({instance(s, index)}), as_address(&{stand_in}), {when}}},'


def wrappers(functions: list[Function], symbols: list[Symbol]) -> str:
    others = Others(functions, symbols)
    parts = [wrapper(f, i, others) for i, f in enumerate(functions)]
    parts += [narrowing(f) for f in functions if f.has_large_count]
    rows = "\n".join(symbol_row(s, i) for i, s in enumerate(symbols))
    parts.append(f"const SymbolRow symbol_rows[] = {{\n{rows}\n}};")
    names = "\n".join(f'    {{"MPI_{f.name}", {KINDS.index(f.kind)}}},' for f in functions)
    parts.append(f"const FunctionRow function_rows[] = {{\n{names}\n}};")
    return "\n\n".join(parts) + "\n"


# --- collectives.inc, calls.inc, c_collectives.inc, c_plans.inc


def collective_row(f: Function) -> str:
    value = f.name.lower()
    return f"COLLECTIVE({value}, {f.name}, {nonblocking_name(f)}, {struct_name(f)}, WHERRY_{value.upper()})"


def calls(collectives: list[Function]) -> str:
    return "".join(
        f"using {struct_name(f)} = {f.arguments}<Collective::{f.name.lower()}>;\n" for f in collectives if f.arguments
    )


def int_signature(f: Function) -> str:
    return re.sub(r"\b(COUNT|DISPL)\b", "int", signature(f))


def c_collective(f: Function) -> str:
    given = ", ".join((f"&Runtime::{f.name.lower()}", f"library().{f.name}", arguments(f)))
    return f"int wherry_{f.name.lower()}({int_signature(f)}) {{\n  return perform({given});\n}}\n"


def outlasting(f: Function, p: Parameter) -> str:
    """An argument of a plan. Arrays are copied; their length is what a parameter of the same side states."""
    if not p.is_array:
        return p.name
    side = "sendbuf" if p.name.startswith("s") else "recvbuf"
    lengths = {q.length for q in f.parameters if q.is_array and q.name[0] == p.name[0] and q.length}
    if lengths == {"targets(comm)"}:
        return f"per_target({p.name}, comm)"
    if lengths == {"sources(comm)"}:
        return f"per_source({p.name}, comm)"
    return f"per_rank({side}, {p.name}, comm)"


def c_plan(f: Function) -> str:
    values = ", ".join(("plan", f"library().{nonblocking_name(f)}", *(outlasting(f, p) for p in f.parameters)))
    return (
        f"int wherry_{f.name.lower()}_plan({int_signature(f)}, wherry_plan** plan) {{\n"
        f"  return make<run::{struct_name(f)}>({values});\n}}\n"
    )


def collective_files(functions: list[Function]) -> dict[str, str]:
    collectives = [f for f in functions if f.replaceable]
    in_library = [f for f in collectives if f.library]
    return {
        "collectives.inc": "".join(f"{collective_row(f)}\n" for f in collectives),
        "calls.inc": calls(collectives),
        "c_collectives.inc": "\n".join(map(c_collective, in_library)),
        "c_plans.inc": "\n".join(map(c_plan, in_library)),
    }


def preload_files(functions: list[Function]) -> dict[str, str]:
    symbols, fortran = symbols_of(functions), fortran_names(functions)
    return {
        "trampolines.S": trampolines(symbols, fortran),
        "symbols.inc": symbol_list(symbols, fortran),
        "wrappers.inc": wrappers(functions, symbols),
    }


def write(path: Path, text: str) -> None:
    """Leaves a file alone that is as it should be: what is compiled from it then need not be compiled again."""
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, help="tools/mpi_functions.toml")
    parser.add_argument("directory", type=Path, help="where the files go")
    parser.add_argument("--collectives", action="store_true", help="those of the collectives instead of the preload's")
    options = parser.parse_args()
    functions = read_table(options.table)
    options.directory.mkdir(parents=True, exist_ok=True)
    files = collective_files(functions) if options.collectives else preload_files(functions)
    for name, text in files.items():
        write(options.directory / name, text)


if __name__ == "__main__":
    main()
