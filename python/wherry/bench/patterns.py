"""What does it take to pack the data of applications: by memcpy, by hand, by MPI_Pack, by Wherry's kernels?

Patterns of WRF, MILC, NAS LU and MG, LAMMPS, SPECFEM3D and FFT, faces of a grid, particles by random ids, structs and
transposes. The hand loop is compiled for the set of instructions that the kernels use. All run in one process, in turns
of calls; each must give the same bytes first. Ratios are to the hand loop, and to MPI_Pack or MPI_Unpack in lines of
their own. Large layouts are packed by two threads, too, where two cores are allowed: the ratio is to one thread.
"""

from __future__ import annotations

from wherry.bench.launched import Launched, launch
from wherry.measure.harness import LAUNCHING, Setup
from wherry.measure.record import Measurement

OPTIONS = tuple(option for option in LAUNCHING if option not in ("-n", "--netlab", "--hosts"))  # always one rank
#: Of the speed of the hand loop, by what a case's name contains; the first that fits.
GOALS = (("transpose", 0.8), ("padded", 0.7), ("members", 0.7), ("", 0.9))
NATIVE_GOAL = 0.95
#: What Wherry is compared with: the variant's name, and the metric's.
BASELINES = {
    "hand": "against the hand loop",
    "native": "against the library",
    "one thread": "by two threads, against one",
}
DIRECTIONS = ("pack", "unpack")


def run(setup: Setup) -> list[Measurement]:
    table = launch(setup, "patterns", 1, ["--turns", "5" if setup.quick else "20"], {})
    return [
        _result(table, case, baseline)
        for baseline in BASELINES
        for direction in DIRECTIONS
        for case in table.cases()
        if case.endswith(f", {direction}") and baseline in table.variants(case)
    ]


def goal_of(case: str, baseline: str) -> float | None:
    if baseline == "one thread":
        return None if " 4 MiB" in case else 1.0  # too small for Wherry to do it
    if baseline == "native":
        return NATIVE_GOAL
    return next(goal for part, goal in GOALS if part in case)


def _result(table: Launched, case: str, baseline: str) -> Measurement:
    pattern, direction = case.rsplit(", ", 1)
    metric = f"time to {direction}, {BASELINES[baseline]}"
    return table.times_of("patterns", case, baseline, pattern, metric, goal_of(case, baseline), ["memcpy"])
