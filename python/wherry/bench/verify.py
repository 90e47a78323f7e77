"""How long does it take to prove every strategy right for P = 1..128 and ragged nodes?"""

from __future__ import annotations

import time

from wherry.measure.harness import Setup
from wherry.measure.record import Measurement
from wherry.schedule import plan

OPTIONS = ()
GOAL_S = 60.0


def run(setup: Setup) -> list[Measurement]:
    most = 32 if setup.quick else 128
    setup.progress(f"P = 1..{most}", 0, 1)
    start = time.perf_counter()
    plan.ask(["verify", "--max", str(most)])
    seconds = time.perf_counter() - start
    return [
        Measurement(
            bench="verify",
            case=f"all strategies, P = 1..{most}",
            metric="time to verify",
            unit="s",
            value=seconds,
            baseline=None,
            ratio=None,
            mpi="none",
            ranks=most,
            samples=[{"launch": 0, "wherry": [seconds]}],
            statistic="one run",
            goal="" if setup.quick else f"<= {GOAL_S:.0f} s",
            reached=None if setup.quick else seconds <= GOAL_S,
        )
    ]
