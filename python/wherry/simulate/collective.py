"""A collective on a simulated machine: the simulator's own, each strategy, and what the cost model expected of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wherry import units
from wherry.errors import UsageError, unknown
from wherry.measure.harness import Progress
from wherry.measure.record import Measurement
from wherry.provenance import commit, machine
from wherry.schedule import plan
from wherry.simulate import catalog, smpi
from wherry.simulate.catalog import Collective
from wherry.simulate.ranking import Evaluation, evaluate
from wherry.simulate.smpi import PROGRAM, Machine, SimulationFailed, TimeLimit

NATIVE = "native"
#: The whole of Wherry, which learns what to run; "wherry:mesh" is the whole of it, told what to run.
WHERRY = "wherry"
_NATIVES = (NATIVE, f"{NATIVE}:mpich")
#: Strategies that send more messages in all are left out unless they are asked for by name.
MOST_MESSAGES = 200_000
LIMIT_S = 120.0
COUNTS = ("messages", "messages_between", "bytes", "bytes_between", "copied_bytes")


@dataclass
class Request:
    """What the user chose. strategies None: the natives and all that apply and do not take long."""

    collective: Collective
    machine: Machine
    sizes: Sequence[int]
    strategies: Sequence[str] | None = None
    limit_s: float = LIMIT_S  # of this machine's computing, for each case
    progress: Progress = lambda what, done, total: None


@dataclass(frozen=True)
class Outcome:
    """One variant at one size. counts: what the ranks did, in the terms of model::Cost; natives are not looked into."""

    size: int
    variant: str
    seconds: float | None = None
    predicted_s: float | None = None
    counts: dict[str, int] = field(default_factory=dict)
    depth: int = 1  # segments of a pipeline
    chosen: str = ""  # by the whole of Wherry
    note: str = ""  # why there is no time


@dataclass
class Outcomes:
    """All outcomes of a request."""

    collective: Collective
    machine: Machine
    outcomes: list[Outcome] = field(default_factory=list)
    library: str = "SMPI"

    def of(self, size: int) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.size == size]

    def sizes(self) -> list[int]:
        return list(dict.fromkeys(outcome.size for outcome in self.outcomes))

    def native_s(self, size: int) -> float | None:
        """The fastest; none if one of them has no time: Wherry must not look good beside a weak one."""
        natives = [o.seconds for o in self.of(size) if o.variant.startswith(NATIVE)]
        times = [seconds for seconds in natives if seconds is not None]
        return min(times) if times and len(times) == len(natives) else None

    def evaluation(self, size: int) -> Evaluation | None:
        ran = [o for o in self.of(size) if o.seconds is not None and o.predicted_s is not None]
        simulated = {o.variant: o.seconds for o in ran if o.seconds is not None}
        return evaluate(simulated, {o.variant: o.predicted_s for o in ran if o.predicted_s is not None})


@dataclass(frozen=True)
class Cases:
    """What a request comes to."""

    variants: list[str]
    models: dict[int, dict[str, Any]]  # by size


def cases(request: Request) -> Cases:
    """Raises UsageError for a strategy that there is not, or that does not apply."""
    models = {size: model(request.collective, request.machine, size) for size in request.sizes}
    return Cases(_variants(request, models[request.sizes[0]]), models)


def run(request: Request, checked: Cases | None = None) -> Outcomes:
    """Simulates every variant at every size, one after the other. checked: what `cases` has found before."""
    found = checked or cases(request)
    setting = Outcomes(request.collective, request.machine)
    total = len(found.variants) * len(request.sizes)
    for size in request.sizes:
        for variant in found.variants:
            request.progress(f"{size} B, {variant}", len(setting.outcomes), total)
            setting.outcomes.append(_outcome(request, setting, size, variant, found.models[size]))
    return setting


def model(collective: Collective, machine: Machine, size: int) -> dict[str, Any]:
    """The candidates with what the cost model expects of them, and what does not apply and why."""
    constants = ("--constants", machine.constants())
    return plan.explain(collective.name, plan.Placement(machine.ranks, nodes=machine.nodes), size, constants=constants)


def _variants(request: Request, model: dict[str, Any]) -> list[str]:
    possible = [str(candidate["name"]) for candidate in model["candidates"]]
    if request.strategies is None:
        return [*_NATIVES, *possible]
    natives = [NATIVE, *(f"{NATIVE}:{name}" for name in request.collective.natives)]
    whole = [WHERRY, *(f"{WHERRY}:{name}" for name in (NATIVE, *possible))]
    refused = {str(row["name"]): str(row["why"]) for row in model["not_applicable"]}
    for name in request.strategies:
        if name in refused:
            where = f"{units.plural(request.machine.ranks, 'rank')} on {units.plural(request.machine.nodes, 'node')}"
            raise UsageError(f"strategy '{name}' does not apply to {where}: {refused[name]}")
        if name not in (*natives, *possible, *whole):
            raise unknown("strategy", name, [*possible, *natives, *whole])
    return list(dict.fromkeys(request.strategies))


def _outcome(request: Request, setting: Outcomes, size: int, variant: str, model: dict[str, Any]) -> Outcome:
    candidate = next((row for row in model["candidates"] if row["name"] == variant), None)
    predicted = None if candidate is None else float(candidate["seconds"])
    if note := why_not(request, size, candidate):
        return Outcome(size, variant, predicted_s=predicted, note=note)
    try:
        answer = _simulate(request, size, variant)
    except TimeLimit as limit:
        return Outcome(size, variant, predicted_s=predicted, note=f"{limit}; --limit allows more")
    except SimulationFailed as failure:
        # SMPI's own algorithms have limits of their own, such as ranks or bytes that they cannot divide.
        if not variant.startswith(NATIVE):
            raise
        return Outcome(size, variant, note=str(failure))
    setting.library = str(answer["library"])
    return Outcome(
        size,
        variant,
        seconds=float(answer["seconds"]),
        predicted_s=predicted,
        counts={} if candidate is None else {name: answer[name] for name in COUNTS},
        depth=int(answer["depth"]),
        chosen=str(answer["chosen"]),
    )


def why_not(request: Request, size: int, candidate: dict[str, Any] | None) -> str:
    """A reason to leave a case out, or nothing."""
    ranks = request.machine.ranks
    blocks = ranks if request.collective.in_blocks else 1
    needed = 4 * ranks * blocks * size  # both buffers, staging, and what is under way
    if needed > (free := _free_bytes()):
        return f"skipped: needs about {units.bytes_(needed)} of memory; {units.bytes_(free)} are free"
    messages = 0 if candidate is None else int(candidate["messages"]) * ranks
    if request.strategies is None and messages > MOST_MESSAGES:
        return f"skipped: {units.count(messages)} messages take long to simulate; --strategies runs what it names"
    return ""


def _free_bytes() -> int:
    for line in Path("/proc/meminfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 1 << 40  # unknown: let the simulation try


def _simulate(request: Request, size: int, variant: str) -> dict[str, Any]:
    kind, _, algorithm = variant.partition(":")
    args = ["--collective", request.collective.name, "--size", str(size), "--nodes", str(request.machine.nodes)]
    args += ["--strategy", NATIVE if kind == NATIVE else variant]
    args += ["--copy-rate", f"{request.machine.platform.copy_bytes_per_s:g}"]
    args += ["--constants", request.machine.constants()]
    selection = algorithm if kind == NATIVE and algorithm else catalog.NATIVE_SELECTION
    return smpi.run(request.machine, PROGRAM, args, {request.collective.option: selection}, request.limit_s)


def records(setting: Outcomes) -> list[Measurement]:
    """For --json: the fields of a benchmark record, the model's prediction and the counts."""
    where, version = machine(), commit()
    rows = [_record(setting, outcome) for outcome in setting.outcomes if outcome.seconds is not None]
    rows += [row for size in setting.sizes() for row in _evaluation_records(setting, size)]
    return [row | {"machine": where, "commit": version} for row in rows]


