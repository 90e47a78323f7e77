"""How many forces a second does barnes_hut compute on one core at a given error, and how many pytreegrav?

Usage: .cache/oracles/bin/python bench/barnes_hut_pytreegrav.py [--bodies N] [--turns N] [--json FILE]

A Plummer sphere without softening. Both with quadrupoles and without the time to make their trees, in turns, over
opening angles; errors are the root mean square of |a - a'| / |a'| over some bodies, against direct sums. Between two
opening angles of pytreegrav's, its rate at our error is interpolated in logarithms.

M. Grudic, A. Gurvich: pytreegrav: A fast Python gravity solver, Journal of Open Source Software 6(68), 2021.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy
import pytreegrav

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))  # this environment is the peer's

from wherry.files import write_json  # noqa: E402
from wherry.provenance import commit, machine  # noqa: E402

BARNES_HUT = ROOT / "build" / "release" / "apps" / "openmpi" / "barnes_hut"
MPIEXEC = ROOT / ".mpi" / "openmpi" / "bin" / "mpiexec"
OUR_ANGLES = (0.4, 0.5, 0.6, 0.7, 0.8)
#: Theirs open fewer cells at the same angle, so they need smaller ones for the same error.
THEIR_ANGLES = (0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
CHECKED = 500  # bodies


@dataclass
class Line:
    """One program at one opening angle."""

    theta: float
    times_s: list[float] = field(default_factory=list)
    error: float = 0.0

    def rate(self, bodies: int) -> float:
        return bodies / statistics.median(self.times_s)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--bodies", type=int, default=100_000, help="how many (default 100000)")
    parser.add_argument("--turns", type=int, default=3, help="timed runs of each (default 3)")
    parser.add_argument("--json", type=Path, help="write records to this file")
    words = parser.parse_args()
    for program in (BARNES_HUT, MPIEXEC):
        if not program.is_file():
            print(f"barnes_hut_pytreegrav: {program} is not there; run: make build", file=sys.stderr)
            return 2
    ours, theirs = compare(words.bodies, words.turns)
    records = [record(words.bodies, line, theirs) for line in ours]
    show(records)
    if words.json:
        write_json(words.json, records)
    return 0


def compare(bodies: int, turns: int) -> tuple[list[Line], list[Line]]:
    ours, theirs = [Line(theta) for theta in OUR_ANGLES], [Line(theta) for theta in THEIR_ANGLES]
    table = run_ours(bodies, ours[0])  # where the bodies are; a first run of each is not timed
    mass, places = table[:, 0].copy(), table[:, 1:4].copy()
    tree = pytreegrav.ConstructTree(places, mass, numpy.zeros(bodies), quadrupole=True)
    run_theirs(places, mass, tree, theirs[-1])
    ours[0].times_s.clear()
    theirs[-1].times_s.clear()
    some = numpy.arange(0, bodies, max(1, bodies // CHECKED))
    right = direct(places, mass, some)
    for _ in range(turns):
        for line in ours:
            line.error = error(run_ours(bodies, line)[some, 7:10], right)
        for line in theirs:
            line.error = error(run_theirs(places, mass, tree, line)[some], right)
    return ours, theirs


def run_ours(bodies: int, line: Line) -> numpy.ndarray:
    """The bodies with their accelerations; the time of the forces goes to the line."""
    with tempfile.TemporaryDirectory() as folder:
        output, records = Path(folder, "bodies.txt"), Path(folder, "records.json")
        command = [str(MPIEXEC), "-n", "1", str(BARNES_HUT), "--bodies", str(bodies), "--theta", str(line.theta)]
        command += ["--steps", "0", "--turns", "1", "--no-progress", "--output", str(output), "--json", str(records)]
        as_root = {f"{who}_ALLOW_RUN_AS_ROOT{what}": "1" for who in ("OMPI", "PRTE") for what in ("", "_CONFIRM")}
        subprocess.run(command, check=True, capture_output=True, env=os.environ | as_root)
        (samples,) = json.loads(records.read_text())[0]["samples"]
        line.times_s += samples["native"]
        return numpy.loadtxt(output, ndmin=2)


def run_theirs(places: numpy.ndarray, mass: numpy.ndarray, tree: Any, line: Line) -> numpy.ndarray:
    start = time.perf_counter()
    found = pytreegrav.Accel(
        places, mass, numpy.zeros(len(mass)), theta=line.theta, tree=tree, method="tree", quadrupole=True
    )
    line.times_s.append(time.perf_counter() - start)
    return numpy.asarray(found)


def direct(places: numpy.ndarray, mass: numpy.ndarray, some: numpy.ndarray) -> numpy.ndarray:
    sums = numpy.empty((len(some), 3))
    for row, body in enumerate(some):
        apart = places - places[body]
        squares = numpy.sum(apart**2, axis=1)
        squares[body] = numpy.inf
        sums[row] = (mass / squares**1.5) @ apart
    return sums


def error(found: numpy.ndarray, right: numpy.ndarray) -> float:
    off = numpy.sum((found - right) ** 2, axis=1) / numpy.sum(right**2, axis=1)
    return float(numpy.sqrt(numpy.mean(off)))


def record(bodies: int, line: Line, theirs: list[Line]) -> dict[str, Any]:
    near = sorted(theirs, key=lambda their: their.error)
    errors, rates = [their.error for their in near], [their.rate(bodies) for their in near]
    inside = errors[0] <= line.error <= errors[-1]
    at_ours = float(numpy.exp(numpy.interp(numpy.log(line.error), numpy.log(errors), numpy.log(rates))))
    return {
        "bench": "barnes_hut_pytreegrav",
        "case": f"{bodies} bodies, theta {line.theta}",
        "metric": "forces",
        "unit": "s",
        "value": bodies / line.rate(bodies),
        "baseline": bodies / at_ours if inside else None,
        "ratio": line.rate(bodies) / at_ours if inside else None,
        "mpi": "openmpi",
        "ranks": 1,
        "error": line.error,
        "forces_per_s": line.rate(bodies),
        "pytreegrav_per_s": at_ours if inside else None,
        "pytreegrav": version("pytreegrav"),
        "machine": machine(),
        "commit": commit(),
        "samples": [{"theta": line.theta, "wherry": line.times_s}]
        + [{"theta": their.theta, "error": their.error, "native": their.times_s} for their in theirs],
    }


def show(records: list[dict[str, Any]]) -> None:
    print("forces/s on one core; medians; pytreegrav's at the same error")
    print(f"{'':<30} {'error':>8} {'barnes_hut':>11} {'pytreegrav':>11} {'ratio':>6}")
    for r in records:
        peer = f"{r['pytreegrav_per_s']:>11.3g} {r['ratio']:>6.2f}" if r["ratio"] else "  (its errors are not so)"
        print(f"{r['case']:<30} {r['error']:>8.1e} {r['forces_per_s']:>11.3g} {peer}")


if __name__ == "__main__":
    sys.exit(main())
