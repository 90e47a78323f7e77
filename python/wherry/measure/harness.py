"""What all benchmarks share: set-up, interleaved launches, samples, and the records of the results.

A time is the minimum over launches of the median of a launch. Launches are on shared machines: one in three may be many
times slower as a whole, which a mean or a pooled median would take in; the median inside a launch drops single
disturbed calls, the minimum drops disturbed launches. A ratio of two that take turns in one process is the median over
launches of the ratio of their medians: whatever a launch is like, it is so for both, whereas the two minima may come
from launches of different kinds.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from wherry import paths
from wherry.errors import UsageError, WherryError
from wherry.netlab import Cluster, NetlabError, why_unavailable
from wherry.run.mpis import Mpi, choose_mpi, run_to_end
from wherry.schedule import plan
from wherry.units import plural

STATISTIC = "minimum over launches of the median"
#: Of variants that take turns in one process.
IN_TURNS = "time: minimum, ratio: median over launches of the median"
_LAUNCH_LIMIT_S = 300.0

#: Options of `wherry bench` that every benchmark of MPI programs uses; each adds its own.
LAUNCHING = ("--mpi", "-n", "--netlab", "--hosts", "--launches", "--plot")

Progress = Callable[[str, int, int], None]  # what, done, of how many


@dataclass
class Setup:
    """What the user chose. None: the benchmark's own default."""

    mpi: Mpi | None = None
    ranks: int | None = None
    netlab: bool = False
    hosts: int = 4
    quick: bool = False
    launches: int | None = None
    sizes: tuple[int, ...] | None = None
    strategies: tuple[str, ...] | None = None
    operations: tuple[str, ...] | None = None
    progress: Progress = lambda what, done, total: None

    def installation(self) -> Mpi:
        return self.mpi or choose_mpi(None)

    def number_of_launches(self) -> int:
        return self.launches or (2 if self.quick else 5)

    def check_strategies(self, ranks: int, besides: Sequence[str]) -> None:
        """See check_applicable(): of those that the user named."""
        if self.strategies:
            check_applicable(self.strategies, self.placement(ranks), besides)

    def placement(self, ranks: int) -> plan.Placement:
        """Where so many ranks will run, as Wherry will see it."""
        if self.netlab:
            return plan.Placement(ranks, nodes=min(self.hosts, ranks))
        per_node = os.environ.get("WHERRY_RANKS_PER_NODE", "")
        if per_node.isdigit() and int(per_node) > 0:
            return plan.Placement(ranks, node_of=",".join(str(rank // int(per_node)) for rank in range(ranks)))
        return plan.Placement(ranks, nodes=1)


def check_hosts(given: Collection[str]) -> None:
    """Raises UsageError for a number of emulated hosts without them. given: the options on the command line."""
    if "--hosts" in given and "--netlab" not in given:
        raise UsageError("--hosts is a number of emulated hosts; give --netlab too")


def check_applicable(names: Iterable[str], placement: plan.Placement, besides: Sequence[str]) -> None:
    """Raises UsageError for a strategy of all-to-alls that would not run there: the native collective would, unnoticed.

    besides: names that run anywhere.
    """
    answer = plan.explain("alltoall", placement, 1)
    possible = {*besides, *(row["name"] for row in answer["candidates"])}
    reasons = {row["name"]: row["why"] for row in answer["not_applicable"]}
    for name in names:
        if name not in possible:
            where = f"{plural(placement.ranks, 'rank')} on {plural(answer['nodes'], 'node')}"
            why = reasons.get(name, "it is for other collectives")
            raise UsageError(f"strategy '{name}' does not apply to {where}: {why}; leave it out or change -n")


@dataclass(frozen=True)
class Samples:
    """What one variant measured in one launch."""

    case: str
    variant: str
    unit: str
    launch: int
    values: tuple[float, ...]
    excluded: str = ""  # why nothing was measured


class Testbed(AbstractContextManager["Testbed"]):
    """Where programs run: this machine, or the emulated cluster."""

    def __init__(self, setup: Setup, mpi: Mpi) -> None:
        self.mpi = mpi
        self.cluster: Cluster | None = None
        if setup.netlab:
            if reason := why_unavailable():
                raise UsageError(f"--netlab: {reason}")
            self.cluster = Cluster(setup.hosts)

    def __enter__(self) -> Testbed:
        if self.cluster is not None:
            self.cluster.up()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.cluster is not None:
            self.cluster.down()

    @property
    def network(self) -> str:
        return f"{self.cluster.hosts} emulated hosts, {self.cluster.rate}" if self.cluster else "shared memory"

    def run(self, ranks: int, args: Sequence[str], env: Mapping[str, str]) -> str:
        """What the program prints. Raises WherryError with its last words if it fails."""
        try:
            done = self._start(ranks, args, env)
        except subprocess.TimeoutExpired as error:
            raise WherryError(f"{args[0]} did not end within {_LAUNCH_LIMIT_S:.0f} s and was stopped") from error
        except NetlabError as error:
            raise WherryError(str(error)) from error
        if done.returncode != 0:
            last = "\n".join((done.stderr or done.stdout).strip().splitlines()[-8:])
            raise WherryError(f"{args[0]} failed with code {done.returncode}:\n{last}")
        return done.stdout

    def _start(self, ranks: int, args: Sequence[str], env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        if self.cluster is not None:
            return self.cluster.run(self.mpi, ranks, args, env, timeout_s=_LAUNCH_LIMIT_S)
        command = self.mpi.command(ranks, args, {**self.mpi.variables, **env})
        return run_to_end(command, {**os.environ, **self.mpi.environment()}, _LAUNCH_LIMIT_S)


def reason_of(error: WherryError) -> str:
    """Of a failed launch the line that names an error, else the last one; launchers print many more."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in lines[1:] if "rror" in line or "wrong" in line), lines[-1])


def program(mpi: Mpi, name: str) -> str:
    path = paths.bench_program(mpi.name, name)
    if mpi.abi == "abi" and not path.exists() and paths.bench_program("mpich", name).exists():
        raise WherryError(f"bench_{name} is not built for the standard ABI of MPICH; run it with --mpi mpich")
    return str(paths.built(path))


#: What the benchmark programs measure by: native, lest Wherry learn about it while they measure.
_MEASURED_BY = {"WHERRY_BARRIER": "native", "WHERRY_ALLREDUCE": "native"}


def preload(**settings: str) -> dict[str, str]:
    """The environment of a rank under Wherry; nothing learned elsewhere leaks in."""
    library = str(paths.preload())
    return {"LD_PRELOAD": library, "WHERRY_NO_TUNING": "1", **_MEASURED_BY, **settings}


def _samples(row: dict[str, Any], launch: int) -> Samples:
    case, variant, excluded = str(row["case"]), str(row["variant"]), str(row.get("excluded", ""))
    if excluded:
        return Samples(case, variant, "", launch, (), excluded)
    return Samples(case, variant, str(row["unit"]), launch, tuple(float(value) for value in row["samples"]))


def parse(output: str, launch: int) -> list[Samples]:
    """The JSON lines that a benchmark program printed; other lines are not ours."""
    found = []
    for line in output.splitlines():
        if not line.startswith("{"):
            continue
        try:
            found.append(_samples(json.loads(line), launch))
        except (ValueError, KeyError, TypeError) as error:
            raise WherryError(f"a benchmark program printed a damaged line: {line[:100]}") from error
    if not found:
        raise WherryError("the benchmark program printed no samples")
    return found


@dataclass
class BenchTable:
    """Samples by case and variant, in the order they came."""

    rows: list[Samples] = field(default_factory=list)

    def cases(self) -> list[str]:
        return list(dict.fromkeys(row.case for row in self.rows))

    def variants(self, case: str) -> list[str]:
        return list(dict.fromkeys(row.variant for row in self.rows if row.case == case))

    def of(self, case: str, variant: str) -> list[Samples]:
        return [row for row in self.rows if row.case == case and row.variant == variant]

    def medians(self, case: str, variant: str) -> dict[int, float]:
        """Of each launch."""
        return {row.launch: statistics.median(row.values) for row in self.of(case, variant)}

    def best(self, case: str, variant: str) -> float:
        """The statistic: see the head of this file."""
        return best_median([row.values for row in self.of(case, variant)])

    def ratios(self, case: str, over: str, under: str) -> dict[int, float]:
        """Of two that take turns: in each launch the ratio of their medians."""
        above, below = self.medians(case, over), self.medians(case, under)
        return {launch: above[launch] / below[launch] for launch in below if launch in above}

    def ratio(self, case: str, over: str, under: str) -> float:
        """Of two that take turns: the median over launches of the ratio of their medians."""
        return statistics.median(self.ratios(case, over, under).values())

    def samples(self, case: str, *variants: str) -> list[dict[str, Any]]:
        """Raw samples for the result file: one entry per launch."""
        launches = sorted({row.launch for row in self.rows if row.case == case})
        return [
            {"launch": n}
            | {row.variant: list(row.values) for v in variants for row in self.of(case, v) if row.launch == n}
            for n in launches
        ]


def best_median(launches: Iterable[Sequence[float]]) -> float:
    """Minimum over launches of the median. Raises WherryError without samples."""
    medians = [statistics.median(values) for values in launches if values]
    if not medians:
        raise WherryError("no samples to compute a result from")
    return min(medians)
