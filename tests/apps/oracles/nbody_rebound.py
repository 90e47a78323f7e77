"""Where REBOUND takes bodies: reads a file of nbody's, writes the same columns.

Usage: nbody_rebound.py FILE EPS INTEGRATOR DT STEPS
leapfrog makes so many steps of this length, ias15 as many and as long ones as it likes, to the same time.
"""

import sys
from pathlib import Path

import rebound

path, eps, integrator, dt, steps = sys.argv[1], float(sys.argv[2]), sys.argv[3], float(sys.argv[4]), int(sys.argv[5])
simulation = rebound.Simulation()
simulation.softening = eps
simulation.gravity = "basic"
simulation.integrator = integrator
simulation.dt = dt
rows = [line for line in Path(path).read_text().splitlines() if line[0] in "0123456789-"]
for row in rows:
    m, *numbers = (float(field) for field in row.split(","))
    simulation.add(m=m, **dict(zip(("x", "y", "z", "vx", "vy", "vz"), numbers, strict=True)))
if integrator == "leapfrog":
    simulation.steps(steps)
else:
    simulation.integrate(steps * dt)
for p in simulation.particles:
    print(",".join(repr(float(value)) for value in (p.m, p.x, p.y, p.z, p.vx, p.vy, p.vz)))
