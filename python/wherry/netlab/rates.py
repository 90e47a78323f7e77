"""Rates of links, as tc(8) writes them: what a user gives is validated here, before anything is made."""

from __future__ import annotations

import re

from wherry.netlab.system import NetlabError

LEAST_BITS_PER_S = 1000  # below it tc's bucket never fills a packet in time

_RATE = re.compile(r"(\d+(?:\.\d+)?)([kmgt]?)(i?)(bit|bps|)", re.IGNORECASE)
_PREFIXES = "kmgt"


def checked(rate: str) -> str:
    """The rate itself; empty: no limit. Raises NetlabError for what is none."""
    found = _RATE.fullmatch(rate)
    if rate and (found is None or bits_per_s(found) < LEAST_BITS_PER_S):
        raise NetlabError(
            f"'{rate}' is no rate of a link; write a number with kbit, mbit or gbit, such as 100mbit (at least 1kbit)"
        )
    return rate


def bits_per_s(found: re.Match[str]) -> float:
    number, prefix, binary, unit = found.groups()
    scale = (1024.0 if binary else 1000.0) ** (_PREFIXES.find(prefix.lower()) + 1 if prefix else 0)
    return float(number) * scale * (8 if unit.lower() == "bps" else 1)
