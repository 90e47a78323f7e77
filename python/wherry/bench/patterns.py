"""What does it take to pack the data of applications: by memcpy, by hand, by MPI_Pack, by Wherry's kernels?

Patterns of WRF, MILC, NAS LU and MG, LAMMPS, SPECFEM3D and FFT, faces of a grid, particles by random ids, structs and
transposes. The hand loop is compiled for the set of instructions that the kernels use. All run in one process, in turns
of calls; each must give the same bytes first. Ratios are to the hand loop, and to MPI_Pack or MPI_Unpack in lines of
their own. Large layouts are packed by two threads, too, where two cores are allowed: the ratio is to one thread.

Beside them, what each pattern's datatype costs once: to create and to commit, which the library does either way; its
first use, one MPI_Pack, or one pack by Wherry, which reads the type and plans first; to free it, with Wherry's
attribute. Each type is new. What it is made of is created and freed with it.
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
#: What is done once with a datatype, and the metrics.
STAGES = {
    "create": "time to create the type",
    "commit": "time to commit the type",
    "first use": "time of the first pack",
    "free": "time to free the type",
}


def run(setup: Setup) -> list[Measurement]:
    table = launch(setup, "patterns", 1, ["--turns", "5" if setup.quick else "20"], {})
    packed = [
        _result(table, case, baseline)
        for baseline in BASELINES
        for direction in DIRECTIONS
        for case in table.cases()
        if case.endswith(f", {direction}") and baseline in table.variants(case)
    ]
    return [
        *packed,
        *(_stage(table, case) for stage in STAGES for case in table.cases() if case.endswith(f", {stage}")),
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


def _stage(table: Launched, case: str) -> Measurement:
    """Without a goal: a type is worth its first use if it is used often enough."""
    pattern, stage = case.rsplit(", ", 1)
    return table.times_of("patterns", case, "native", pattern, f"{STAGES[stage]}, {BASELINES['native']}", None)
