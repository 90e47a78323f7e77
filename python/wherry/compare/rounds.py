"""All variants of a program in rounds: in each round every variant once, in random order.

Before them, uncounted, every variant runs once: it fills caches, and what Wherry learns of the program is kept for the
runs that count, as it is between a user's own runs.
"""

from __future__ import annotations

import math
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from wherry.analysis import Analysis, analyse, record
from wherry.compare.launching import Reading, RunFailed, Sample, Started, Variant, run_once
from wherry.compare.levers import Lever, levers
from wherry.compare.ratios import Ratio, geometric_mean, paired_ratio, rounds_to_settle, shared_level
from wherry.errors import UsageError
from wherry.files import record_files

NATIVE, EVERYTHING = "native", "Wherry"
WALL, PROGRAM = "wall_s", "program"
_WARM_UP, _LEAST_ROUNDS = -1, 3

Progress = Callable[[str, int, int], None]  # what, done, of how many
Run = Callable[[Variant, int], Sample]


@dataclass(frozen=True)
class Experiment:
    """limit_s: of one run. budget_s: of all runs; after three rounds none is begun that would end later."""

    rounds: int = 10
    seed: int = 0
    why: bool = False
    reading: Reading = field(default_factory=Reading)
    tolerance: float = 0.0  # relative, of numbers in answers
    limit_s: float = math.inf
    budget_s: float = math.inf


@dataclass
class Comparison:
    """What was measured. samples: of counted rounds only. analysis: of the last run with everything."""

    experiment: Experiment
    variants: list[str]
    samples: list[Sample]
    answers: int = 0  # runs whose answer was compared and equal
    left_out: Sequence[Lever] = ()
    mpi: str = ""
    ranks: int = 0
    reached: bool = True  # whether Wherry recorded anything
    analysis: Analysis | None = None

    @property
    def measure(self) -> str:
        """What is compared: the program's own time if it prints one."""
        return PROGRAM if self.experiment.reading.time else WALL

    def values(self, variant: str, key: str) -> list[float]:
        ours = (sample for sample in self.samples if sample.variant == variant)
        return [sample.value(key) for sample in sorted(ours, key=lambda sample: sample.round)]

    def mean(self, variant: str, key: str) -> float:
        """The geometric mean: the quotient of two of them is the mean ratio."""
        return geometric_mean(self.values(variant, key))

    def ratio(self, key: str, variant: str = EVERYTHING, baseline: str = NATIVE) -> Ratio | None:
        """baseline / variant; None where one of the numbers is 0."""
        pair = self.values(baseline, key), self.values(variant, key)
        return paired_ratio(*pair) if min(map(min, pair)) > 0 else None

    def needed(self) -> int | None:
        """How many rounds would settle the ratio that is compared."""
        return rounds_to_settle(self.values(NATIVE, self.measure), self.values(EVERYTHING, self.measure))

    def worth(self, lever: Lever) -> Ratio:
        """Time without the lever / time with everything: above 1 it wins. All levers hold with 95% together."""
        left_out, everything = (self.values(variant, self.measure) for variant in (without(lever), EVERYTHING))
        return paired_ratio(left_out, everything, shared_level(len(self.left_out)))


def without(lever: Lever) -> str:
    return f"without {lever.name}"


def order(variants: Sequence[Variant], rounds: int, seed: int) -> list[tuple[int, Variant]]:
    """(round, variant): every round has all variants, shuffled."""
    shuffled = random.Random(seed)
    return [(n, variant) for n in range(rounds) for variant in shuffled.sample(list(variants), len(variants))]


def compare(started: Started, given: Mapping[str, str], experiment: Experiment, progress: Progress) -> Comparison:
    """Runs everything. given: the caller's settings for Wherry. Raises Failed at the first run that cannot be used."""
    with tempfile.TemporaryDirectory(prefix="wherry-compare-") as folder:
        return _Session(started, given, experiment, progress, Path(folder)).run()


def differ(one: Any, other: Any, tolerance: float) -> bool:
    """Whether two answers do: text, numbers within a relative tolerance, or sequences of these."""
    if isinstance(one, str):
        return one != other and not _near(one, other, tolerance)
    return len(one) != len(other) or any(differ(a, b, tolerance) for a, b in zip(one, other, strict=True))


def _near(one: str, other: str, tolerance: float) -> bool:
    try:
        return math.isclose(float(one), float(other), rel_tol=tolerance)
    except ValueError:
        return False


