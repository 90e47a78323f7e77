"""What the source says, and what its experiment says today: each statement a function of one library's records.

The source: V. Eijkhout, "Performance of MPI derived types" (2018), on Skylake, Knights Landing and Cray XC40 nodes.
Sizes count from 10 kB on, where the messages are not all latency; "as fast" allows 10%, and a figure is the median over
sizes unless it says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from wherry.measure.record import Measurements, only, values
from wherry.study.datatypes.schemes import (
    REFERENCE,
    SCHEMES,
    at_least,
    bandwidth,
    by_size,
    median,
    quotients,
    slowdown,
)
from wherry.study.parts import StudyTable, in_words

AS_FAST = 1.10
#: From where on the source's plots are not all latency, and where memory is what counts.
COUNTED, LARGE = 10_000, 1_000_000


@dataclass(frozen=True)
class Answer:
    holds: bool
    figure: str

    def words(self, quick: bool) -> str:
        verdict = in_words(None) if quick else "holds" if self.holds else "no"
        return f"{verdict}: {self.figure}"


@dataclass(frozen=True)
class Statement:
    claim: str
    figure: str  # what is told beside the answer
    answer: Callable[[Measurements], Answer]


def copying_costs_three(records: Measurements) -> Answer:
    """Three is what the source expects: 2N read, N written, N read and sent, instead of N."""
    found = median(at_least({size: slowdown(row) for size, row in by_size(records, "copy").items()}, LARGE))
    return Answer(2.5 <= found <= 3.5, f"{found:.1f}")


def derived_types_cost_nothing(records: Measurements) -> Answer:
    """Both types, against copying by hand."""
    found = [median(at_least(quotients(records, name, "copy"), COUNTED)) for name in ("vector", "subarray")]
    return Answer(max(found) <= AS_FAST, ", ".join(f"{each:.2f}" for each in found))


def nothing_beats_copying(records: Measurements) -> Answer:
    """The best of the source's other schemes, whichever that is at a size."""
    others = [name for name in SCHEMES if name not in (REFERENCE, "copy")]
    found = [quotients(records, name, "copy") for name in others]
    best = {size: min(each[size] for each in found if size in each) for size in by_size(records, "copy")}
    figure = median(at_least(best, COUNTED))
    return Answer(figure >= 1 / AS_FAST, f"{figure:.2f}")


def packing_a_type_is_as_fast(records: Measurements) -> Answer:
    found = median(at_least(quotients(records, "pack vector", "copy"), COUNTED))
    return Answer(found <= AS_FAST, f"{found:.2f}")


def one_sided_is_limited(records: Measurements) -> Answer:
    """In how many of the sizes it is as fast as copying by hand: not in all. It may have taken too long in some."""
    found, sizes = quotients(records, "one-sided", "copy"), by_size(records, "copy")
    fast = sum(each <= AS_FAST for each in found.values())
    return Answer(fast < len(sizes), f"{fast} of {len(sizes)} sizes")


def elements_are_slow(records: Measurements) -> Answer:
    found = median(at_least(quotients(records, "pack elements", "pack vector"), COUNTED))
    return Answer(found >= 3, f"{found:.1f}")


def large_ones_lose(records: Measurements) -> Answer:
    """Of the source's schemes those whose bandwidth at the largest size is less than 80% of their best."""
    lost = 0
    for name in SCHEMES:
        rates = {size: bandwidth(row) for size, row in by_size(records, name).items()}
        lost += rates[max(rates)] < 0.8 * max(rates.values()) if rates else 0
    return Answer(lost == len(SCHEMES), f"{lost} of {len(SCHEMES)} schemes")


def buffering_solves_nothing(records: Measurements) -> Answer:
    """Against the plain send of the same type, where messages are large."""
    found = median(at_least(quotients(records, "buffered", "vector"), LARGE))
    return Answer(found >= 1 / AS_FAST, f"{found:.2f}")


STATEMENTS = (
    Statement("copying by hand costs three contiguous sends", "x contiguous, from 1 MB on", copying_costs_three),
    Statement(
        "derived types have no intrinsic penalty", "vector, subarray / copied by hand", derived_types_cost_nothing
    ),
    Statement("nothing beats copying by hand", "the best other / copied by hand", nothing_beats_copying),
    Statement("packing a derived type is as fast", "packed vector / copied by hand", packing_a_type_is_as_fast),
    Statement("one-sided transfers are of limited use", "as fast as copying by hand in", one_sided_is_limited),
    Statement("packing element by element is slow", "packed elements / packed vector", elements_are_slow),
    Statement("buffering affects all schemes at large sizes", "below 80% of their best rate", large_ones_lose),
    Statement("a buffered send solves nothing", "buffered / plain vector, from 1 MB on", buffering_solves_nothing),
)


def tabulate(records: Measurements) -> StudyTable:
    """A row for each statement, a column for each library."""
    mpis, quick = values(records, "mpi"), any(row["quick"] for row in records)
    rows = [
        (each.claim, each.figure, *(each.answer(only(records, mpi=mpi)).words(quick) for mpi in mpis))
        for each in STATEMENTS
    ]
    return StudyTable(("the source", "figure", *mpis), rows)
