"""Runs of the application on this machine, or on emulated hosts.

Plain MPI and Wherry take turns, step by step, in one run. Only the last third of the steps counts: Wherry learns in
those before. The statistic is that of the benchmarks: the minimum over launches of the median.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wherry import units
from wherry.measure.harness import STATISTIC, Setup, Testbed, best_median
from wherry.measure.record import Measurement
from wherry.study import applications
from wherry.study.parts import record

SIDES = {"native": "plain MPI", "wherry": "Wherry"}
#: Of `wherry study`: what parts that run here use.
OPTIONS = ("--mpi", "--launches")
METRICS = ("timestep", "computing", "exchanging")
#: What a Gigabit link carries.
WIRE_BYTES_PER_S = 125e6
#: What the model counts of an acceleration by a scheme.
COSTS = ("pairs", "sent_bytes", "sent_while_computing_bytes", "messages")
#: Nothing learned elsewhere leaks in; threads beyond the cores must not wait in a loop for each other.
_ENVIRONMENT = {"WHERRY_NO_TUNING": "1", "OMP_WAIT_POLICY": "passive"}


@dataclass(frozen=True)
class SchemeCase:
    bodies: int
    scheme: str
    ranks: int
    threads: int = 1
    deal: str = "fair"

    @property
    def label(self) -> str:
        threads = "" if self.threads == 1 else f" of {self.threads} threads"
        return f"{self.bodies} bodies, {self.scheme}, {units.plural(self.ranks, 'rank')}{threads}"

    @property
    def oversubscribed(self) -> bool:
        return self.ranks * self.threads > cores()

    def words(self, steps: int) -> list[str]:
        fixed = ["--bodies", str(self.bodies), "--scheme", self.scheme, "--steps", str(steps)]
        return [*fixed, "--threads", str(self.threads), "--deal", self.deal]


def cores() -> int:
    return len(os.sched_getaffinity(0))


def why_not(setup: Setup) -> str:
    return applications.why_without_highway(setup, "nbody")


def measure(setup: Setup, cases: Sequence[SchemeCase], steps: int) -> list[Measurement]:
    """All cases in turns, launch by launch."""
    mpi, launches = setup.installation(), setup.number_of_launches()
    found: dict[SchemeCase, list[list[Measurement]]] = {case: [] for case in cases}
    with Testbed(setup, mpi) as place:
        for launch in range(launches):
            for number, case in enumerate(cases):
                setup.progress(case.label, launch * len(cases) + number, launches * len(cases))
                found[case].append(applications.launched(place, case.ranks, "nbody", case.words(steps), _ENVIRONMENT))
        network = place.network
    return [row for case in cases for row in _records(case, found[case], mpi.name, network)]


def _records(case: SchemeCase, launches: Sequence[list[Measurement]], mpi: str, network: str) -> Iterable[Measurement]:
    for number, metric in enumerate(METRICS):
        rows = [launch[number] for launch in launches]
        samples = {side: [settled(row, side) for row in rows] for side in SIDES}
        medians = {side: best_median(samples[side]) for side in SIDES}
        for side, name in SIDES.items():
            yield record(
                case=f"{case.label}, {name}",
                metric=metric,
                unit="s",
                value=medians[side],
                baseline=medians["native"],
                mpi=mpi,
                ranks=case.ranks,
                network=network,
                samples=[{"launch": launch, side: steps} for launch, steps in enumerate(samples[side])],
                statistic=f"{STATISTIC}; last third of the steps",
                side=side,
                bodies=case.bodies,
                scheme=case.scheme,
                threads=case.threads,
                deal=case.deal,
                oversubscribed=case.oversubscribed,
                **{name: rows[0][name] for name in COSTS if name in rows[0]},
            )


def settled(row: Measurement, side: str) -> list[float]:
    """The last third of a side's steps."""
    samples: list[float] = row["samples"][0][side]
    return samples[-max(1, len(samples) // 3) :]
