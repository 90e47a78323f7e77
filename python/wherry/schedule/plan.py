"""Asks wherry-plan, the C++ tool, about schedules: names, costs and pictures."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wherry import paths
from wherry.errors import UsageError, WherryError, unknown
from wherry.files import check_picture, write_whole

MOST_RANKS = 1 << 14  # that wherry-plan makes schedules for
MOST_DRAWN_RANKS = 128  # that it draws


@dataclass(frozen=True)
class Placement:
    """Ranks and where they run: on `nodes` nodes as even as possible, or rank r on node_of[r].

    grid: such as 4x4x4, on which ranks have neighbors up to `reach` steps away; of neighborhood collectives only.
    """

    ranks: int
    nodes: int | None = None
    node_of: str | None = None
    grid: str | None = None
    reach: int | None = None

    def words(self) -> list[str]:
        words = ["-n", str(self.ranks)]
        if self.grid is not None:
            words += ["--grid", self.grid]
        if self.reach is not None:
            words += ["--reach", str(self.reach)]
        if self.nodes is not None:
            words += ["--nodes", str(self.nodes)]
        if self.node_of is not None:
            words += ["--node-of", self.node_of]
        return words

    def check(self) -> None:
        if self.nodes is not None and self.node_of is not None:
            raise UsageError("--nodes and --node-of say the same thing; give one of them")
        if self.nodes is not None and self.nodes > self.ranks:
            raise UsageError(f"--nodes {self.nodes} is more than the {self.ranks} ranks; each node has at least one")
        if self.node_of is not None:
            given = self.node_of.split(",")
            if not all(word.strip().isdigit() for word in given):
                raise UsageError(f"--node-of '{self.node_of}' is no list of node numbers; write for example 0,0,1,1")
            if len(given) != self.ranks:
                raise UsageError(f"--node-of names {len(given)} nodes for {self.ranks} ranks; name one per rank")


def strategies() -> list[dict[str, Any]]:
    """Every strategy, with the operations that it performs."""
    found: list[dict[str, Any]] = json.loads(ask(["strategies"]))
    return found


def names_by_operation() -> dict[str, list[str]]:
    """The strategies of each operation."""
    found: dict[str, list[str]] = {}
    for row in strategies():
        for operation in row["operations"]:
            found.setdefault(operation, []).append(row["name"])
    return found


def check_strategies(names: Iterable[str], besides: Sequence[str] = (), operation: str = "alltoall") -> None:
    """Raises UsageError for a name that is no strategy of the operation and none of `besides`."""
    known = [*besides, *names_by_operation()[operation]]
    for name in names:
        if name not in known:
            raise unknown("strategy", name, known)


def explain(
    operation: str, placement: Placement, size: int | None, root: int | None = None, constants: Sequence[str] = ()
) -> dict[str, Any]:
    """What would be tried, and candidates with their costs, best first.

    size: bytes of a block, or of the whole buffer where there are no blocks; None: of a barrier. constants: the words
    that name the constants, as store.constants_for.
    """
    placement.check()
    words = ["explain", "--op", operation, *placement.words(), *constants]
    if root is not None:
        words += ["--root", str(root)]
    if size is not None:
        words += ["-m", str(size)]
    answer: dict[str, Any] = json.loads(ask(words))
    answer["candidates"].sort(key=lambda candidate: candidate["seconds"])
    return answer


def draw(
    names: Sequence[str], placement: Placement, form: str, root: int | None = None, depth: int | None = None
) -> str:
    """The schedule as SVG or text. names: an operation and its strategy, or a strategy of alltoall."""
    placement.check()
    words = ["draw", *names, *placement.words()]
    for option, value in (("--root", root), ("--depth", depth)):
        if value is not None:
            words += [option, str(value)]
    return ask([*words, "--format", form])


def save_picture(path: Path, picture: str) -> None:
    """Writes an SVG; never over a file that is something else."""
    if path.is_dir():
        raise UsageError(f"{path} is a directory; name a file, such as {path / 'schedule.svg'}")
    check_picture(path)
    try:
        write_whole(path, picture)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}; name a file where you can write") from error


def ask(words: Sequence[str], told: str = "") -> str:
    """What wherry-plan prints, given `told` to read; its message as an error if it refuses."""
    program = paths.built(paths.plan_program())
    done = subprocess.run([str(program), *words], input=told, capture_output=True, text=True)
    if done.returncode == 0:
        return done.stdout
    message = done.stderr.strip().removeprefix("wherry-plan: ") or f"wherry-plan ended with {done.returncode}"
    raise (UsageError if done.returncode == 2 else WherryError)(message)
