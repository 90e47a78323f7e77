"""`wherry study`: questions that take several measurements to answer, with their pictures. A study is a row here."""

from __future__ import annotations

from wherry.errors import unknown
from wherry.measure.record import Record
from wherry.study import cache, datatypes, nbody, overhead
from wherry.study.parts import Folder, Part, Study, Table, check, measured, origin

STUDIES = (cache.STUDY, nbody.STUDY, datatypes.STUDY, overhead.STUDY)


def find(name: str) -> Study:
    for study in STUDIES:
        if study.name == name:
            return study
    raise unknown("study", name, [study.name for study in STUDIES])


__all__ = ["STUDIES", "Folder", "Part", "Record", "Study", "Table", "check", "find", "measured", "origin"]
