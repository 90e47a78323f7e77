"""Fixtures of the tests of simulations."""

from __future__ import annotations

import pytest
from command_line import Invoke

from wherry.simulate import smpi


@pytest.fixture
def simgrid() -> None:
    """Skips where nothing can be simulated."""
    if why := smpi.why_missing():
        pytest.skip(why)


@pytest.fixture
def simulation(invoke: Invoke) -> Invoke:
    """simulation("alltoall", ...): the command `wherry simulate alltoall ...`."""
    return lambda *words: invoke("simulate", *words)
