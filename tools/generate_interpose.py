"""Writes the preload's entry points from the table of MPI functions.

The table is tools/mpi_functions.toml. Written:
  trampolines.S         every exported name: a jump through a slot, type-agnostic
  symbols.inc           SYMBOL(name), FORTRAN(name) in the order of the slots
  wrappers.inc          one C++ template per function, and the tables that the backend reads
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mpi_table import KINDS, Function, Parameter, arguments, generate, narrow, signature, types, wide

FORTRAN_SUFFIXES = ["_", "__", "_f08_", "_f08ts_", "_f08ts_large_"]


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
    book = f"account.book(call, {where}, {volume}{sequence})"
    return [*lines, f"    repetition.keep(call, {volume}, {book}, {destination(f)});" if f.repeats else f"    {book};"]


def destination(f: Function) -> str:
    """Where the data of a call go that may be counted."""
    find = {"comm": "destination_in_comm", "win": "destination_in_window", "": ""}[f.object]
    peer = f.repeats.rsplit(", ", 1)[1]
    return f"[&] {{ return {find}({f.object}, {peer}); }}" if find else "[] { return Destination{}; }"


def running(f: Function) -> str:
    """What the call runs: the native function, or the runtime's choice."""
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


def beginning(f: Function, text: str, others: Others) -> str:
    """Begins a nonblocking call; one that takes the copy once that is there."""
    begin = f"return {others.call(f, text, 'begun')};"
    return begin if text not in f.starts or not f.copies else f"if (!copy.make()) return int{{MPI_ERR_OTHER}}; {begin}"


def polling(f: Function, others: Others) -> str:
    """What runs instead of the native blocking function where this rank, or these, had better poll."""
    if f.tests:
        test = f"{others.call(f, f.tests)}"
        body = f"const int code = {test}; *flag = {f.until}; return code;" if f.until else f"return {test};"
        return f"by_testing([&](int* flag) {{ {body} }})"
    begins = [f"[&](MPI_Request* begun) {{ {beginning(f, text, others)} }}" for text in (f.checks, *f.starts) if text]
    if not f.awaits:
        return f"by_request({begins[0]}{', status' if receives(f) else ''})"
    test = f"[&](int* flag) {{ return {others.call(f, f.awaits)}; }}"
    take = others.call(f, f.ends or f"{f.name}({arguments(f)})")
    return f"by_arrival({', '.join([*begins, test, f'[&] {{ return {take}; }}'])})"


def polled(f: Function, index: int, others: Others) -> list[str]:
    """How the function polls where that is wanted, and can be."""
    if not f.can_poll:
        return []
    if not f.copies:
        return [f"    if ({condition(f, index)}) return {polling(f, others)};"]
    return [
        f"    if ({condition(f, index)}) {{",
        f"      PackedCopy copy({f.copies});",
        f"      const int code = {polling(f, others)};",
        "      if (!copy.is_refused()) return code;",
        "    }",
    ]


def condition(f: Function, index: int) -> str:
    if f.kind != "collective":
        return f"is_patient({index})"
    is_reducing = any(p.name == "op" for p in f.parameters)
    among = "_reducing" if is_reducing else "_with_neighbors" if f.name.startswith("Neighbor") else ""
    together = f"is_patient{among}_in(comm, {index})"
    return f"may_poll_with<COUNT>() && {together}" if f.has_large_count else together


def passing_on(f: Function, index: int, capture: str, others: Others) -> list[str]:
    """`next`, what the call comes to in the end, and what it is inside another MPI call."""
    native = f"return next_of<int({types(f)})>(entry.symbol)({arguments(f)});"
    if not f.gives_way:
        return [f"  const auto next = [{capture}] {{ {native} }};"]
    waiting = [f"    const LibraryWait wait({index});"] if f.waits or f.kind == "collective" else []
    return [
        f"  const auto native = [&] {{ {native} }};",
        f"  const auto next = [{capture}] {{",
        *polled(f, index, others),
        *waiting,
        f"    {native}",
        "  };",
    ]


def may_pass(f: Function) -> bool:
    """Whether it is a collective that may be given back to the library."""
    return f.replaceable and not (f.runs or f.before or f.natively)


def passing(f: Function) -> list[str]:
    """What the entry of such a collective tries first, or that of a function that has a condition of its own."""
    native = f"next_of<int({types(f)})>(symbol)({arguments(f)})"
    if f.passes:
        return [f"  if ({f.passes}) [[likely]]", f"    return backend().memory.pass_by(), {native};"]
    if not may_pass(f):
        return []
    asked = f"is_given_back(&run::Runtime::{f.name.lower()}, site, {{{arguments(f)}}})"
    return [f"  if ({asked}) return pass([&] {{ return {native}; }});"]


def counting(f: Function, index: int) -> list[str]:
    """The same where a record is written."""
    if not may_pass(f):
        return []
    given = f"&run::Runtime::{f.name.lower()}, {index}, entry.site, {{{arguments(f)}}}"
    return [f"  if (int passed; passes_counted({given}, native, &passed)) return passed;"]


def receives(f: Function) -> bool:
    return any(p.name == "status" for p in f.parameters)


def tells_what_arrives(f: Function) -> bool:
    """Whether a counted call moves what its status says."""
    return receives(f) and f.kind != "wait"


