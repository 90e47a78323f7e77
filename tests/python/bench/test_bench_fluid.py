"""lj_fluid beside LAMMPS: who runs when, and what becomes of their times."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripted import fake_mpi

from wherry.bench import fluid
from wherry.bench.fluid import FluidCase, Run
from wherry.errors import UsageError
from wherry.measure.harness import Setup, Testbed
from wherry.measure.record import Measurement


class Fake:
    """Each program's fastest skin is known; LAMMPS takes four times as long, two ranks half the time of one."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, FluidCase, float]] = []

    def steps(self, case: FluidCase) -> int:
        return 10

    def lj_fluid(self, case: FluidCase, skin: float) -> Run:
        self.asked.append(("lj_fluid", case, skin))
        return Run((1 + abs(skin - 0.4)) / case.ranks, {"communication_share": 0.12})

    def lammps(self, case: FluidCase, skin: float) -> Run:
        self.asked.append(("lammps", case, skin))
        return Run(4 * (1 + abs(skin - 0.2)) / case.ranks, {})


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    made = Fake()
    monkeypatch.setattr(fluid, "Programs", lambda where, quick, folder: made)
    return made


def find(results: list[Measurement], case: str) -> Measurement:
    return next(row for row in results if row.case.startswith(case))


def test_each_program_has_its_fastest_skin_and_they_take_turns(fake: Fake) -> None:
    fluid.run(Setup(mpi=fake_mpi(), launches=3))
    of_case = [(who, skin) for who, case, skin in fake.asked if case == FluidCase("melt", 2)]
    assert [skin for who, skin in of_case[:8]] == [*fluid.SKINS, *fluid.SKINS]
    ours, theirs = ("lj_fluid", 0.4), ("lammps", 0.2)
    assert of_case[8:] == [ours, theirs, theirs, ours, ours, theirs]


def test_ratios_are_of_paired_runs(fake: Fake) -> None:
    results = fluid.run(Setup(mpi=fake_mpi(), launches=2))
    melt = find(results, "melt, 32000 particles, 2 ranks")
    assert melt.ratio == pytest.approx(4)
    assert melt.value == pytest.approx(0.05)
    assert melt.more == {"skin": 0.4, "skin_of_lammps": 0.2}
    assert melt.reached is True
    assert find(results, "melt, 2 ranks against 1").ratio == pytest.approx(2)
    share = results[-1]
    assert (share.value, share.unit, share.reached) == (12, "%", False)


def test_lammps_of_another_library_is_a_plain_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fluid.paths, "built", lambda path: path)
    setup = Setup(mpi=fake_mpi("openmpi"))
    with Testbed(setup, setup.installation()) as where, pytest.raises(UsageError, match=r"LAMMPS: .*MPICH"):
        fluid.Programs(where, False, tmp_path)
