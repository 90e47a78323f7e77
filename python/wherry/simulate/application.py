"""An application of apps/ on a simulated machine: plain MPI and Wherry in turns, by the simulated clock."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wherry import paths, units
from wherry.errors import UsageError, WherryError
from wherry.measure.record import Measurement
from wherry.provenance import commit, machine
from wherry.simulate import catalog, platforms, smpi

_WRONG_USAGE = 2  # the applications' exit code
#: Options of the applications that are asked for by another name here, as they stand in messages.
_ASKED_AS = {"--scale: ": "--sizes: ", "--bodies: ": "--sizes: ", "--scheme: ": "--strategies: "}
#: Enough for Wherry to have learned, and to have re-evaluated for the first time: each is several exchanges. Times do
#: not vary, so few turns say all.
_TURNS = ("--train", "24", "--turns", "2")
_STEPS = ("--steps", "64")
#: Whether a plain get takes less time would be measured by this machine's clock, not the simulated one.
_READING = ("--turns", "1", "--no-bypass")
#: Of bodies: with more it would take long to compute what the simulation only has to charge for.
_MOST_COMPUTED = 16384
_BODIES = (4096,)

Words = tuple[str, ...]
Numbers = Sequence[int] | None
Names = Sequence[str] | None


def _radix_sort(sizes: Numbers, schemes: Names) -> list[Words]:
    _refuse_schemes("radix_sort", schemes)
    return [(*_TURNS, *(("--sizes", ",".join(map(str, sizes))) if sizes else ()))]


def _pme(sizes: Numbers, schemes: Names) -> list[Words]:
    _refuse_schemes("pme", schemes)
    if sizes:
        raise UsageError("the sizes of pme follow from its grid and the number of ranks; leave out --sizes")
    return [_TURNS]


def _nbody(sizes: Numbers, schemes: Names) -> list[Words]:
    return [
        ("--bodies", str(bodies), "--scheme", scheme, *_STEPS, *(("--pretend",) if bodies > _MOST_COMPUTED else ()))
        for bodies in sizes or _BODIES
        for scheme in schemes or ("auto",)
    ]


def _lcc(sizes: Numbers, schemes: Names) -> list[Words]:
    _refuse_schemes("lcc", schemes)
    return [(*_one_size("lcc", "--scale", sizes), *_READING)]


def _barnes_hut(sizes: Numbers, schemes: Names) -> list[Words]:
    _refuse_schemes("barnes_hut", schemes)
    return [(*_one_size("barnes_hut", "--bodies", sizes), "--steps", "0", *_READING)]


def _one_size(name: str, option: str, sizes: Numbers) -> Words:
    if sizes and len(sizes) > 1:
        raise UsageError(f"{name} takes one size, its {option.removeprefix('--')}; simulate it once for each")
    return (option, str(sizes[0])) if sizes else ()


def _refuse_schemes(name: str, schemes: Names) -> None:
    if schemes:
        raise UsageError(f"{name} compares plain MPI with Wherry, in a table; leave out --strategies")


@dataclass(frozen=True)
class Application:
    """runs: the options of each run that --sizes and --strategies ask for. settings: SMPI's."""

    name: str
    needs: str  # Debian's package
    runs: Callable[[Numbers, Names], list[Words]]
    settings: dict[str, str]


def _natives(*selectors: str) -> dict[str, str]:
    return {f"smpi/{selector}": catalog.NATIVE_SELECTION for selector in selectors}


