"""Writes what is alike for all collectives that Wherry performs, from the table of MPI functions.

The table is tools/mpi_functions.toml. Written:
  collectives.inc          COLLECTIVE(value, MPI's name, that of its nonblocking form, struct of its arguments, setting)
  calls.inc                the structs of their arguments, for src/arguments/calls.hpp
  segment_operations.inc   the schedules of those that work on segments, for segment_operation.hpp
  c_collectives.inc        wherry_<name> of the C library
  c_plans.inc              wherry_<name>_plan
"""

from __future__ import annotations

from mpi_table import Function, Parameter, arguments, generate, narrow, nonblocking_name, signature, struct_name, wide


def collective_row(f: Function) -> str:
    value = f.name.lower()
    return f"COLLECTIVE({value}, {f.name}, {nonblocking_name(f)}, {struct_name(f)}, WHERRY_{value.upper()})"


def member(p: Parameter) -> str:
    """Counts widened; an array of them is a view that reads either width."""
    if not p.is_array:
        return f"{wide(p.type)} {p.name}"
    return f"{'const MPI_Datatype*' if 'MPI_Datatype' in p.type else 'Numbers'} {p.name}"


def argument_struct(f: Function) -> str:
    members = "".join(f"  {member(p)};\n" for p in f.parameters)
    return (
        f"/// Arguments of MPI_{f.name} (MPI 4.1, {f.section}).\n"
        f"struct {struct_name(f)} {{\n"
        f"  static constexpr Collective collective = Collective::{f.name.lower()};\n\n{members}}};\n"
    )


def segment_operation(f: Function) -> str:
    operation = f"Operation::{f.schedules}" if f.schedules else "std::nullopt"
    return f"case Collective::{f.name.lower()}: return {operation};\n"


def c_collective(f: Function) -> str:
    given = ", ".join((f"&Runtime::{f.name.lower()}", f"library().{f.name}", arguments(f)))
    return f"int wherry_{f.name.lower()}({narrow(signature(f))}) {{\n  return perform({given});\n}}\n"


#: How src/api/plans.cpp keeps an array of so many entries; {0}: the array, {1}: the buffer of its side.
KEPT = {
    "ranks(comm)": "per_rank({1}, {0}, comm)",
    "sent_ranks(comm, sendbuf)": "per_rank({1}, {0}, comm)",
    "targets(comm)": "per_target({0}, comm)",
    "sources(comm)": "per_source({0}, comm)",
}


def outlasting(f: Function, p: Parameter) -> str:
    """An argument of a plan. Arrays are copied; their length is what a parameter of the same side states."""
    if not p.is_array:
        return p.name
    (length,) = {q.length for q in f.parameters if q.is_array and q.name[0] == p.name[0] and q.length}
    if length not in KEPT:
        raise SystemExit(f"MPI_{f.name}: a plan cannot keep {length} entries of {p.name}; see KEPT in {__file__}")
    return KEPT[length].format(p.name, "sendbuf" if p.name.startswith("s") else "recvbuf")


def c_plan(f: Function) -> str:
    values = ", ".join(("plan", f"library().{nonblocking_name(f)}", *(outlasting(f, p) for p in f.parameters)))
    return (
        f"int wherry_{f.name.lower()}_plan({narrow(signature(f))}, wherry_plan** plan) {{\n"
        f"  return make<run::{struct_name(f)}>({values});\n}}\n"
    )


def collective_files(functions: list[Function]) -> dict[str, str]:
    collectives = [f for f in functions if f.replaceable]
    in_library = [f for f in collectives if f.library]
    return {
        "collectives.inc": "".join(f"{collective_row(f)}\n" for f in collectives),
        "calls.inc": "\n".join(map(argument_struct, collectives)),
        "segment_operations.inc": "".join(map(segment_operation, collectives)),
        "c_collectives.inc": "\n".join(map(c_collective, in_library)),
        "c_plans.inc": "\n".join(map(c_plan, in_library)),
    }


if __name__ == "__main__":
    generate(__doc__ or "", collective_files)
