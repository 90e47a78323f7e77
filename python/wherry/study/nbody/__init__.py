"""The n-body application: kernels, threads, schemes on one node, on Gigabit, and on machines that are simulated."""

from __future__ import annotations

from wherry.study.nbody import kernels, schemes, simulated, threads, traces
from wherry.study.parts import Study

STUDY = Study(
    "nbody",
    "where a direct n-body solver's time goes, and which division of its work wins where",
    (
        kernels.PART,
        threads.PART,
        schemes.NODE,
        schemes.GIGABIT,
        traces.PART,
        simulated.SCHEMES,
        simulated.HYBRID,
    ),
)
