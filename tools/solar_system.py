"""The sun, the planets, the moon and Pluto as a file for nbody, from the Jet Propulsion Laboratory's ephemeris DE421.

Usage: .cache/astronomy/bin/python tools/solar_system.py [DAY] > FILE

DAY is a Julian day (barycentric dynamical time) of the years 1899 to 2200; without it, noon of the first of January
2000. Lengths are in astronomical units, masses in the sun's, so times are in units of about 58.13 days; the first line
of the file says it exactly.

W. M. Folkner, J. G. Williams, D. H. Boggs: The planetary and lunar ephemeris DE 421, IPN Progress Report 42-178, 2009.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping

import de421
from jplephem.ephem import Ephemeris

J2000 = 2451545.0

#: Bodies in the order of the file, with the constants that hold G times their masses. Earth and moon are one there.
BODIES = {
    "sun": "GMS",
    "mercury": "GM1",
    "venus": "GM2",
    "earth": "GMB",
    "moon": "GMB",
    "mars": "GM4",
    "jupiter": "GM5",
    "saturn": "GM6",
    "uranus": "GM7",
    "neptune": "GM8",
    "pluto": "GM9",
}


def main() -> int:
    if len(sys.argv) > 2 or sys.argv[1:2] == ["--help"]:
        print(__doc__)
        return 0 if sys.argv[1:] == ["--help"] else 2
    ephemeris = Ephemeris(de421)
    try:
        day = float(sys.argv[1]) if len(sys.argv) == 2 else J2000
        lines = list(solar_system(ephemeris, day))
    except ValueError as error:
        print(f"solar_system: '{sys.argv[1]}': {error}; give a Julian day such as {J2000}", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 0


def solar_system(ephemeris: Ephemeris, day: float) -> Iterator[str]:
    if not ephemeris.jalpha <= day <= ephemeris.jomega:
        raise ValueError(f"DE421 has the days {ephemeris.jalpha} to {ephemeris.jomega} only")
    constants = vars(ephemeris)
    days = 1 / math.sqrt(constants["GMS"])
    units = f"astronomical units, solar masses, times in {days!r} days"
    yield f"# the solar system on the Julian day {day!r}, DE421; {units}"
    yield f"# {' '.join(BODIES)}"
    yield "m,x,y,z,vx,vy,vz"
    for name in BODIES:
        place_km, velocity_km_per_day = state(ephemeris, name, day)
        place = [value / constants["AU"] for value in place_km]
        velocity = [value / constants["AU"] * days for value in velocity_km_per_day]
        yield ",".join(repr(float(value)) for value in [mass(constants, name), *place, *velocity])


def mass(constants: Mapping[str, float], name: str) -> float:
    """In units of the sun's."""
    pair = constants[BODIES[name]] / constants["GMS"]
    ratio = constants["EMRAT"]  # earth to moon
    return pair * {"earth": ratio / (1 + ratio), "moon": 1 / (1 + ratio)}.get(name, 1.0)


def state(ephemeris: Ephemeris, name: str, day: float) -> tuple[list[float], list[float]]:
    """Place and velocity relative to the centre of mass of all, in km and km/day."""
    if name not in ("earth", "moon"):
        return vectors(ephemeris, name, day)
    # The ephemeris has the centre of mass of the two, and the moon as seen from the earth.
    centre, moon = vectors(ephemeris, "earthmoon", day), vectors(ephemeris, "moon", day)
    share = 1 / (1 + vars(ephemeris)["EMRAT"])
    factor = -share if name == "earth" else 1 - share
    place, velocity = ([c + factor * m for c, m in zip(*pair, strict=True)] for pair in zip(centre, moon, strict=True))
    return place, velocity


def vectors(ephemeris: Ephemeris, name: str, day: float) -> tuple[list[float], list[float]]:
    place, velocity = ephemeris.position_and_velocity(name, day)
    return [float(value) for value in place.ravel()], [float(value) for value in velocity.ravel()]


if __name__ == "__main__":
    sys.exit(main())
