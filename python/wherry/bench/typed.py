"""What does a collective of derived types take: natively, packed by hand, and under Wherry?

Each case is an all-to-all or a broadcast of blocks that are no contiguous bytes: every other double of an array, or an
array of padded structs. All variants run in one process, in turns of a few calls; the time is that of the slowest rank.
"""

from __future__ import annotations

from wherry.bench.launched import launch
from wherry.measure.harness import LAUNCHING, Setup, preload
from wherry.measure.record import Measurement

OPTIONS = (*LAUNCHING, "--sizes")
SIZES = (256, 4096, 65536, 1048576)
NATIVE = "native"


def run(setup: Setup) -> list[Measurement]:
    ranks = setup.ranks or (8 if setup.netlab else 2)
    words = ["--sizes", ",".join(map(str, setup.sizes or SIZES)), "--turns", "6" if setup.quick else "20"]
    table = launch(setup, "typed", ranks, words, preload())
    return [
        table.times_of("typed", case, NATIVE, f"{case}, {variant}", "time per call", None, variant=variant)
        for case in table.cases()
        for variant in table.variants(case)
        if variant != NATIVE
    ]
