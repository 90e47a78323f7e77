"""The n-body application: kernels, threads, schemes on one node, on Gigabit, and on machines that are simulated."""

from __future__ import annotations

from wherry.study import nbody_kernels, nbody_schemes, nbody_simulated, nbody_threads, nbody_traces
from wherry.study.frame import Study

STUDY = Study(
    "nbody",
    "where a direct n-body solver's time goes, and which way to divide its work wins where",
    (
        nbody_kernels.PART,
        nbody_threads.PART,
        nbody_schemes.NODE,
        nbody_schemes.GIGABIT,
        nbody_traces.PART,
        nbody_simulated.SCHEMES,
        nbody_simulated.HYBRID,
    ),
    options=("--mpi", "--hosts", "--launches"),
)
