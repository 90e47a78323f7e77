"""An application of apps/ on a simulated machine: plain MPI and Wherry in turns, by the simulated clock."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wherry import paths, units
from wherry.bench.frame import commit, machine
from wherry.errors import UsageError, WherryError
from wherry.simulate import platforms, smpi, subjects

#: What can be asked of each besides the common options.
_OPTIONS = {"radix_sort": ("--sizes",), "pme": ()}
NAMES = tuple(_OPTIONS)

_WRONG_USAGE = 2  # the applications' exit code
#: Enough for Wherry to have learned: each is several exchanges. Times do not vary, so few turns say all.
_TURNS = ("--train", "16", "--turns", "2", "--no-progress")


@dataclass(frozen=True)
class Request:
    name: str
    machine: smpi.Machine
    words: tuple[str, ...]
    limit_s: float


@dataclass(frozen=True)
class Outcome:
    """What the application printed, and its records."""

    text: str
    records: list[dict[str, Any]]


def request(
    name: str, platform: str, ranks: int, per_node: int | None, sizes: Sequence[int] | None, limit_s: float
) -> Request:
    """A request with its names looked up. Raises if one is unknown, or if nothing can be simulated here."""
    if sizes and "--sizes" not in _OPTIONS[name]:
        raise UsageError(f"the sizes of {name} follow from its grid and the number of ranks; leave out --sizes")
    found = platforms.find(platform)
    if why := why_missing(name):
        raise WherryError(f"cannot simulate: {why}")
    words = ("--sizes", ",".join(map(str, sizes))) if sizes else ()
    return Request(name, smpi.Machine(found, ranks, min(per_node or found.ranks_per_node, ranks)), words, limit_s)


def why_missing(name: str) -> str:
    if why := smpi.why_missing():
        return why
    if not paths.simulation_program(name).exists():
        return f"{name} is not built for it; as root: apt-get install libfftw3-dev, then: make build"
    return ""


def run(asked: Request) -> Outcome:
    """Raises TimeLimit, or Failed if a result is wrong."""
    with tempfile.TemporaryDirectory(prefix="wherry-") as folder:
        file = Path(folder, "records.json")
        words = [*asked.words, *_TURNS, "--json", str(file)]
        done = smpi.launch(asked.machine, asked.name, words, _natives(), asked.limit_s)
        if done.returncode == _WRONG_USAGE:
            raise UsageError(done.stderr.strip().splitlines()[0])
        if done.returncode != 0 or not file.exists():
            raise smpi.failure(done)
        return Outcome(done.stdout, [_record(asked, row) for row in json.loads(file.read_text(encoding="utf-8"))])


def _natives() -> dict[str, str]:
    return {f"smpi/{collective}": subjects.NATIVE_SELECTION for collective in ("alltoall", "alltoallv")}


def _record(asked: Request, row: dict[str, Any]) -> dict[str, Any]:
    platform = asked.machine.platform
    nodes = units.plural(asked.machine.nodes, "node")
    where = {"machine": machine(), "commit": commit(), "network": f"{platform.name}: {platform.summary}; {nodes}"}
    return row | where | {"bench": f"simulate {asked.name}"}
