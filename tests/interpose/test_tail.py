"""A collective whose time is in its tail: what is kept is chosen by means.

The tail is a tool's between Wherry and the library, the same on every machine; choices are counted, no time is.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from conftest import Launcher
from preloading import PROGRESSED, compile_program, records_in

from wherry.analysis import analyse
from wherry.analysis.record import read_all, text

RANKS = 2
#: An upper bound: native calls cost 10 ms each, so that the run is long only where the tail is noticed late.
CALLS = 10_000


@pytest.mark.parametrize("mpi", PROGRESSED, indirect=True)
def test_a_tail_is_noticed(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    program = compile_program(mpi, "sums.c", tmp_path / "sums")
    tail = compile_program(mpi, "tail.c", tmp_path / "tail.so", ["-shared", "-fPIC"])
    out = tmp_path / "out"
    out.mkdir()
    env = {"WHERRY_OUTPUT": str(out), "WHERRY_WAIT": "spin", "LD_PRELOAD": f"{preload}:{tail}"}
    done = mpi.run([program, str(CALLS)], RANKS, env, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    uses = [used_of(record.tables["uses"]) for record in records_in(out)]
    assert len(uses) == RANKS
    assert all(used == uses[0] for used in uses), "ranks chose differently"
    native = uses[0].pop("native", 0)
    # Where other work takes the cores, calls of any algorithm take some milliseconds, so that it is noticed later: the
    # tail has to be several times as much as that.
    assert native < CALLS / 2, (
        f"{native} native calls of {CALLS}, each eighth of which takes 80 ms; the others: {uses[0]}"
    )
    # Each native stretch costs 10 ms a call, of which the trial may spend 2% of the run: it may stay open.
    gains = analyse(read_all(out)).gains
    assert gains and all(row.verdict != "native" for row in gains)


def used_of(rows: object) -> Counter[str]:
    counts: Counter[str] = Counter()
    for row in rows:  # type: ignore[attr-defined]
        counts[text(row["strategy"])] += int(row["calls"])
    return counts
