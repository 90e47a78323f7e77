"""Relative errors of accelerations by pytreegrav, with and without quadrupoles: reads what barnes_hut --output wrote.

Prints a line of JSON: the root mean square errors of pytreegrav's tree and of the file's accelerations, against
pytreegrav's direct sums.
"""

import json
import sys

import numpy
import pytreegrav

path, theta, softening = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
table = numpy.loadtxt(path, ndmin=2)
mass, places, accelerations = table[:, 0], table[:, 1:4], table[:, 7:10]
lengths = numpy.full(len(mass), softening)


def error(values: numpy.ndarray, right: numpy.ndarray) -> float:
    off = numpy.sum((values - right) ** 2, axis=1) / numpy.sum(right**2, axis=1)
    return float(numpy.sqrt(numpy.mean(off)))


direct = pytreegrav.Accel(places, mass, softening=lengths, method="bruteforce")
tree = {
    order: pytreegrav.Accel(
        places, mass, softening=lengths, theta=theta, method="tree", quadrupole=order == "quadrupole"
    )
    for order in ("monopole", "quadrupole")
}
print(json.dumps({"ours": error(accelerations, direct)} | {name: error(a, direct) for name, a in tree.items()}))
