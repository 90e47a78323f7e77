"""`wherry study`: questions that take several measurements to answer, with their pictures. A study is a row here."""

from __future__ import annotations

from wherry.errors import unknown
from wherry.measure.record import Measurement
from wherry.study import cache, datatypes, nbody, overhead
from wherry.study.parts import Folder, Study, StudyPart, StudyTable, check, measured, provenance

STUDIES = (cache.STUDY, nbody.STUDY, datatypes.STUDY, overhead.STUDY)


def find(name: str) -> Study:
    for study in STUDIES:
        if study.name == name:
            return study
    raise unknown("study", name, [study.name for study in STUDIES])


__all__ = [
    "STUDIES",
    "Folder",
    "Measurement",
    "Study",
    "StudyPart",
    "StudyTable",
    "check",
    "find",
    "measured",
    "provenance",
]
