"""The table of MPI functions (tools/mpi_functions.toml), read, and how its functions are written in C.

What is made from it, is made while building, so that it cannot be stale: by generate_interpose.py and
generate_collectives.py. Only the interface is kept: by generate_interface.py. Needs only Python's standard library.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

KINDS = ["point_to_point", "collective", "one_sided", "wait", "other"]
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
    section: str = ""
    schedules: str = ""
    doc: str = ""
    library: bool = True
    runs: str = ""
    passes: str = ""
    natively: str = ""
    begins_natively: str = ""
    always: bool = False
    wrapped: str = "recording"
    starts: tuple[str, ...] = ()
    tests: str = ""
    until: str = ""
    checks: str = ""
    awaits: str = ""
    copies: str = ""
    ends: str = ""
    waits: bool = False
    repeats: str = ""
    arrives: str = ""

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
    def is_neighborhood(self) -> bool:
        return self.name.startswith("Neighbor_")

    @property
    def is_reduction(self) -> bool:
        return any(p.type == "MPI_Op" for p in self.parameters)

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
    made = twin(function, nonblocking_name(function), "MPI_Request* request", "startable")
    if not function.begins_natively:
        return made
    native = f"[&] {{ return {function.begins_natively}; }}"
    return replace(
        made,
        before=function.before,
        runs=made.runs.replace("request, next)", f"request, {native})"),
        peers=f"{function.peers}; {function.after}",
        wrapped="always",
    )


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
            if twins:
                function = replace(function, starts=(f"{nonblocking(function).name}({arguments(function)})",))
            functions += [function, nonblocking(function), persistent(function)] if twins else [function]
    return functions


def signature(f: Function) -> str:
    return ", ".join(p.declaration for p in f.parameters)


def arguments(f: Function) -> str:
    return ", ".join(p.name for p in f.parameters)


def types(f: Function) -> str:
    return ", ".join(p.in_signature for p in f.parameters)


def narrow(text: str) -> str:
    """As the function with `int` counts has it."""
    return re.sub(r"\b(COUNT|DISPL)\b", "int", text)


def wide(text: str) -> str:
    """As the function with large counts has it."""
    return re.sub(r"\b(COUNT|DISPL)\b", lambda m: WIDE[m[0]], text)


def write(path: Path, text: str) -> None:
    """Leaves a file alone that is as it should be: what is compiled from it then need not be compiled again."""
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)


def generate(description: str, files_of: Callable[[list[Function]], Mapping[str, str]]) -> None:
    """The command line of a generator."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, help="tools/mpi_functions.toml")
    parser.add_argument("directory", type=Path, help="where the files go")
    options = parser.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    for name, text in files_of(read_table(options.table)).items():
        write(options.directory / name, text)
