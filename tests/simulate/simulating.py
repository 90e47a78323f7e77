"""What the tests of simulations share."""

from __future__ import annotations

from wherry import simulate
from wherry.simulate import catalog, collective, smpi
from wherry.simulate.collective import Outcome


def outcomes(
    name: str, platform: str, ranks: int, size: int, strategies: list[str], per_node: int | None = None
) -> list[Outcome]:
    request = simulate.request(name, platform, ranks, per_node)
    request.sizes, request.strategies = [size], strategies
    return simulate.run(request).outcomes


def strategies_for(name: str, machine: smpi.Machine) -> list[str]:
    found = catalog.find(name)
    assert found is not None
    return [str(row["name"]) for row in collective.model(found, machine, 64)["candidates"]]
