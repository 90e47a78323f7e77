"""How many pairs a second does nbody compute on one core, and how many REBOUND's direct sum? Do the two agree?

Usage: .cache/astronomy/bin/python bench/nbody_rebound.py [--bodies N,...] [--turns N] [--json FILE]

Kernel and REBOUND take turns, so that whatever disturbs the machine disturbs both; the ratio is of the medians.
REBOUND's is the C function that computes all accelerations of a simulation (gravity "basic", with softening), without
its integrator.

H. Rein, S.-F. Liu: REBOUND, an open-source multi-purpose N-body code for collisional dynamics, Astronomy and
Astrophysics 537, 2012.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy
import rebound

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))  # this environment is the peer's

from wherry.files import write_json  # noqa: E402
from wherry.provenance import commit, machine  # noqa: E402

APPS = ROOT / "build" / "release" / "apps"
EPS = 0.01  # of nbody_kernels


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--bodies", default="2048,16384", help="how many (default 2048,16384)")
    parser.add_argument("--turns", type=int, default=5, help="timed runs of each (default 5)")
    parser.add_argument("--json", type=Path, help="write records to this file")
    words = parser.parse_args()
    if not (APPS / "nbody_kernels").is_file():
        print("nbody_rebound: build/release/apps/nbody_kernels is not there; run: make build", file=sys.stderr)
        return 2
    records = [compare(int(count), words.turns) for count in words.bodies.split(",")]
    print(f"directed interactions/s; medians of {words.turns}")
    print(f"{'bodies':>8} {'nbody':>12} {'REBOUND':>12} {'ratio':>7}")
    for r in records:
        print(f"{r['bodies']:>8} {r['interactions_per_s']:>12.3g} {r['rebound_per_s']:>12.3g} {r['ratio']:>7.1f}")
    if words.json:
        write_json(words.json, records)
    return 0


def compare(count: int, turns: int) -> dict[str, Any]:
    simulation = cluster(count)
    accelerate(simulation)  # warms up
    nbody_s, rebound_s = [], []
    for _ in range(turns):
        nbody_s.append(time_of_kernel(count))
        start = time.perf_counter()
        accelerate(simulation)
        rebound_s.append(time.perf_counter() - start)
    pairs = count * (count - 1)
    value, baseline = statistics.median(nbody_s), statistics.median(rebound_s)
    return {
        "bench": "nbody_rebound",
        "case": f"{count} bodies",
        "metric": "triangle",
        "unit": "s",
        "value": value,
        "baseline": baseline,
        "ratio": baseline / value,
        "mpi": "none",
        "ranks": 1,
        "bodies": count,
        "interactions_per_s": pairs / value,
        "rebound_per_s": pairs / baseline,
        "rebound": rebound.__version__,
        "machine": machine(),
        "commit": commit(),
        "samples": [{"native": rebound_s, "wherry": nbody_s}],
    }


def cluster(count: int) -> Any:
    """Bodies in a cube: where they are does not matter to the time."""
    simulation = rebound.Simulation()
    simulation.softening = EPS
    random = numpy.random.default_rng(1)
    for place in random.uniform(-1, 1, (count, 3)):
        simulation.add(m=1 / count, x=place[0], y=place[1], z=place[2])
    return simulation


def accelerate(simulation: Any) -> None:
    rebound.clibrebound.reb_simulation_update_acceleration(ctypes.byref(simulation))


def time_of_kernel(count: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernels.json"
        words = ["--bodies", str(count), "--turns", "1", "--kernel", "simd", "--json", str(path)]
        subprocess.run([str(APPS / "nbody_kernels"), *words], check=True, capture_output=True)
        records = json.loads(path.read_text())
    (value,) = [record["value"] for record in records if record["metric"] == "triangle" and "simd" in record["case"]]
    return float(value)


if __name__ == "__main__":
    sys.exit(main())