def _record(setting: Outcomes, outcome: Outcome) -> Measurement:
    seconds, native = outcome.seconds or 0.0, setting.native_s(outcome.size)
    result = _result(setting, f"{outcome.size} B, {outcome.variant}", "simulated time", "s", seconds)
    result.baseline = native
    result.ratio = native / seconds if native is not None and seconds > 0 else None
    result.samples = [{"launch": 0, outcome.variant: [seconds]}]
    more = {"size": outcome.size, "variant": outcome.variant, "predicted_s": outcome.predicted_s}
    more |= {"depth": outcome.depth, "chosen": outcome.chosen}
    return result | more | outcome.counts


def _evaluation_records(setting: Outcomes, size: int) -> list[Measurement]:
    evaluated = setting.evaluation(size)
    if evaluated is None:
        return []
    loss = _result(
        setting,
        f"{size} B, {evaluated.first} against {evaluated.best}",
        "loss of the model's choice",
        "x",
        evaluated.loss,
    )
    rows = [loss | {"size": size}]
    if evaluated.correlation is not None:
        metric = "rank correlation of model and simulation"
        rows.append(_result(setting, f"{size} B", metric, "", evaluated.correlation) | {"size": size})
    return rows


def _result(setting: Outcomes, case: str, metric: str, unit: str, value: float) -> Measurement:
    platform = setting.machine.platform
    return Measurement(
        bench=f"simulate {setting.collective.name}",
        case=case,
        metric=metric,
        unit=unit,
        value=value,
        baseline=None,
        ratio=None,
        mpi=setting.library,
        ranks=setting.machine.ranks,
        samples=[],
        statistic="one simulated call; exact",
        network=f"{platform.name}: {platform.summary}; {units.plural(setting.machine.nodes, 'node')}",
    )
