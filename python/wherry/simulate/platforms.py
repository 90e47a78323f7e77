"""Simulated machines: one TOML file each in platforms/, generated as SimGrid platforms of any size."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wherry import paths
from wherry.errors import UsageError, WherryError, unknown


@dataclass(frozen=True)
class Platform:
    """What a file in platforms/ says; bandwidths and latencies in SimGrid's own notation, such as 125MBps and 20us."""

    name: str
    summary: str
    ranks_per_node: int
    topology: str
    link_bandwidth: str
    link_latency: str
    radix: int  # of a fat tree: links down from each switch
    node_bandwidth: str
    node_latency: str
    copy_bytes_per_s: float
    overhead_s: float  # of a message, at each end

    def xml(self, nodes: int) -> str:
        """A SimGrid platform with at least so many hosts."""
        extra, hosts = _TOPOLOGIES[self.topology](self, nodes)
        return (
            "<?xml version='1.0'?>\n"
            '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
            '<platform version="4.1">\n'
            f'  <cluster id="{self.name}" prefix="node" suffix="" radical="0-{hosts - 1}" speed="1Gf"\n'
            f'           bw="{self.link_bandwidth}" lat="{self.link_latency}"{extra}\n'
            f'           loopback_bw="{self.node_bandwidth}" loopback_lat="{self.node_latency}"/>\n'
            "</platform>\n"
        )

    def constants(self, nodes: int) -> str:
        """The cost model's constants of the platform, as `wherry-plan explain --constants` takes them.

        A message costs its overhead at both ends; links are shared evenly; messages of any size wait for a receiver.
        """
        message_s = 2 * self.overhead_s
        values = {
            "alpha_within": message_s,
            "alpha_between": message_s,
            "beta_within": 1 / figure_of(self.node_bandwidth),
            "beta_between": 1 / figure_of(self.link_bandwidth),
            "gamma": 1 / self.copy_bytes_per_s,
            "latency_within": figure_of(self.node_latency),
            "latency_between": _links(self, nodes) * figure_of(self.link_latency),
            "rendezvous": 1.0,
            "congestion": 0.0,
        }
        return ",".join(f"{name}={value:.12g}" for name, value in values.items())

    def options(self) -> dict[str, str]:
        """SMPI's settings: what a message costs its ranks, and the links' figures as they stand."""
        overhead = f"0:{self.overhead_s:g}:0"
        return {
            "smpi/os": overhead,
            "smpi/ois": overhead,
            "smpi/or": overhead,
            "smpi/bw-factor": "0:1.0",
            "smpi/lat-factor": "0:1.0",
        }


def host_list(ranks: int, nodes: int) -> str:
    """The host of each rank: consecutive ranks, as even as possible, larger nodes first, as Placement::spread."""
    each, larger = divmod(ranks, nodes)
    sizes = [each + (node < larger) for node in range(nodes)]
    return "".join(f"node{node}\n" * size for node, size in enumerate(sizes))


_UNITS = {"MBps": 1e6, "GBps": 1e9, "us": 1e-6, "ns": 1e-9}


def figure_of(text: str) -> float:
    """Of "125MBps": 125e6. Raises ValueError for units that are not in the table."""
    for unit, value in _UNITS.items():
        if text.endswith(unit):
            return float(text.removesuffix(unit)) * value
    raise ValueError(f"'{text}' has none of the units {', '.join(_UNITS)}")


def _levels(platform: Platform, nodes: int) -> int:
    """Of switches in a fat tree."""
    levels = 1
    while platform.radix**levels < nodes:
        levels += 1
    return levels


def _links(platform: Platform, nodes: int) -> int:
    """Between the two nodes that are furthest apart."""
    return 2 * (_levels(platform, nodes) if platform.topology == "fat_tree" else 1)


def _star(_: Platform, nodes: int) -> tuple[str, int]:
    return "", nodes


def _fat_tree(platform: Platform, nodes: int) -> tuple[str, int]:
    """Full bisection: a switch has as many links up as down, except at the hosts."""
    levels = _levels(platform, nodes)
    down = ",".join([str(platform.radix)] * levels)
    up = ",".join(["1"] + [str(platform.radix)] * (levels - 1))
    cables = ",".join(["1"] * levels)
    return f' topology="FAT_TREE" topo_parameters="{levels};{down};{up};{cables}"', platform.radix**levels


_TOPOLOGIES = {"star": _star, "fat_tree": _fat_tree}


def names() -> list[str]:
    return sorted(path.stem for path in paths.platforms().glob("*.toml"))


def find(name: str) -> Platform:
    known = names()
    if not known:
        raise WherryError(f"no platforms in {paths.platforms()}: Wherry is not built here; run `make build`")
    if name not in known:
        raise unknown("platform", name, known)
    return read(paths.platforms() / f"{name}.toml")


def read(path: Path) -> Platform:
    """Raises UsageError if the file is no platform."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        platform = _platform(path.stem, data)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path} is no platform ({error}); compare it with another one in its folder") from error
    if platform.topology not in _TOPOLOGIES:
        raise unknown("topology", platform.topology, _TOPOLOGIES)
    return platform


def _platform(name: str, data: dict[str, Any]) -> Platform:
    links, node = data["links"], data["node"]
    for figure in (links["bandwidth"], links["latency"], node["bandwidth"], node["latency"]):
        figure_of(str(figure))
    return Platform(
        name=name,
        summary=str(data["summary"]),
        ranks_per_node=int(data["ranks_per_node"]),
        topology=str(links["topology"]),
        link_bandwidth=str(links["bandwidth"]),
        link_latency=str(links["latency"]),
        radix=int(links.get("radix", 0)),
        node_bandwidth=str(node["bandwidth"]),
        node_latency=str(node["latency"]),
        copy_bytes_per_s=float(node["copy_bytes_per_s"]),
        overhead_s=float(data["message"]["overhead_s"]),
    )
