"""`wherry simulate`: the same schedules and the same executor on a machine that SimGrid's SMPI imagines.

Simulated times are exact and repeatable: they depend on the schedule and on the platform's figures, on no clock of this
machine.
"""

from __future__ import annotations

from wherry.errors import WherryError, unknown
from wherry.simulate import application, catalog, platforms, smpi
from wherry.simulate.catalog import NAMES
from wherry.simulate.collective import LIMIT_S, Request, cases, records, run


def request(name: str, platform: str, ranks: int, per_node: int | None = None) -> Request:
    """A request with its names looked up. Raises if one is unknown, or if nothing can be simulated here."""
    collective = catalog.find(name)
    if collective is None:
        raise unknown("simulation", name, (*NAMES, *application.NAMES))
    found = platforms.find(platform)
    if why := smpi.why_missing():
        raise WherryError(f"cannot simulate: {why}")
    machine = smpi.Machine(found, ranks, min(per_node or found.ranks_per_node, ranks))
    return Request(collective, machine, collective.sizes)


__all__ = ["LIMIT_S", "NAMES", "Request", "application", "cases", "records", "request", "run"]
