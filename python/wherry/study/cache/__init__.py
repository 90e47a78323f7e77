"""The study of the RMA cache: sizes, eviction, scaling, nodes."""

from __future__ import annotations

from wherry.study.cache import eviction, node, scaling, sizes
from wherry.study.frame import Part, Study

_LAUNCHED = ("--mpi", "-n", "--netlab", "--hosts", "--launches")

STUDY = Study(
    name="cache",
    summary="the cache of one-sided reads, on traces and in two applications",
    parts=(
        Part(
            "sizes",
            sizes.QUESTION,
            sizes.measure,
            sizes.tabulate,
            sizes.draw,
            options=_LAUNCHED,
            fewest_ranks=sizes.RANKS,
        ),
        Part("eviction", eviction.QUESTION, eviction.measure, eviction.tabulate, eviction.draw, options=("--mpi",)),
        Part(
            "strong",
            scaling.STRONG,
            scaling.measure_strong,
            scaling.tabulate,
            scaling.draw,
            options=_LAUNCHED,
            fewest_ranks=scaling.RANKS[0],
        ),
        Part(
            "weak",
            scaling.WEAK,
            scaling.measure_weak,
            scaling.tabulate,
            scaling.draw,
            options=_LAUNCHED,
            fewest_ranks=scaling.RANKS[0],
        ),
        Part(
            "node",
            node.QUESTION,
            node.measure,
            node.tabulate,
            node.draw,
            options=_LAUNCHED,
            fewest_ranks=node.RANKS[0],
        ),
        Part(
            "simulated",
            scaling.SIMULATED,
            scaling.measure_simulated,
            scaling.tabulate,
            scaling.draw,
            scaling.why_not_simulated,
            options=("-n",),
            fewest_ranks=scaling.SIMULATED_RANKS[0],
            fewest_quick=scaling.QUICK_SIMULATED_RANKS[0],
        ),
    ),
)
