"""The study of the RMA cache: sizes, eviction, scaling, nodes."""

from __future__ import annotations

from types import ModuleType

from wherry.measure.harness import Setup
from wherry.study import applications
from wherry.study.cache import eviction, node, scaling, sizes
from wherry.study.cache.programs import BARNES_HUT
from wherry.study.parts import Measure, Study, StudyPart


def _why_not(setup: Setup) -> str:
    return applications.why_without_highway(setup, BARNES_HUT.name)


def _launched(name: str, module: ModuleType, question: str, measure: Measure, fewest_ranks: int) -> StudyPart:
    """A part that runs both applications, here or on emulated hosts."""
    return StudyPart(
        name,
        question,
        measure,
        module.tabulate,
        module.draw,
        _why_not,
        options=("--mpi", "-n", "--netlab", "--hosts", "--launches"),
        fewest_ranks=fewest_ranks,
    )


STUDY = Study(
    name="cache",
    summary="the cache of one-sided reads, on traces and in two applications",
    parts=(
        _launched("sizes", sizes, sizes.QUESTION, sizes.measure, sizes.RANKS),
        StudyPart(
            "eviction", eviction.QUESTION, eviction.measure, eviction.tabulate, eviction.draw, options=("--mpi",)
        ),
        _launched("strong", scaling, scaling.STRONG, scaling.measure_strong, scaling.RANKS[0]),
        _launched("weak", scaling, scaling.WEAK, scaling.measure_weak, scaling.RANKS[0]),
        _launched("node", node, node.QUESTION, node.measure, node.RANKS[0]),
        StudyPart(
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
