"""nbody against REBOUND and an ephemeris: other people's software, in an environment of its own."""

from __future__ import annotations

import math
import re
from pathlib import Path

import launching
import pytest
from conftest import ROOT, Launcher
from launching import on_one
from nbody_runs import HEADER, bodies_of, output, run


def oracle(script: str, *words: str | Path) -> str:
    return launching.oracle("astronomy", ROOT / script, *words)


def largest_difference(a: list[list[float]], b: list[list[float]]) -> float:
    return max(abs(x - y) for row, other in zip(a, b, strict=True) for x, y in zip(row, other, strict=True))


@on_one
@pytest.mark.parametrize(
    ("ours", "theirs", "steps", "tolerance"),
    [
        # From rest, one step of either is the acceleration.
        (["--integrator", "euler", "--dt", "1"], ["leapfrog", "1"], 1, 1e-13),
        (["--integrator", "yoshida6", "--dt", "0.005"], ["ias15", "0.005"], 200, 1e-9),
    ],
)
def test_rebound_finds_the_same(
    mpi: Launcher, build: Path, ours: list[str], theirs: list[str], steps: int, tolerance: float, tmp_path: Path
) -> None:
    start, end = tmp_path / "start.csv", tmp_path / "end.csv"
    output(run(mpi, build, 1, ["--model", "sphere", "--bodies", "200", "--steps", "0", "--output", start]))
    rows = bodies_of(start)
    start.write_text(HEADER + "".join(",".join(repr(value) for value in row) + "\n" for row in rows))
    words = ["--input", start, "--eps", "0.1", *ours, "--steps", str(steps), "--output", end]
    output(run(mpi, build, 2, words))
    integrator, dt = theirs
    text = oracle("tests/apps/oracles/nbody_rebound.py", start, "0.1", integrator, dt, str(steps))
    right = [[float(field) for field in line.split(",")] for line in text.splitlines()]
    velocities = [row[4:] for row in right]
    assert max(abs(value) for row in velocities for value in row) > 0.1
    assert largest_difference([row[4:] for row in bodies_of(end)], velocities) < tolerance


PLANETS = ("mercury", "venus", "earth", "moon", "mars", "jupiter", "saturn", "uranus", "neptune", "pluto")
SOLAR_SYSTEM = ROOT / "apps" / "nbody" / "data" / "solar_system.csv"

#: Sidereal periods in days: D. R. Williams, NASA Space Science Data Coordinated Archive, Planetary Fact Sheet.
PERIODS = {
    "mercury": 87.969,
    "venus": 224.701,
    "mars": 686.980,
    "jupiter": 4332.589,
    "saturn": 10759.22,
    "uranus": 30685.4,
    "neptune": 60189.0,
}


def days_of(path: Path) -> float:
    return float(path.read_text().splitlines()[0].split("times in ")[1].split()[0])


def test_the_planets_of_the_file_have_their_periods() -> None:
    """Kepler's third law from one moment's places and velocities; others move the outer ones by a hundredth."""
    sun, *others = bodies_of(SOLAR_SYSTEM)
    for name, body in zip(PLANETS, others, strict=True):
        if name not in PERIODS:
            continue
        place = [a - b for a, b in zip(body[1:4], sun[1:4], strict=True)]
        velocity = [a - b for a, b in zip(body[4:], sun[4:], strict=True)]
        mass = body[0] + sun[0]
        semi_major_axis = 1 / (2 / math.hypot(*place) - math.hypot(*velocity) ** 2 / mass)
        period = 2 * math.pi * math.sqrt(semi_major_axis**3 / mass) * days_of(SOLAR_SYSTEM)
        assert period == pytest.approx(PERIODS[name], rel=1e-3 if PERIODS[name] < 1000 else 0.02), name


def test_the_file_of_the_solar_system_is_what_its_tool_writes() -> None:
    assert oracle("tools/solar_system.py") == SOLAR_SYSTEM.read_text()


@on_one
def test_300_days_take_the_planets_where_the_ephemeris_has_them(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    """Without relativity and asteroids; the moon, whose earth is a point here, is the least exact."""
    days, later = 300.0, tmp_path / "later.csv"
    steps = 1200
    dt = days / days_of(SOLAR_SYSTEM) / steps
    way = ["--eps", "0", "--integrator", "yoshida6", "--dt", repr(dt), "--steps", str(steps)]
    text = output(run(mpi, build, 2, ["--input", SOLAR_SYSTEM, *way, "--scheme", "replicated", "--output", later]))
    (changes,) = re.findall(r"changes: energy (\S+), momentum (\S+), angular momentum (\S+)", text)
    assert all(float(change.rstrip(",")) < 1e-12 for change in changes)
    moved, still = bodies_of(later), bodies_of(SOLAR_SYSTEM)
    right = tmp_path / "right.csv"
    right.write_text(oracle("tools/solar_system.py", str(2451545.0 + days)))
    for name, body, then, expected in zip(("sun", *PLANETS), moved, still, bodies_of(right), strict=True):
        off = math.dist(body[1:4], expected[1:4])
        assert off < (3e-5 if name == "moon" else 3e-6), f"{name} is off by {off} astronomical units"
        if name != "sun":
            assert math.dist(then[1:4], expected[1:4]) > 0.01