_ALL_TO_ALL = _natives("alltoall", "alltoallv")
_OF_NBODY = _natives("allreduce", "allgather", "bcast", "reduce_scatter")
#: MPI_Iprobe takes no simulated time: these programs do not poll.
_FREE_LOOKS = {"smpi/iprobe": "0"}
#: With acknowledgements, some percent of the bytes, every message under way has to do with every other, and simulating
#: a million gets of a hundred ranks takes hours.
_NO_ACKNOWLEDGEMENTS = {"network/crosstraffic": "no"}
#: To ask whether a message has come takes a microsecond, however often it was asked in vain.
_LOOKING = {"smpi/test": "1e-6", "smpi/iprobe": "1e-6", "smpi/grow-injected-times": "no"}
APPLICATIONS = (
    Application("radix_sort", "libsimgrid-dev", _radix_sort, _ALL_TO_ALL | _FREE_LOOKS),
    Application("pme", "libfftw3-dev", _pme, _ALL_TO_ALL | _FREE_LOOKS),
    Application("lcc", "libsimgrid-dev", _lcc, _ALL_TO_ALL | _FREE_LOOKS | _NO_ACKNOWLEDGEMENTS),
    Application("barnes_hut", "libhwy-dev", _barnes_hut, _ALL_TO_ALL | _FREE_LOOKS | _NO_ACKNOWLEDGEMENTS),
    Application("nbody", "libhwy-dev", _nbody, _OF_NBODY | _LOOKING),
)
NAMES = tuple(application.name for application in APPLICATIONS)


@dataclass(frozen=True)
class ApplicationRequest:
    name: str
    machine: smpi.Machine
    runs: tuple[Words, ...]
    limit_s: float


@dataclass(frozen=True)
class ApplicationOutcome:
    """What the application printed, and its records."""

    text: str
    records: list[Measurement]


def request(
    name: str,
    platform: str,
    ranks: int,
    per_node: int | None,
    sizes: Numbers,
    limit_s: float,
    schemes: Names = None,
    more: Words = (),
) -> ApplicationRequest:
    """A request with its names looked up. Raises if one is unknown, or if nothing can be simulated here.

    more: words for the application in every run.
    """
    runs = [(*words, *more) for words in _find(name).runs(sizes, schemes)]
    found = platforms.find(platform)
    if why := why_missing(name):
        raise WherryError(f"cannot simulate: {why}")
    machine = smpi.Machine(found, ranks, min(per_node or found.ranks_per_node, ranks))
    return ApplicationRequest(name, machine, tuple(runs), limit_s)


def _find(name: str) -> Application:
    return next(application for application in APPLICATIONS if application.name == name)


def why_missing(name: str) -> str:
    if why := smpi.why_missing():
        return why
    if not paths.simulation_program(name).exists():
        return f"{name} is not built for it; as root: apt-get install {_find(name).needs}, then: make all"
    return ""


def run(asked: ApplicationRequest) -> ApplicationOutcome:
    """Raises TimeLimit, or Failed if a result is wrong."""
    done = [_run(asked, words) for words in asked.runs]
    return ApplicationOutcome("\n".join(one.text for one in done), [row for one in done for row in one.records])


def _run(asked: ApplicationRequest, words: Words) -> ApplicationOutcome:
    with tempfile.TemporaryDirectory(prefix="wherry-") as folder:
        file = Path(folder, "records.json")
        options = [*words, "--no-progress", "--json", str(file)]
        try:
            done = smpi.launch(asked.machine, asked.name, options, _find(asked.name).settings, asked.limit_s)
        except smpi.TimeLimit as limit:
            raise smpi.TimeLimit(f"{_case(asked, words)}: {limit}") from limit
        if done.returncode == _WRONG_USAGE:
            raise UsageError(_in_our_words(done.stderr.strip().splitlines()[0]))
        if done.returncode != 0 or not file.exists():
            raise smpi.failure(done)
        return ApplicationOutcome(
            done.stdout, [_record(asked, row) for row in json.loads(file.read_text(encoding="utf-8"))]
        )


def _case(asked: ApplicationRequest, words: Words) -> str:
    ranks, platform = units.plural(asked.machine.ranks, "rank"), asked.machine.platform.name
    return f"{' '.join((asked.name, *words))} on {ranks} of {platform}"


def _in_our_words(message: str) -> str:
    for theirs, ours in _ASKED_AS.items():
        message = message.replace(theirs, ours, 1)
    return message


def _record(asked: ApplicationRequest, row: dict[str, Any]) -> Measurement:
    platform = asked.machine.platform
    nodes = units.plural(asked.machine.nodes, "node")
    where = {"machine": machine(), "commit": commit(), "network": f"{platform.name}: {platform.summary}; {nodes}"}
    return Measurement.from_json(row) | where | {"bench": f"simulate {asked.name}"}