def running_counted(f: Function) -> str:
    """What a call runs that is counted, or timed for such: the native function; on a window, through the cache; on
    requests, with what Wherry has to complete."""
    native = "native" if f.gives_way else "next"
    return re.sub(r"\bnext\b", native, running(f)) if f.object == "win" or f.kind == "wait" else native


def repetition(f: Function, index: int) -> list[str]:
    """What is known of calls of the same key as one that was booked."""
    if not f.repeats:
        return []
    moves = "both" if f.arrives else "what_arrives" if tells_what_arrives(f) else "elements"
    handle, others = f.repeats.split(", ", 1)
    return [
        f"  Repetition repetition({{entry.site, {index}, number_of({handle}), {others}}}, Repetition::Moves::{moves}, "
        f"{str(f.gives_way).lower()}{f', {f.arrives}' if f.arrives else ''});"
    ]


def repeating(f: Function, index: int) -> list[str]:
    """Counts such a call."""
    if not f.repeats:
        return []
    given = running_counted(f)
    if f.arrives:
        run = f"run_exchange({given}, status)"
    elif tells_what_arrives(f):
        run = f"run_receive({given}, status)"
    else:
        run = f"run({given})"
    return [*repetition(f, index), f"  if (repetition.is_counted()) return repetition.{run};"]


def inside(f: Function) -> str:
    """What runs in a call inside another: natively, but that Wherry completes what it has begun."""
    native = "native" if f.gives_way else "next"
    is_on_requests = any(p.name in ("request", "requests") for p in f.parameters)
    if f.kind == "one_sided" or not is_on_requests or not f.runs or re.search(r"\bcall\b", f.runs):
        return f"{native}()"
    return re.sub(r"\bnext\b", native, f.runs)


def counted_first(f: Function, index: int, given: str) -> list[str]:
    """What counts a call if nothing else need be done. By itself: what else there is would have arguments stored."""
    if not f.repeats and not may_pass(f):
        return []
    native = "native" if f.gives_way else "next"
    return [
        "template <class COUNT, class DISPL>",
        f"[[gnu::noinline, gnu::hot]] int {f.name}_entered({given}) {{",
        f"  const auto {native} = [&] {{ return next_of<int({types(f)})>(entry.symbol)({arguments(f)}); }};",
        *counting(f, index),
        *statement(f.before, f.always),
        *repeating(f, index),
        f"  return {f.name}_in_full<COUNT, DISPL>({', '.join(filter(None, ('entry', arguments(f))))});",
        "}",
    ]


def wrapper(f: Function, index: int, others: Others) -> str:
    # By value: then a collective's arguments are stored once. By reference where a statement before may change one.
    capture = "=" if f.replaceable and not f.before else "&"
    given = ", ".join(filter(None, ("Entry entry", signature(f))))
    passed = ", ".join(filter(None, ("{symbol, site}", arguments(f))))
    timed_alike = not f.repeats or running_counted(f) == running(f)
    for_others = (
        "" if timed_alike else f"call.is_timed_for_others() ? repetition.run_timed(call, {running_counted(f)}) : "
    )
    first = counted_first(f, index, given)
    attributes, suffix = ("gnu::noinline, gnu::cold", "in_full") if first else ("gnu::noinline", "entered")
    lines = [
        f"// MPI_{f.name}",
        "template <class COUNT, class DISPL>",
        f"[[{attributes}]] int {f.name}_{suffix}({given}) {{",
        *passing_on(f, index, capture, others),
        *statement(f.before, f.always and not first),
        *repetition(f, index),
        f"  if (inside_mpi()) return {inside(f)};",
        *statement(f.before, not f.always),
        f"  Call call({index}, entry.site{', comm' if f.synchronizing else ''});",
        *statement("call.time_for(repetition.stands_for())", bool(f.repeats)),
        f"  const int code = {for_others}call.run({running(f)});",
        *statement(f"if (call.succeeded()) {f.done}", bool(f.done)),
        "  if (const Account account(call); account) {",
        *booking(f),
        "  }",
        "  return code;",
        "}",
        *first,
        "template <int symbol, class COUNT, class DISPL>",
        f"int {f.name}({signature(f)}) {{",
        "  const void* const site = called_from(__builtin_return_address(0));",
        *passing(f),
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


def narrowing(f: Function) -> str:
    """MPI_X_c where the library has none: by the int function, or MPI_ERR_COUNT."""
    report = {"comm": "refuse(comm)", "win": "refuse_window(win)", "": "MPI_ERR_COUNT"}[f.object]
    scalars = [p for p in f.parameters if p.scalar]
    has_arrays = any(p.is_array for p in scalars)
    inner = ", ".join(f"{p.name}_" if p in scalars else p.name for p in f.parameters)
    call = f"next_of<int({narrow(types(f))})>(int_symbol)({inner})"
    if has_arrays and any(p.name == "request" for p in f.parameters):
        call = f"narrow.keep_until(request, {call})"
    lines = [
        "template <int int_symbol>",
        f"int {f.name}_by_int({wide(signature(f))}) {{",
        "  Narrow narrow;",
        *statement("std::unique_lock lengths(backend().record.lock)", has_arrays),
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


def preload_files(functions: list[Function]) -> dict[str, str]:
    symbols, fortran = symbols_of(functions), fortran_names(functions)
    return {
        "trampolines.S": trampolines(symbols, fortran),
        "symbols.inc": symbol_list(symbols, fortran),
        "wrappers.inc": wrappers(functions, symbols),
    }


if __name__ == "__main__":
    generate(__doc__ or "", preload_files)
