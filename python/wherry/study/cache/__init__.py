"""The study of the RMA cache: sizes, eviction, scaling, nodes."""

from __future__ import annotations

from wherry.study.cache import eviction, node, scaling, sizes
from wherry.study.frame import Part, Study

STUDY = Study(
    name="cache",
    summary="the cache of one-sided reads, on traces and in two applications",
    parts=(
        Part("sizes", sizes.QUESTION, sizes.measure, sizes.tabulate, sizes.draw),
        Part("eviction", eviction.QUESTION, eviction.measure, eviction.tabulate, eviction.draw),
        Part(
            "strong", scaling.STRONG, scaling.measure_strong, scaling.tabulate, scaling.draw, scaling.why_not_measured
        ),
        Part("weak", scaling.WEAK, scaling.measure_weak, scaling.tabulate, scaling.draw, scaling.why_not_measured),
        Part("node", node.QUESTION, node.measure, node.tabulate, node.draw, node.why_not),
        Part(
            "simulated",
            scaling.SIMULATED,
            scaling.measure_simulated,
            scaling.tabulate,
            scaling.draw,
            scaling.why_not_simulated,
        ),
    ),
    options=("--mpi", "-n", "--netlab", "--hosts", "--launches"),
)
