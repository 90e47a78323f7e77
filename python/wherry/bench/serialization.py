"""What does it take to make bytes of objects, and how many are they: memcpy, Wherry, cereal, Boost.MPI?

Vectors of three ints, and particles of 616 bytes with two lists: 100 at a time, which second-level caches hold, and
1000, which they do not, so that memory bounds all that are fast; 50 records of fraillt/cpp_serializers_benchmark, made
again from its description. memcpy takes padding along and sends lengths of 16 bits, of records what one would write by
hand; Boost.MPI is measured where it was built for the MPI at hand (debian-openmpi). All run in one process, in turns of
calls; each must bring back what was packed first. Times and bytes are per object.
"""

from __future__ import annotations

from wherry.bench.launched import Launched, launch
from wherry.measure.harness import LAUNCHING, Setup
from wherry.measure.record import COUNT, Measurement

OPTIONS = tuple(option for option in LAUNCHING if option not in ("-n", "--netlab", "--hosts"))  # always one rank
#: Baseline, how the case ends, and how many times faster than it Wherry is to be.
GOALS = {
    ("memcpy", "particles, pack"): 1 / 1.05,
    ("memcpy", "particles, unpack"): 1 / 1.05,
    ("cereal", "particles, pack"): 12.0,
    ("boost", "particles, pack"): 60.0,
    ("cereal", "records, pack"): 1.0,
    ("cereal", "records, unpack"): 1.0,
    ("boost", "records, pack"): 1.0,
    ("boost", "records, unpack"): 1.0,
}
BASELINES = ("memcpy", "cereal", "boost")
#: A container of objects adds its own length, once for all of them.
MOST_BYTES = {"3-int vectors": 12, "particles": 571, "records": 148}
BYTES = ", bytes"


def run(setup: Setup) -> list[Measurement]:
    table = launch(setup, "serialization", 1, ["--turns", "20" if setup.quick else "200"], {})
    times = [
        _time(table, case, baseline)
        for baseline in BASELINES
        for case in table.cases()
        if baseline in table.variants(case)
    ]
    packed = [case for case in table.cases() if case.endswith(", pack")]
    return [*(_bytes(table, case) for case in packed), *times]


def _time(table: Launched, case: str, baseline: str) -> Measurement:
    name, direction = case.rsplit(", ", 1)
    goal = next((goal for (of, end), goal in GOALS.items() if of == baseline and case.endswith(end)), None)
    return table.times_of("serialization", case, baseline, name, f"time to {direction}, against {baseline}", goal)


def _bytes(table: Launched, case: str) -> Measurement:
    """Against the most widely used of those that are there."""
    name = case.rsplit(", ", 1)[0]
    most = next(most for objects, most in MOST_BYTES.items() if name.endswith(objects))
    baseline = next(other for other in reversed(BASELINES) if other in table.variants(case))
    value, other = table.best(case, "wherry" + BYTES), table.best(case, baseline + BYTES)
    return Measurement(
        bench="serialization",
        case=name,
        metric=f"bytes per object, against {baseline}",
        unit="B",
        value=value,
        baseline=other,
        ratio=other / value,
        mpi=table.mpi,
        ranks=table.ranks,
        samples=table.samples(case, baseline + BYTES, "wherry" + BYTES),
        statistic=COUNT,
        network=table.network,
        goal=f"<= {most} B",
        reached=int(value) <= most,
    )
