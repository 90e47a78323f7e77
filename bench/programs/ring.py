"""Light in a ring of glass, in two dimensions, by finite differences in time (MEEP).

    mpiexec -n 2 /usr/bin/python3 ring.py [--resolution 20] [--until 240]

A pulse is emitted in the ring; ranks exchange the fields at the borders of their parts in every step. Prints
"loop SECONDS" and "energy NUMBER", the energy of the field in the end.
"""

import argparse

import meep


def simulation(resolution: float) -> meep.Simulation:
    glass, inner, outer, cell = meep.Medium(index=3.4), 2, 3, meep.Vector3(12, 12)
    pulse = meep.GaussianSource(0.15, fwidth=0.1)
    return meep.Simulation(
        cell_size=cell,
        resolution=resolution,
        boundary_layers=[meep.PML(1)],
        geometry=[meep.Cylinder(radius=outer, material=glass), meep.Cylinder(radius=inner)],
        sources=[meep.Source(pulse, component=meep.Ez, center=meep.Vector3((inner + outer) / 2))],
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--resolution", type=float, default=20)
    parser.add_argument("--until", type=float, default=240)
    options = parser.parse_args()
    ring = simulation(options.resolution)
    ring.init_sim()
    begin = meep.wall_time()
    ring.run(until=options.until)
    seconds = meep.wall_time() - begin
    energy = ring.field_energy_in_box(center=meep.Vector3(), size=meep.Vector3(10, 10))
    if meep.am_master():
        print(f"loop {seconds:.6f}\nenergy {energy:.12g}")


if __name__ == "__main__":
    main()
