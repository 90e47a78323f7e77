"""The application lj_fluid: forces on any ranks, temperature, files, restarts, refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path
from subprocess import CompletedProcess

import launching
import pytest
from conftest import Launcher
from launching import check_of, check_refused, on_one, on_quick, on_two

RANKS = (1, 2, 3, 5, 8)
MEANS = re.compile(r"mean of (\d+) measurements: temperature (\S+), potential energy (\S+), pressure (\S+)")


def run(mpi: Launcher, build: Path, n: int, words: str, *files: str | Path) -> CompletedProcess[str]:
    return launching.run(mpi, build, "lj_fluid", n, [*words.split(), *files])


def means(text: str) -> tuple[float, float, float]:
    """Temperature, potential energy and pressure."""
    found = MEANS.search(text)
    assert found, text
    return float(found[2]), float(found[3]), float(found[4])


def energies(path: Path) -> list[list[float]]:
    head, *lines = path.read_text().splitlines()
    assert head == "step,time,temperature,potential,kinetic,total,pressure"
    return [[float(field) for field in line.split(",")] for line in lines]


@on_two
@pytest.mark.parametrize("n", RANKS)
def test_forces_ghosts_identities_and_energy(mpi: Launcher, build: Path, n: int) -> None:
    """Against all pairs, in slabs, pencils and blocks; pairs on faces, edges and corners; no drift of the energy."""
    launching.output(launching.launch(mpi, check_of(mpi, build, "lj_fluid"), n))


@on_one
def test_the_thermostat_keeps_the_temperature(mpi: Launcher, build: Path) -> None:
    """Of 30 samples 2 time units apart, of 3000 degrees of freedom each: 0.5% is four of their standard deviations."""
    text = launching.output(run(mpi, build, 2, "--particles 1000 --equilibrate 1000 --steps 6000 --every 200"))
    temperature, _, pressure = means(text)
    assert temperature == pytest.approx(1, abs=0.01)
    # Of WCA particles at this density and temperature; more than of hard spheres of diameter 1 would be less by half.
    assert 5 < pressure < 15


@on_two
def test_the_first_step_does_not_depend_on_the_ranks(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    frames = []
    for n in (1, 2, 5):
        path = tmp_path / f"{n}.xyz"
        launching.output(run(mpi, build, n, "--fluid melt --particles 2916 --steps 1 --output", path))
        frames.append([[float(word) for word in line.split()[1:]] for line in path.read_text().splitlines()[2:]])
    for frame in frames[1:]:
        assert len(frame) == 2916
        for one, other in zip(frames[0], frame, strict=True):
            assert other == pytest.approx(one, rel=1e-12, abs=1e-12)


@on_two
@pytest.mark.parametrize("more", ["", "--bonds --exclusions "], ids=["single", "bonded"])
def test_a_restart_goes_on_as_if_it_had_never_stopped(mpi: Launcher, build: Path, tmp_path: Path, more: str) -> None:
    whole, parts, log = tmp_path / "whole.xyz", tmp_path / "parts.xyz", tmp_path / "energies.csv"
    words = f"--particles 1200 {more}--every 60 --output"
    launching.output(run(mpi, build, 3, f"--steps 120 {words}", whole, "--energies", tmp_path / "whole.csv"))
    launching.output(run(mpi, build, 3, f"--steps 60 {words}", parts))
    assert parts.read_text() != whole.read_text()
    restart = f"--restart {parts} --every 60 --steps 60 --output"
    launching.output(run(mpi, build, 3, restart, parts, "--energies", log))
    assert parts.read_text() == whole.read_text()
    assert energies(log) == energies(tmp_path / "whole.csv")[2:]
    assert not list(tmp_path.glob("*partial*"))


@on_one
def test_files_that_are_written(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    trajectory, log, record = tmp_path / "t.xyz", tmp_path / "e.csv", tmp_path / "r.json"
    words = f"--particles 500 --steps 20 --every 10 --trajectory {trajectory} --energies {log} --json {record}"
    launching.output(run(mpi, build, 2, words))
    lines = trajectory.read_text().splitlines()
    assert len(lines) == 3 * 502
    assert lines[0] == "500"
    assert "Properties=species:S:1:id:I:1:pos:R:3:velo:R:3" in lines[1]
    assert [line.split()[1] for line in lines[2:502]] == [str(i + 1) for i in range(500)]
    rows = energies(log)
    assert [row[0] for row in rows] == [0, 10, 20]
    assert all(row[5] == pytest.approx(row[3] + row[4]) for row in rows)
    (timestep,) = json.loads(record.read_text())
    assert timestep["metric"] == "timestep"
    assert len(timestep["samples"][0]["wherry"]) == 20


@on_one
@pytest.mark.parametrize("route", ["staged", "measured"])
def test_ghosts_travel_as_they_are_told(mpi: Launcher, build: Path, tmp_path: Path, route: str) -> None:
    """The same fluid, but for rounding; the picture shows it."""
    logs, picture = [tmp_path / name for name in ("direct.csv", f"{route}.csv")], tmp_path / "fluid.svg"
    words = "--particles 1200 --equilibrate 50 --steps 20 --every 20 --energies"
    launching.output(run(mpi, build, 8, words, logs[0]))
    launching.output(run(mpi, build, 8, words, logs[1], "--route", route, "--picture", picture))
    (direct,), (other,) = ([row for row in energies(log) if row[0] == 70] for log in logs)
    assert other == pytest.approx(direct, rel=1e-6)
    assert 300 < picture.read_text().count("<use ") <= 1200


@on_one
def test_a_file_of_lammps_is_read(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    path = tmp_path / "data.lmp"
    box = "".join(f"0 10 {axis}lo {axis}hi\n" for axis in "xyz")
    path.write_text(f"two\n\n2 atoms\n1 atom types\n{box}\nAtoms # atomic\n\n1 1 9.5 5 5\n5 1 0.5 5 5\n")
    log = tmp_path / "e.csv"
    words = f"--input {path} --temperature 0 --thermostat none --steps 0 --energies {log}"
    launching.output(run(mpi, build, 2, words))
    (row,) = energies(log)
    # A pair at a distance of 1, across the boundary: 1 of shift for two.
    assert row[3] == pytest.approx(0.5, rel=1e-12)


@on_one
def test_forces_that_are_no_numbers_stop_the_run(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    """Two particles at one place; and a time step that is far too long, after a good restart file."""
    path = tmp_path / "two.xyz"
    path.write_text('2\nLattice="9 0 0 0 9 0 0 0 9"\nAr 1 1 1\nAr 1 1 1\n')
    done = run(mpi, build, 2, "--steps 5 --input", path)
    assert done.returncode == 1
    assert "the force on particle 1 in step 0 is no number" in done.stderr + done.stdout
    good = tmp_path / "good.xyz"
    launching.output(run(mpi, build, 2, "--particles 500 --steps 10 --every 10 --output", good))
    text = good.read_text()
    bad = tmp_path / "bad.xyz"
    bad.write_text(text.replace("lj_fluid_dt=0.01", "lj_fluid_dt=1e12"))
    done = run(mpi, build, 2, f"--restart {bad} --steps 1000 --output {good}")
    assert done.returncode == 1
    text_of_all = done.stderr + done.stdout
    assert re.search(
        r"particle \d+ crossed the whole box in step 1\d|particle \d+ in step 1\d is no number", text_of_all
    )
    assert good.read_text() == text


REFUSED = {
    "--particles 100 --dimensions 1": "has no room for 8 domains",
    "--particles 100 --cutoff 9": "give more particles, or a shorter cutoff or skin",
    "--particles 10 --particles-per-rank 10": "are both given",
    "--input missing.xyz": "cannot read 'missing.xyz'",
    "--restart missing.xyz --dt 0.1": "--dt is given, but a run goes on as it began",
    "--input missing.xyz --particles 7": "--particles",
    "--dt nan": "--dt: 'nan' is not a number",
}


@on_quick
@pytest.mark.parametrize(("words", "message"), REFUSED.items(), ids=REFUSED.keys())
def test_refusals(mpi: Launcher, build: Path, words: str, message: str) -> None:
    check_refused(run(mpi, build, 8, words), message)


@on_quick
def test_a_particle_outside_the_box_is_refused(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    path = tmp_path / "two.xyz"
    path.write_text('2\nLattice="9 0 0 0 9 0 0 0 9"\nAr 1 1 1\nAr 1 10 1\n')
    check_refused(run(mpi, build, 2, "--input", path), f"{path}, line 4: particle 2 is at 10.000000, outside the box")


@on_quick
def test_help_has_examples(mpi: Launcher, build: Path) -> None:
    text = launching.output(run(mpi, build, 1, "--help"))
    assert "Examples:\n  mpiexec -n 2 lj_fluid" in text
    assert "--restart FILE" in text
