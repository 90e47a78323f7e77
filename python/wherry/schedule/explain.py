"""`wherry explain` as text: what would run, why, and what else was considered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from wherry import units

_MOST_BYTES = 1 << 20  # of a tuning file that is looked into


def show(console: Console, answer: dict[str, Any], tuning: Path | None) -> None:
    """Prints the answer of plan.explain."""
    for line in _lines(answer):
        console.print(line, highlight=False)
    if answer["candidates"]:
        console.print(_table(answer["candidates"]))
    for reason, names in not_possible(answer["not_applicable"]).items():
        console.print(f"not possible here: {escape(', '.join(names))}: {escape(reason)}", highlight=False)
    console.print(
        "Costs by the model, of the busiest rank; off node: of the busiest node. At run time the best few and the"
        " library's own collective are measured, and the fastest is kept.",
        highlight=False,
    )
    console.print(escape(constants_used(answer["priced_by"])), highlight=False)
    for line in from_tuning(tuning, answer["op"], answer["ranks"], _sized(answer)):
        console.print(escape(line), highlight=False, soft_wrap=True)


def _lines(answer: dict[str, Any]) -> list[str]:
    """The question, what would run, and why."""
    lines = [_question(answer)]
    tried = answer["tried"][1:]
    first = next((row for row in answer["candidates"] if row["name"] in tried[:1]), None)
    if first is None:
        return [*lines, "The native collective runs."]
    lines.append(f"[bold]{escape(first['name'])}[/] would be tried first: {escape(first['summary'])}")
    if reason := why(first, answer["candidates"]):
        lines.append(reason)
    if first is not answer["candidates"][0]:
        lines.append(
            "What is tried is settled for all roots and sizes up to the next power of two at once, "
            "and with waits that may be longer than the constants say."
        )
    lines.append(f"Tried beside native: {escape(', '.join(tried))}.")
    in_order = answer.get("tried_in_order", answer["tried"])[1:]
    if in_order != tried:
        lines.append(f"If its operation does not commute: {escape(', '.join(in_order)) or 'none'}.")
    return lines


def _sized(answer: dict[str, Any]) -> str:
    """What the size in question is the size of."""
    return "blocks" if "block_bytes" in answer else "buffers"


def constants_used(by: dict[str, Any]) -> str:
    """Whose constants the model has."""
    with_, *others = [" ".join(name.split()) for name in (by["fitted_with"], *by["fitted"])]
    if with_:
        return f"Estimated by constants fitted to this machine with {with_}."
    if others:
        return f"Estimated by default constants; fitted ones are known with {', '.join(others)}: choose by --mpi."
    return "Estimated by default constants; `wherry tune --model` fits them to this machine."


def _question(answer: dict[str, Any]) -> str:
    sizes = answer.get("node_sizes") or []
    ragged = f" of {min(sizes)} to {max(sizes)} ranks" if sizes and min(sizes) != max(sizes) else ""
    where = f"{units.plural(answer['nodes'], 'node')}{ragged}"
    what = f"MPI_{answer['op'].capitalize()}: {units.plural(answer['ranks'], 'rank')} on {where}"
    root = f", root {answer['root']}" if "root" in answer else ""
    if "neighbors" in answer:
        what += f", up to {units.plural(answer['neighbors'], 'neighbor')}"
    if "block_bytes" in answer:
        return f"{what}{root}, blocks of {units.bytes_(answer['block_bytes'])}"
    return f"{what}{root}" + (f", {units.bytes_(answer['buffer_bytes'])} in all" if answer["buffer_bytes"] else "")


def why(first: dict[str, Any], candidates: list[dict[str, Any]]) -> str:
    """The differences to sending everything directly, or else to the runner-up, in counts."""
    others = [row for row in candidates if row is not first]
    plain = (row for row in others if row["name"] in ("direct", "linear"))
    other = next(plain, others[0] if others else None)
    if other is None:
        return ""
    theirs = f"where {escape(other['name'])} sends {other['messages']} and {other['messages_between']}"
    mine = f"A rank sends at most {first['messages']} messages and a node {first['messages_between']} to others"
    if first["bytes"] == other["bytes"]:
        return f"{mine}, {theirs}."
    moved = f"it moves {units.bytes_(first['bytes'])} per rank instead of {units.bytes_(other['bytes'])}"
    return f"{mine}, {theirs}; {moved}."


def not_possible(rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Names by reason."""
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row["why"], []).append(row["name"])
    return found


