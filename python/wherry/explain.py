"""`wherry explain` as text: what would run, why, and what else was considered."""

from __future__ import annotations

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
    console.print(_question(answer), highlight=False)
    candidates = answer["candidates"]
    if candidates:
        best = candidates[0]
        console.print(
            f"[bold]{escape(best['name'])}[/] would be tried first: {escape(best['summary'])}", highlight=False
        )
        if reason := why(candidates):
            console.print(reason, highlight=False)
        console.print(_table(candidates))
    for reason, names in not_possible(answer["not_applicable"]).items():
        console.print(f"not possible here: {escape(', '.join(names))}: {escape(reason)}", highlight=False)
    console.print(
        "Costs by the model, of the busiest rank; off node: of the busiest node. At run time the best few and the"
        " library's own collective are measured, and the fastest is kept.",
        highlight=False,
    )
    for line in from_tuning(tuning, answer["op"], answer["ranks"]):
        console.print(escape(line), highlight=False, soft_wrap=True)


def _question(answer: dict[str, Any]) -> str:
    sizes = answer.get("node_sizes") or []
    ragged = f" of {min(sizes)} to {max(sizes)} ranks" if sizes and min(sizes) != max(sizes) else ""
    where = f"{units.plural(answer['nodes'], 'node')}{ragged}"
    what = f"MPI_{answer['op'].capitalize()}: {units.plural(answer['ranks'], 'rank')} on {where}"
    return f"{what}, blocks of {units.bytes_(answer['block_bytes'])}"


def why(candidates: list[dict[str, Any]]) -> str:
    """The differences to the runner-up and to sending every block directly, in counts."""
    best, others = candidates[0], candidates[1:]
    other = next((row for row in others if row["name"] == "direct"), others[0] if others else None)
    if other is None:
        return ""
    theirs = f"where {escape(other['name'])} sends {other['messages']} and {other['messages_between']}"
    moved = f"it moves {units.bytes_(best['bytes'])} per rank instead of {units.bytes_(other['bytes'])}"
    mine = f"A rank sends at most {best['messages']} messages and a node {best['messages_between']} to others"
    return f"{mine}, {theirs}; {moved}."


def not_possible(rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Names by reason."""
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row["why"], []).append(row["name"])
    return found


def _table(candidates: list[dict[str, Any]]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    columns = ("strategy", "time", "phases", "messages", "off node", "bytes", "off node", "staging")
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right", no_wrap=True)
    for row in candidates:
        table.add_row(
            escape(row["name"]),
            units.seconds(row["seconds"]),
            str(row["phases"]),
            units.count(row["messages"]),
            units.count(row["messages_between"]),
            units.bytes_(row["bytes"]),
            units.bytes_(row["bytes_between"]),
            units.bytes_(row["staging_bytes"]),
        )
    return table


def from_tuning(path: Path | None, operation: str, ranks: int) -> list[str]:
    """Rows of the tuning file for this operation and number of ranks, as they stand there."""
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
    rows = [row for line in lines if (row := _learned(line.split(), f"MPI_{operation.capitalize()}", ranks))]
    if not rows:
        return [f"nothing was learned for {operation} on {units.plural(ranks, 'rank')} yet ({path})"]
    return [f"learned earlier for {units.plural(ranks, 'rank')} ({path}):", *(f"  {row}" for row in rows[:12])]


def intact(data: bytes) -> bool:
    """Whether the last line has the checksum of all before it (docs/reference/tuning-file.md)."""
    start = data.rfind(b"\n", 0, -1) + 1
    state = 0xCBF29CE484222325
    for byte in data[:start]:
        state = (state ^ byte) * 0x100000001B3 % (1 << 64)
    return data.startswith(b"wherry-tuning 1\n") and data[start:] == b"end %x\n" % state


def _learned(words: list[str], function: str, ranks: int) -> str | None:
    """A row of the tuning file in words: row MACHINE LIBRARY RANKS PLACEMENT FUNCTION CLASS STRATEGY TIME NATIVE ..."""
    if len(words) < 10 or words[0] != "row" or words[3] != str(ranks) or words[5] != function:
        return None
    try:
        size, time, native = units.bucket(min(int(words[6]), 65)), float(words[8]), float(words[9])
    except ValueError:
        return None
    took = f"{units.seconds(time)}, native {units.seconds(native)}"
    return f"blocks {size}: {words[7]} ({took}) on {unquote(words[2])}"
