"""Derived datatypes: eight schemes to send strided data and three more, and halos of three programs."""

from __future__ import annotations

from wherry.study.datatypes import experiment, matrix
from wherry.study.parts import Study

STUDY = Study(
    "datatypes",
    "what non-contiguous data cost by each mechanism of MPI, and under Wherry",
    (*experiment.PARTS, matrix.PART),
)
