"""Is there a number of ranks at which one rank more costs much more?

MPI_Alltoall under Wherry and native, at every number of ranks; both in one process, in turns. The second
table has how much longer Wherry takes with one rank more, divided by what that must cost whatever the strategy:
messages one after the other to hear from all ranks, or bytes that leave the fullest host.
"""

from __future__ import annotations

from wherry.measure.harness import IN_TURNS, BenchTable, Setup, Testbed, parse, preload, program
from wherry.measure.record import Measurement

OPTIONS = ("--mpi", "-n", "--netlab", "--hosts", "--launches", "--plot", "--sizes")
SIZES = (64, 1024)
TIME, GROWTH = "time per call", "growth with one rank more, beyond what it must be"
GOAL = 1.3


def run(setup: Setup) -> list[Measurement]:
    mpi = setup.installation()
    most = max(setup.ranks or (32 if setup.netlab else 8), 3)
    launches, sizes = setup.launches or (1 if setup.quick else 3), setup.sizes or SIZES
    args = [program(mpi, "alltoall"), "--sizes", ",".join(map(str, sizes)), "--turns", "4" if setup.quick else "8"]
    counts = range(2, most + 1)
    tables = {n: BenchTable() for n in counts}
    steps = [(launch, n) for launch in range(launches) for n in counts]
    with Testbed(setup, mpi) as place:
        for done, (launch, n) in enumerate(steps):
            setup.progress(f"{n} ranks", done, len(steps))
            tables[n].rows += parse(place.run(n, args, preload()), launch)
        network = place.network
    hosts = setup.hosts if setup.netlab else 1
    times = [_time(tables[n], size, mpi.name, n, network) for size in sizes for n in counts]
    growths = [_growth(tables, size, mpi.name, n, hosts, network) for size in sizes for n in counts[:-1]]
    return times + growths


def _time(table: BenchTable, size: int, mpi: str, ranks: int, network: str) -> Measurement:
    case = f"{size} B"
    return Measurement(
        bench="scaling",
        case=case,
        metric=TIME,
        unit="s",
        value=table.best(case, "wherry"),
        baseline=table.best(case, "native"),
        ratio=table.ratio(case, "native", "wherry"),
        mpi=mpi,
        ranks=ranks,
        samples=table.samples(case, "native", "wherry"),
        statistic=IN_TURNS,
        network=network,
        size=size,
    )


def _growth(tables: dict[int, BenchTable], size: int, mpi: str, ranks: int, hosts: int, network: str) -> Measurement:
    case = f"{size} B"
    before, after = (tables[n].best(case, "wherry") for n in (ranks, ranks + 1))
    value = after / before / growth_of_bounds(ranks, hosts)
    return Measurement(
        bench="scaling",
        case=f"{case}, and one more",
        metric=GROWTH,
        unit="x",
        value=value,
        baseline=None,
        ratio=None,
        mpi=mpi,
        ranks=ranks,
        samples=[],
        statistic="time: minimum",
        network=network,
        goal=f"<= {GOAL:g}",
        reached=value <= GOAL,
        size=size,
    )


def growth_of_bounds(ranks: int, hosts: int) -> float:
    """From so many ranks to one more, spread evenly over so many hosts."""
    return max(_rounds(ranks + 1) / _rounds(ranks), _leaving(ranks + 1, hosts) / _leaving(ranks, hosts))


def _rounds(ranks: int) -> int:
    """Messages one after the other until everybody has heard from everybody."""
    return (ranks - 1).bit_length()


def _leaving(ranks: int, hosts: int) -> int:
    """Blocks that leave the fullest host; in one host, those that leave a rank."""
    fullest = -(-ranks // hosts) if hosts > 1 else 1
    return fullest * (ranks - fullest)
