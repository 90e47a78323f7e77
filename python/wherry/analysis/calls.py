"""What was called, from where, on which communicator, with how much data of which types, and who got it."""

from __future__ import annotations

from collections.abc import Sequence

from wherry.analysis.packed import Row
from wherry.analysis.paths import Paths
from wherry.analysis.record import Record, comm_key, text
from wherry.analysis.record_format import KINDS, NONE, PEER_CLASSES
from wherry.analysis.rows import (
    NS,
    Analysis,
    CommRow,
    FunctionRow,
    PeerRow,
    SiteRow,
    SizeRow,
    Totals,
    TypeRow,
)
from wherry.analysis.sites import Site, name_sites, plain

#: Starting and ending MPI is no communication, and in a short run it would hide all that is.
SETUP = frozenset(
    f"MPI_{name}" for name in ("Init", "Init_thread", "Finalize", "Session_init", "Session_finalize", "Abort")
)


def fill_calls(result: Analysis, ranks: Sequence[Record], resolve_sites: bool) -> None:
    functions: dict[str, FunctionRow] = {}
    sites: dict[tuple[str, str, int], SiteRow] = {}
    bases: dict[tuple[str, int], int] = {}
    comms: dict[str, CommRow] = {}
    sizes: dict[tuple[int, str], SizeRow] = {}
    paths = Paths()
    for record in ranks:
        paths.add(record)
        seen: set[tuple[str, str, int]] = set()
        kinds = [KINDS[row["kind"]] for row in record.tables["functions"]]
        names = [text(row["name"]) for row in record.tables["functions"]]
        for call in record.tables["calls"]:
            name, kind = names[call["function"]], kinds[call["function"]]
            if name in SETUP:
                continue
            functions.setdefault(name, FunctionRow(name, kind, Totals())).totals.add(call)
            module, offset, base = _site(record, call)
            bases.setdefault((module, offset), base)
            key = (name, module, offset)
            row = sites.setdefault(key, SiteRow(name, "", module, offset, 0, Totals()))
            row.totals.add(call)
            row.ranks += key not in seen
            seen.add(key)
            _add_comm(comms, record, call)
            _add_size(sizes, kind, call)
    places = {place: Site(*place, base) for place, base in bases.items()}
    texts = name_sites([*places.values(), *paths.places()]) if resolve_sites else {}
    for row in sites.values():
        place = places[row.module, row.offset]
        row.site = texts.get(place) or plain(place)
        row.paths = paths.rows(row.function, row.module, row.offset, texts)
    result.functions = sorted(functions.values(), key=lambda row: -row.totals.seconds)
    result.sites = sorted(sites.values(), key=lambda row: -row.totals.seconds)
    result.comms = sorted(comms.values(), key=lambda row: -row.totals.seconds)
    result.sizes = sorted(sizes.values(), key=lambda row: (row.bucket, row.kind))


def _site(record: Record, call: Row) -> Site:
    """The base differs from rank to rank; any of them serves to name the place."""
    if call["module"] == NONE:
        return Site("", 0, 0)
    module = record.tables["modules"][call["module"]]
    return Site(text(module["path"]), call["site"], module["base"])


def _add_comm(comms: dict[str, CommRow], record: Record, call: Row) -> None:
    if call["comm"] == NONE:
        return
    comm = record.tables["comms"][call["comm"]]
    key = comm_key(comm)
    row = comms.setdefault(key, CommRow(text(comm["name"]), key, comm["size"], comm["nodes"], Totals()))
    row.nodes = max(row.nodes, comm["nodes"])
    row.totals.add(call)


def _add_size(sizes: dict[tuple[int, str], SizeRow], kind: str, call: Row) -> None:
    bucket = call["bucket"]
    row = sizes.setdefault((bucket, kind), SizeRow(bucket, kind, 0, 0, 0.0))
    row.calls += call["count"]
    row.bytes += call["bytes"]
    row.seconds += call["time_ns"] * NS


def fill_peers(result: Analysis, ranks: Sequence[Record]) -> None:
    for record in ranks:
        for peer in record.tables["peers"]:
            kind = PEER_CLASSES[peer["kind"]]
            row = PeerRow(record.rank, peer["peer"], kind, peer["messages"], peer["bytes"])
            result.peers.append(row)


def fill_types(result: Analysis, ranks: Sequence[Record]) -> None:
    rows: dict[str, TypeRow] = {}
    for record in ranks:
        for kind in record.tables["types"]:
            name = text(kind["name"])
            row = rows.setdefault(name, TypeRow(name, 0, 0))
            row.calls += kind["count"]
            row.bytes += kind["bytes"]
    result.types = sorted(rows.values(), key=lambda row: -row.bytes)


def split_functions(record: Record) -> tuple[set[int], set[int]]:
    """The indices of functions that start or end MPI, and those of all others."""
    setup = {i for i, row in enumerate(record.tables["functions"]) if text(row["name"]) in SETUP}
    return setup, set(range(len(record.tables["functions"]))) - setup
