"""What a comparison says: tables and sentences for people, records for JSON."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from wherry import units
from wherry.compare.effects import effects
from wherry.compare.launching import COUNTERS
from wherry.compare.levers import ALGORITHMS, OPERATIONS, Lever
from wherry.compare.ratios import MOST_ROUNDS, STATISTIC, Ratio
from wherry.compare.rounds import EVERYTHING, NATIVE, PROGRAM, WALL, Comparison, without
from wherry.provenance import commit, machine

_TITLES = {WALL: "wall time", PROGRAM: "program's time", **COUNTERS}
_WORDS = {WALL: "wall time", PROGRAM: "time that the program prints"}
_WIDE = 1000.0
_SECONDS, _BYTES = (WALL, "user_s", "system_s"), ("peak_bytes",)


def show(console: Console, result: Comparison) -> None:
    for line in head(result):
        console.print(escape(line), highlight=False, soft_wrap=True)
    console.print(_measures(result))
    if result.experiment.why:
        console.print(_levers(result))
    for line in sentences(result):
        console.print(escape(line), highlight=False, soft_wrap=True)


def head(result: Comparison) -> Iterator[str]:
    where = f"{units.plural(result.ranks, 'rank')} of {result.mpi}, " if result.ranks else ""
    rounds = units.plural(result.experiment.rounds, "round")
    yield f"{where}{rounds}, in random order in each (--seed {result.experiment.seed})"
    if not result.reached:
        yield "warning: no rank recorded anything: if profiling is on, Wherry did not reach the program"


def interval(ratio: Ratio | None) -> str:
    if ratio is None:
        return "-"
    high = f"{ratio.high:.3f}" if ratio.high < _WIDE else "more than 1000"
    return f"{ratio.value:.3f} ({ratio.low:.3f} to {high})"


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right", no_wrap=True)
    return table


def _measures(result: Comparison) -> Table:
    table = _table("geometric means", NATIVE, EVERYTHING, f"{NATIVE} / {EVERYTHING} (95%)")
    timed = (PROGRAM,) if result.experiment.reading.time else ()
    for key in (WALL, *timed, *COUNTERS):
        means = (_value(key, result.mean(variant, key)) for variant in (NATIVE, EVERYTHING))
        table.add_row(_TITLES[key], *means, interval(result.ratio(key)))
    return table


def _value(key: str, value: float) -> str:
    if key in _SECONDS:
        return units.seconds(value)
    return units.bytes_(value) if key in _BYTES else f"{value:.4g}" if key == PROGRAM else units.count(round(value))


def _levers(result: Comparison) -> Table:
    key = result.measure
    table = _table(_TITLES[key], f"{NATIVE} / this (95%)", "the lever's own factor (95% together)")
    table.add_row("with everything", interval(result.ratio(key)), "")
    for lever in result.left_out:
        ratio = result.ratio(key, without(lever))
        table.add_row(escape(without(lever)), interval(ratio), interval(result.worth(lever)))
    return table


def sentences(result: Comparison) -> Iterator[str]:
    if result.experiment.reading.answer:
        yield f"answers: all {result.answers} runs equal"
    else:
        yield "answers: not compared (--answer REGEX)"
    yield from did(result)
    yield verdict(result)
    if result.experiment.why:
        yield reason(result)
    elif (ratio := result.ratio(result.measure)) and ratio.differs:
        yield "--why tells which part of Wherry made the difference"


def did(result: Comparison) -> Iterator[str]:
    if result.analysis is not None:
        yield from (f"what Wherry did: {line}" for line in effects(result) or ["nothing but recording"])


def verdict(result: Comparison) -> str:
    ratio = result.ratio(result.measure)
    assert ratio is not None  # times are above 0
    what = _WORDS[result.measure]
    if ratio.differs:
        word, share = ("less", 1 - 1 / ratio.value) if ratio.low > 1 else ("more", 1 / ratio.value - 1)
        bounds = sorted(abs(1 - 1 / end) for end in (ratio.low, ratio.high))
        span = " to ".join(f"{100 * bound:.1f}" for bound in bounds)
        return f"with Wherry {100 * share:.1f}% {word} {what} (95%: {span}%)"
    return f"no measurable difference in {what}: the interval holds 1; {_settling(result)}"


def _settling(result: Comparison) -> str:
    needed = result.needed()
    if needed is None:
        return f"not even {MOST_ROUNDS} rounds would settle a ratio so close to 1"
    so_far = result.experiment.rounds
    more = max(needed - so_far, 1)
    rounds = units.plural(more, "more round")
    return f"about {rounds} (-n {so_far + more}) would settle it if the ratio is what it seems to be"


def reason(result: Comparison) -> str:
    """Names the levers whose own factor differs from 1."""
    factors = [(lever, result.worth(lever)) for lever in result.left_out]
    wins = [f"{lever.name} ({ratio.value:.2f})" for lever, ratio in factors if ratio.low > 1]
    costs = [f"{lever.name} ({ratio.value:.2f})" for lever, ratio in factors if ratio.high < 1]
    if not wins and not costs:
        return "no measurable difference from leaving out any single lever"
    parts = [f"made it faster: {', '.join(wins)}"] if wins else []
    parts += [f"made it slower: {', '.join(costs)}"] if costs else []
    return "; ".join(parts) + _not_the_algorithms(factors)


def _not_the_algorithms(factors: Sequence[tuple[Lever, Ratio]]) -> str:
    """Where collectives as a whole matter and no choice of an algorithm does, something else in them is at work."""
    algorithms = [ratio for lever, ratio in factors if lever is ALGORITHMS or lever in OPERATIONS]
    whole = any(lever.name == "collectives" and ratio.differs for lever, ratio in factors)
    if not whole or not algorithms or any(ratio.differs for ratio in algorithms):
        return ""
    return ". It is not the algorithm of any collective; perhaps how they wait, or memory: see 'waiting', 'memory'"


def records(result: Comparison, command: Sequence[str], network: str) -> list[dict[str, Any]]:
    """As those of `wherry bench`: one for each time and variant; the samples of all variants are in the first."""
    same = {
        "bench": "compare", "case": shlex.join(command), "mpi": result.mpi, "ranks": result.ranks,
        "network": network, "machine": machine(), "commit": commit(), "statistic": STATISTIC,
        "seed": result.experiment.seed, "answers_equal": result.answers,
    }  # fmt: skip
    found = [
        {
            **same,
            "metric": _WORDS[key],
            "unit": "s" if key == WALL else "as printed",
            **_numbers(result, key, variant),
            "samples": [],
        }
        for key in ([WALL, PROGRAM] if result.experiment.reading.time else [WALL])
        for variant in result.variants
        if variant != NATIVE
    ]
    found[0]["samples"] = [sample.data() for sample in result.samples]
    return found


def _numbers(result: Comparison, key: str, variant: str) -> dict[str, Any]:
    ratio = result.ratio(key, variant)
    interval = ratio.data() if ratio else {"ratio": None}
    return {
        "variant": variant,
        "value": result.mean(variant, key),
        "baseline": result.mean(NATIVE, key),
        **interval,
        "counters": {name: [result.mean(NATIVE, name), result.mean(variant, name)] for name in COUNTERS},
    }
