"""A benchmark program of one MPI, launched as often as asked: its samples, and where they were taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wherry.measure.harness import IN_TURNS, BenchTable, Setup, Testbed, parse, program
from wherry.measure.record import Measurement


@dataclass
class Launched(BenchTable):
    """Samples of launches that were all alike."""

    mpi: str = ""
    ranks: int = 0
    network: str = ""

    def times_of(
        self,
        bench: str,
        case: str,
        baseline: str,
        name: str,
        metric: str,
        goal: float | None,
        also: Sequence[str] = (),
        variant: str = "wherry",
    ) -> Measurement:
        """A variant's time of a case beside a baseline's; goal: of their ratio. also: versions with samples, too."""
        ratio = self.ratio(case, baseline, variant)
        return Measurement(
            bench=bench,
            case=name,
            metric=metric,
            unit="s",
            value=self.best(case, variant),
            baseline=self.best(case, baseline),
            ratio=ratio,
            mpi=self.mpi,
            ranks=self.ranks,
            samples=self.samples(case, baseline, variant, *also),
            statistic=IN_TURNS,
            network=self.network,
            goal="" if goal is None else f"ratio >= {goal:.3g}",
            reached=None if goal is None else ratio >= goal,
        )


def launch(setup: Setup, name: str, ranks: int, words: Sequence[str], env: Mapping[str, str]) -> Launched:
    """bench_<name> on so many ranks. Raises WherryError if a launch fails."""
    mpi, launches = setup.installation(), setup.number_of_launches()
    args = [program(mpi, name), *words]
    with Testbed(setup, mpi) as place:
        table = Launched([], mpi.name, ranks, place.network)
        for number in range(launches):
            setup.progress(f"launch {number + 1}", number, launches)
            table.rows += parse(place.run(ranks, args, env), number)
    return table
