"""How calls waited and what malloc did with freed memory, as the summary says it."""

from __future__ import annotations

from wherry.analysis import Analysis, freed_memory, polling
from wherry.draw.markup import Markup, tag
from wherry.report.parts import section


def waiting_and_memory(analysis: Analysis) -> Markup:
    said = [*polling.sentences(analysis), *freed_memory.sentences(analysis)]
    if not said:
        return Markup()
    return section("Waiting and memory", "", tag("ul", *(tag("li", line) for line in said)))