class _Session:
    def __init__(
        self, started: Started, given: Mapping[str, str], experiment: Experiment, progress: Progress, folder: Path
    ) -> None:
        self._started, self._given, self._experiment, self._progress, self._folder = (
            started,
            given,
            experiment,
            progress,
            folder,
        )
        self._done, self._total, self._equal = 0, 0, 0
        self._begin = time.monotonic()
        self._reference: list[Any] | None = None

    def run(self) -> Comparison:
        variants = [Variant(NATIVE, None), self._variant(EVERYTHING, {})]
        self._total = 2 + self._experiment.rounds * 2
        for variant in variants:
            self._once(variant, _WARM_UP)
        records = record.read_all(self._records(EVERYTHING)).ranks
        left_out = levers(self._given, _called(records), _functions(records, "uses")) if self._experiment.why else []
        more = [self._variant(without(lever), lever.off) for lever in left_out]
        self._total = (2 + len(more)) * (1 + self._experiment.rounds)
        for variant in more:
            self._once(variant, _WARM_UP)
        samples = list(self._rounds([*variants, *more]))
        names = [variant.name for variant in (*variants, *more)]
        experiment = replace(self._experiment, rounds=samples[-1].round + 1)
        result = Comparison(experiment, names, samples, self._equal, left_out, reached=bool(records))
        if records:
            result.analysis = analyse(record.read_all(self._records(EVERYTHING)))
            result.mpi, result.ranks = _short(records[0].mpi_version), records[0].size
        return result

    def _rounds(self, variants: Sequence[Variant]) -> Iterator[Sample]:
        """As many as planned, or as fit into the budget."""
        began = time.monotonic()
        turns = order(variants, self._experiment.rounds, self._experiment.seed)
        for number, same_round in groupby(turns, key=itemgetter(0)):
            now = time.monotonic()
            if number >= _LEAST_ROUNDS and now + (now - began) / number > self._begin + self._experiment.budget_s:
                return
            for _, variant in same_round:
                yield self._once(variant, number)

    def _variant(self, name: str, off: Mapping[str, str]) -> Variant:
        """As `wherry run`, with a record; what is learned stays apart from what other variants learn, and from the
        caller's tuning file, of which each variant has a copy.
        """
        home = self._records(name)
        home.mkdir(parents=True)
        tuning, callers = home / "tuning", Path(self._given.get("WHERRY_TUNING_FILE", ""))
        if callers.is_file():
            try:
                shutil.copyfile(callers, tuning)
            except OSError as error:
                raise UsageError(f"WHERRY_TUNING_FILE: {error}; make the file readable or unset the variable") from None
        given = {**self._given, "WHERRY_TUNING_FILE": str(tuning), "WHERRY_OUTPUT": str(home)}
        return Variant(name, {**given, **off})

    def _records(self, name: str) -> Path:
        return self._folder / name.replace(" ", "-")

    def _once(self, variant: Variant, number: int) -> Sample:
        which = "before the first round" if number == _WARM_UP else f"round {number + 1} of {self._experiment.rounds}"
        self._progress(f"{variant.name}, {which}", self._done, self._total)
        self._done += 1
        for old in record_files(self._records(variant.name)) if number != _WARM_UP else ():
            old.unlink()
        try:
            return run_once(
                self._started, variant, number, self._experiment.reading, self._check, self._experiment.limit_s
            )
        except RunFailed as error:
            raise RunFailed(f"run {self._done}, {variant.name} ({which}): {error}; nothing is compared") from None

    def _check(self, answers: list[Any]) -> None:
        """Raises ValueError if these are not those of the first run, which was native."""
        if self._reference is None:
            self._reference = answers
        if differ(self._reference, answers, self._experiment.tolerance):
            expected, found = _first_difference(self._reference, answers, self._experiment.tolerance)
            raise ValueError(f"its answer differs from that of run 1, native: {found} instead of {expected}")
        self._equal += 1


def _first_difference(expected: list[Any], found: list[Any], tolerance: float) -> tuple[str, str]:
    for one, other in zip(expected, found, strict=False):
        if differ([one], [other], tolerance):
            return repr(one), repr(other)
    return f"{len(expected)} of them", f"{len(found)} answers"


def _short(version: str) -> str:
    """Without what Open MPI and MPICH tell of their builds."""
    return " ".join(version.partition("\n")[0].partition(",")[0].replace("Version:", "").split())


def _called(records: Sequence[record.Record]) -> set[str] | None:
    return _functions(records, "calls") if records else None


def _functions(records: Sequence[record.Record], table: str) -> set[str]:
    return {one.function(i) for one in records for i in set(one.tables[table].column("function"))}
