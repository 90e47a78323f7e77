"""What a record of the demo says, in the words of the table: pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from wherry import units
from wherry.measure.record import Measurement

Verdict = Literal["faster", "slower", "no measurable difference"]

_WIDE = 100.0  # an end of an interval that says nothing
HEADERS = ("program", "MPI, ranks", "without", "with", "without / with (95%)", "result", "answers")


def interval(record: Measurement) -> tuple[float, float]:
    summary = record.samples[0]
    return summary["low"], summary["high"]


def verdict(record: Measurement) -> Verdict:
    low, high = interval(record)
    return "faster" if low > 1 else "slower" if high < 1 else "no measurable difference"


def cells(record: Measurement) -> tuple[str, ...]:
    """Of a row that was measured, under HEADERS."""
    assert record.baseline is not None
    return (
        record["title"],
        f"{record['library']}, {record['where']}",
        units.seconds(record.baseline),
        units.seconds(record.value),
        ratio(record),
        verdict(record),
        f"{record['answers_equal']} equal",
    )


def did(record: Measurement) -> list[str]:
    """What Wherry did in the last run."""
    return record["did"] or ["nothing but recording"]


def ratio(record: Measurement) -> str:
    low, high = interval(record)
    return f"{record.ratio:.2f} ({low:.2f} to {high:.2f})" if high < _WIDE else f"{record.ratio:.2f} ({low:.2f} to ...)"


def measured(records: Sequence[Measurement]) -> list[Measurement]:
    return [record for record in records if record.ratio is not None]


def rounds(record: Measurement) -> int:
    return int(record.samples[0]["rounds"])


def left_out(records: Sequence[Measurement], why: str) -> list[str]:
    """Rows that were "skipped" or "failed", with the reason."""
    rows = [record for record in records if why in record.excluded]
    return [f"{row['title']}, {row.mpi}, {row['where']}: {row.excluded[why]}" for row in rows]


def conclusion(records: Sequence[Measurement]) -> str:
    failed, rows = left_out(records, "failed"), measured(records)
    if failed:
        return f"{len(failed)} of {len(failed) + len(rows)} programs failed"
    verdicts = [verdict(record) for record in rows]
    words = [f"{verdicts.count(word)} {word}" for word in dict.fromkeys(verdicts)]
    answers = sum(record["answers_equal"] for record in rows)
    return f"with Wherry: {', '.join(words)}; all {answers} answers equal" if rows else "nothing could run"
