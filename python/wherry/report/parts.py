"""What all sections of the page are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from wherry import units
from wherry.analysis import Analysis
from wherry.analysis.record_format import KINDS
from wherry.draw.markup import Markup, table, tag

MOST_BARS = 12
MOST_ROWS = 400  # of a table in the page; report-data.json has all
WAIT_STYLE, OTHER_STYLE, IDLE_STYLE = 3, 7, 8


def section(title: str, text: str, *content: Markup) -> Markup:
    return tag("section", tag("h2", title), tag("p", text, class_="soft") if text else None, *content)


def table_and_rest(headers: Sequence[str], rows: Sequence[Sequence[Markup | str | float]]) -> list[Markup]:
    """The first rows, and the others folded away."""
    rest = rows[MOST_BARS:]
    return [
        table(headers, rows[:MOST_BARS]),
        *([numbers(headers, rest, units.plural(len(rest), "more row"))] if rest else []),
    ]


def comm_names(analysis: Analysis) -> dict[str, str]:
    """What to call each communicator, by its key: its name, with a number from the second of that name on."""
    rows = [(row.key, row.name) for row in analysis.comms]
    rows += [(use.kind.comm_key, use.comm) for use in analysis.uses]
    rows += [(decision.kind.comm_key, decision.comm) for decision in analysis.decisions]
    found: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for key, name in dict(rows).items():
        seen[name] += 1
        again = f" ({seen[name]})" if seen[name] > 1 else ""
        found[key] = f"{name}{again}" if name else key
    return found


def numbers(headers: Sequence[str], rows: Sequence[Sequence[Markup | str | float]], title: str = "numbers") -> Markup:
    """The numbers behind a picture, folded away."""
    left_out = len(rows) - MOST_ROWS
    more = tag("p", f"{left_out} more rows are in report-data.json", class_="soft") if left_out > 0 else None
    return tag("details", tag("summary", title), table(headers, rows[:MOST_ROWS]), more)


def kind_style(kind: str) -> int:
    return KINDS.index(kind) if kind in KINDS else OTHER_STYLE
