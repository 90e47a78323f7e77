"""Relative errors of accelerations by pytreegrav, with and without quadrupoles: reads what barnes_hut --output wrote.

Prints a line of JSON: the root mean square errors of pytreegrav's tree and of the file's accelerations, against
pytreegrav's direct sums; of every tenth body, each of which walks the tree alone.
"""

import json
import sys

import numpy
import pytreegrav

EVERY = 10

path, theta, softening = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
table = numpy.loadtxt(path, ndmin=2)
mass, places, accelerations = table[:, 0], table[:, 1:4], table[::EVERY, 7:10]
targets = places[::EVERY]
lengths = {
    "softening_target": numpy.full(len(targets), softening),
    "softening_source": numpy.full(len(mass), softening),
}


def error(values: numpy.ndarray, right: numpy.ndarray) -> float:
    off = numpy.sum((values - right) ** 2, axis=1) / numpy.sum(right**2, axis=1)
    return float(numpy.sqrt(numpy.mean(off)))


def by_tree(order: str) -> numpy.ndarray:
    options = {"method": "tree", "theta": theta, "quadrupole": order == "quadrupole", "group_size": 1}
    return pytreegrav.AccelTarget(targets, places, mass, **lengths, **options)


direct = pytreegrav.AccelTarget(targets, places, mass, **lengths, method="bruteforce")
errors = {order: error(by_tree(order), direct) for order in ("monopole", "quadrupole")}
print(json.dumps({"ours": error(accelerations, direct)} | errors))
