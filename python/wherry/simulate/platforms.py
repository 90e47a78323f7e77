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
    """The host of each rank: consecutive ranks, as even as possible, larger nodes first, as plan::Shape::spread."""
    each, larger = divmod(ranks, nodes)
    sizes = [each + (node < larger) for node in range(nodes)]
    return "".join(f"node{node}\n" * size for node, size in enumerate(sizes))


def _star(_: Platform, nodes: int) -> tuple[str, int]:
    return "", nodes


def _fat_tree(platform: Platform, nodes: int) -> tuple[str, int]:
    """Full bisection: a switch has as many links up as down, except at the hosts."""
    levels = 1
    while platform.radix**levels < nodes:
        levels += 1
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