#: Heading and text of a column; those of which no candidate has anything are left out.
_COLUMNS: tuple[tuple[str, Callable[[dict[str, Any]], str]], ...] = (
    ("strategy", lambda row: escape(row["name"])),
    ("time", lambda row: units.seconds(row["seconds"])),
    ("phases", lambda row: str(row["phases"])),
    ("depth", lambda row: str(row.get("depth", ""))),
    ("messages", lambda row: units.count(row["messages"])),
    ("off node", lambda row: units.count(row["messages_between"])),
    ("bytes", lambda row: units.bytes_(row["bytes"])),
    ("off node", lambda row: units.bytes_(row["bytes_between"])),
    ("staging", lambda row: units.bytes_(row["staging_bytes"])),
    ("rank order", lambda row: {True: "kept", False: "changed"}.get(row.get("keeps_order", ""), "")),
)


def _table(candidates: list[dict[str, Any]]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    columns = [(heading, text) for heading, text in _COLUMNS if any(map(text, candidates))]
    for i, (heading, _) in enumerate(columns):
        table.add_column(heading, justify="left" if i == 0 else "right", no_wrap=True)
    for row in candidates:
        table.add_row(*(text(row) for _, text in columns))
    return table


def from_tuning(path: Path | None, operation: str, ranks: int, sized: str) -> list[str]:
    """Rows of the tuning file for this operation and number of ranks, as they stand there. sized: blocks or buffers."""
    if path is None:
        return []
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES)
    except FileNotFoundError:
        return [f"nothing was learned yet: {path} does not exist"]
    except OSError as error:
        return [f"tuning file {path}: {error.strerror}"]
    if len(data) < _MOST_BYTES and not intact(data):
        return [f"{path} is damaged or no tuning file: programs will ignore it"]
    lines = data.decode("utf-8", errors="replace").splitlines()
    rows = [row for line in lines if (row := _learned(line.split(), f"MPI_{operation.capitalize()}", ranks, sized))]
    if not rows:
        return [f"nothing was learned for {operation} on {units.plural(ranks, 'rank')} yet ({path})"]
    return [f"learned earlier for {units.plural(ranks, 'rank')} ({path}):", *(f"  {row}" for row in rows[:12])]


def intact(data: bytes) -> bool:
    """Whether the last line has the checksum of all before it (docs/reference/tuning-file.md)."""
    start = data.rfind(b"\n", 0, -1) + 1
    state = 0xCBF29CE484222325
    for byte in data[:start]:
        state = (state ^ byte) * 0x100000001B3 % (1 << 64)
    return data.startswith((b"wherry-tuning 1\n", b"wherry-tuning 2\n")) and data[start:] == b"end %x\n" % state


def _learned(words: list[str], function: str, ranks: int, sized: str) -> str | None:
    """A row of the tuning file in words: row MACHINE LIBRARY RANKS PLACEMENT FUNCTION CLASS STRATEGY TIME NATIVE ..."""
    if len(words) < 10 or words[0] != "row" or words[3] != str(ranks):
        return None
    name, _, limit = words[5].partition(":")
    if name != function:
        return None
    try:
        size, time, native = units.bucket(min(int(words[6]), 65)), float(words[8]), float(words[9])
    except ValueError:
        return None
    took = f"{units.seconds(time)}, native {units.seconds(native)}"
    limited = f" {limit.replace('_', ' ')}" if limit else ""
    return f"{sized} {size}{limited}: {words[7]} ({took}) on {unquote(words[2])}"
