"""Runs the cases in turns: first each once with Wherry, which learns and is profiled, then rounds of all cases.

In a round every case is launched without and then with Wherry, so that both meet the same state of the machine. "With"
is what `wherry run` does: the preload, the profile, and the tuning file that the launches before left. The
statistic is that of `wherry bench`, the minimum over launches of the median of a launch.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wherry import paths
from wherry.demo.cases import CORES, HOSTS, RATE, Case, Ready, Skipped
from wherry.demo.programs import Measure, Outcome, Start
from wherry.errors import WherryError
from wherry.measure.harness import STATISTIC, Samples, Table
from wherry.netlab import Cluster
from wherry.provenance import commit, machine
from wherry.run.mpis import run_to_end

WITHOUT, WITH = "without", "with"
_LAUNCH_LIMIT_S = 90.0
_LAST_LINES = 8

Progress = Callable[[str, int, int], None]  # what, done, of how many


@dataclass(frozen=True)
class Plan:
    """How many rounds: one whole one, at most `most`, and no new one that would end after `budget_s`. On a machine that
    becomes slow meanwhile a later round ends early at `limit_s`."""

    most: int = 7
    budget_s: float = 95.0
    limit_s: float = 110.0


@dataclass
class Run:
    """What was found about one case."""

    ready: Ready
    folder: Path
    table: Table = field(default_factory=Table)  # case of a row: measure_name()
    measures: list[Measure] = field(default_factory=list)
    learning: dict[Measure, tuple[float, ...]] = field(default_factory=dict)
    reference: Any = None  # the first answer without Wherry
    pending: Any = None  # the answer of the launch that learned, until there is a reference
    compared: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def case(self) -> Case:
        return self.ready.case

    @property
    def profile(self) -> Path:
        return self.folder / "profile"

    def ratio(self, measure: Measure) -> float:
        """Time without / time with."""
        return self.best(measure, WITHOUT) / self.best(measure, WITH)

    def best(self, measure: Measure, variant: str) -> float:
        return self.table.best(measure_name(measure), variant)

    def launches(self, measure: Measure, variant: str) -> list[float]:
        """The median of each launch."""
        return [statistics.median(row.values) for row in self.table.of(measure_name(measure), variant)]


def measure_name(measure: Measure) -> str:
    return " ".join(word for word in measure if word)


def run_all(cases: Sequence[Ready], out: Path, plan: Plan, cluster: Cluster | None, progress: Progress) -> list[Run]:
    runs = [Run(ready, out / ready.case.name) for ready in cases]
    launcher = _Launcher(cluster)
    total = len(runs) * (1 + plan.most)
    begin = time.monotonic()
    for i, run in enumerate(runs):
        progress(f"learning: {run.case}", i, total)
        _learn(run, launcher)
    for number in range(plan.most):
        round_begin = time.monotonic()
        for i, run in enumerate(runs):
            if number > 0 and time.monotonic() > begin + plan.limit_s:
                break
            progress(f"round {number + 1}: {run.case}", len(runs) * (1 + number) + i, total)
            _turn(run, launcher, number)
        now = time.monotonic()
        if now + (now - round_begin) > begin + plan.budget_s:
            break
    progress("", 1, 1)
    return runs


class _Launcher:
    def __init__(self, cluster: Cluster | None) -> None:
        self._cluster = cluster

    def run(self, ready: Ready, start: Start, extra: dict[str, str]) -> Outcome:
        """Raises WherryError with the program's last words if it fails."""
        try:
            done = self._start(ready, start.args, {**start.env, **extra})
        except subprocess.TimeoutExpired as error:
            raise WherryError(f"it did not end within {_LAUNCH_LIMIT_S:.0f} s and was stopped") from error
        if done.returncode != 0:
            last = "\n".join((done.stderr + done.stdout).strip().splitlines()[-_LAST_LINES:])
            raise WherryError(f"it ended with code {done.returncode}:\n{last}")
        return ready.case.program.read(done.stdout)

    def _start(self, ready: Ready, args: Sequence[str], env: dict[str, str]) -> subprocess.CompletedProcess[str]:
        mpi, ranks = ready.mpi, ready.case.ranks
        if ready.case.cluster:
            assert self._cluster is not None
            return self._cluster.run(mpi, ranks, args, env, timeout_s=_LAUNCH_LIMIT_S)
        command = mpi.command(ranks, args, {**mpi.variables, **env})
        return run_to_end(command, {**_clean_environment(), **mpi.environment()}, _LAUNCH_LIMIT_S)


def _clean_environment() -> dict[str, str]:
    """Without the caller's settings for Wherry: neither side of the comparison may depend on them."""
    return {name: value for name, value in os.environ.items() if not name.startswith("WHERRY_")}


def _wherry(run: Run, records: Path) -> dict[str, str]:
    records.mkdir(parents=True, exist_ok=True)
    for old in records.glob("rank-*.wrec"):
        old.unlink()
    library = paths.built(paths.preload_library())
    return {
        "LD_PRELOAD": str(library),
        "WHERRY_OUTPUT": str(records),
        "WHERRY_TUNING_FILE": str(run.folder / "tuning"),
    }


def _learn(run: Run, launcher: _Launcher) -> None:
    run.folder.mkdir(parents=True, exist_ok=True)
    (run.folder / "tuning").unlink(missing_ok=True)
    try:
        outcome = launcher.run(run.ready, run.ready.learning, _wherry(run, run.profile))
    except WherryError as error:
        run.problems.append(f"with Wherry, while learning: {error}")
    else:
        run.learning, run.pending = dict(outcome.seconds), outcome.answer


def _turn(run: Run, launcher: _Launcher, number: int) -> None:
    """Once without and once with; a case that failed before rests."""
    for variant in (WITHOUT, WITH):
        if run.problems:
            return
        try:
            extra = _wherry(run, run.folder / "records") if variant == WITH else {}
            outcome = launcher.run(run.ready, run.ready.start, extra)
        except WherryError as error:
            run.problems.append(f"{variant} Wherry, in launch {number + 1}: {error}")
        else:
            _keep(run, variant, number, outcome)


def _keep(run: Run, variant: str, number: int, outcome: Outcome) -> None:
    if run.reference is None:
        run.reference = outcome.answer
        _compare(run, run.pending, "the first launch with Wherry")
    else:
        _compare(run, outcome.answer, f"launch {number + 1} {variant} Wherry")
    for measure, values in outcome.seconds.items():
        if measure not in run.measures:
            run.measures.append(measure)
        run.table.rows.append(Samples(measure_name(measure), variant, "s", number, values))


def _compare(run: Run, answer: Any, which: str) -> None:
    run.compared += 1
    differences = list(run.case.program.differences(run.reference, answer))
    run.problems += [f"another answer in {which}: {text}" for text in differences]


def records(runs: Sequence[Run], skipped: Sequence[Skipped]) -> list[dict[str, Any]]:
    """demo.json: a record per case and measure; one without a value for a case that was skipped or failed."""
    where, version = machine(), commit()
    rows = [_record(run, measure) for run in runs if not run.problems for measure in run.measures]
    rows += [_no_record(run.case, "failed", "; ".join(run.problems)) for run in runs if run.problems]
    rows += [_no_record(row.case, "skipped", row.reason) for row in skipped]
    return [{**row, "machine": where, "commit": version} for row in rows]


def _record(run: Run, measure: Measure) -> dict[str, Any]:
    return {
        **_head(run.case, measure_name(measure)),
        "value": run.best(measure, WITH),
        "baseline": run.best(measure, WITHOUT),
        "ratio": run.ratio(measure),
        "samples": run.table.samples(measure_name(measure), WITHOUT, WITH),
        "learning": list(run.learning.get(measure, ())),
        "statistic": STATISTIC,
        "answers": f"{run.compared} equal",
    }


def _no_record(case: Case, metric: str, reason: str) -> dict[str, Any]:
    return {**_head(case, metric), "value": None, "baseline": None, "ratio": None, "samples": [], "reason": reason}


def _head(case: Case, metric: str) -> dict[str, Any]:
    network = f"{HOSTS} emulated hosts, {RATE}" if case.cluster else "shared memory"
    if case.is_crowded:
        network += f", more ranks than cores ({CORES})"
    head = {"bench": "demo", "case": str(case), "metric": metric, "unit": "s"}
    return {**head, "mpi": case.mpi, "ranks": case.ranks, "network": network}
