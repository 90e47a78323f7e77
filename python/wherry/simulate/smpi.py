"""Runs programs that were built for SimGrid's SMPI: all ranks in one process, their clock the simulated one."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wherry import paths
from wherry.errors import WherryError
from wherry.simulate.platforms import Platform, host_list

#: Beside the platform's own. The clock stands still while a rank computes or asks for the time, so times are exact.
_OPTIONS = {
    "network/model": "SMPI",
    "surf/precision": "1e-9",
    "smpi/simulate-computation": "no",
    "smpi/host-speed": "1Gf",
    "smpi/wtime": "0",
    # A message leaves when its receiver is ready: rounds of exchanges stay in step.
    "smpi/async-small-thresh": "0",
    # The programs have no mutable globals; a copy of them per rank would cost a gigabyte at 1024 ranks.
    "smpi/privatization": "no",
    # For what programs do before and after they measure: other algorithms take long to set up.
    "smpi/allreduce": "rdb",
}


class TimeLimit(WherryError):
    """The simulation itself took too long."""


@dataclass(frozen=True)
class Machine:
    """Ranks on a platform, spread over nodes."""

    platform: Platform
    ranks: int
    per_node: int

    @property
    def nodes(self) -> int:
        return -(-self.ranks // self.per_node)


def why_missing() -> str:
    """Why nothing can be simulated here; empty if something can."""
    if _smpimain() is None:
        return "SimGrid is not there; install it (as root: apt-get install libsimgrid-dev), then: make build"
    if not paths.simulation_program("alltoall").exists():
        return "Wherry was built before SimGrid was there; run `make build`"
    return ""


def run(
    machine: Machine, program: str, args: Sequence[str], options: dict[str, str], limit_s: float | None
) -> dict[str, Any]:
    """The one JSON object that the program prints. Raises TimeLimit after limit_s seconds of this machine's time."""
    smpimain = _smpimain()
    if smpimain is None:
        raise WherryError(why_missing())
    with tempfile.TemporaryDirectory(prefix="wherry-") as folder:
        platform, hosts = Path(folder, "platform.xml"), Path(folder, "hosts")
        platform.write_text(machine.platform.xml(machine.nodes))
        hosts.write_text(host_list(machine.ranks, machine.nodes))
        settings = {"smpi/np": str(machine.ranks), "smpi/hostfile": str(hosts), "smpi/tmpdir": folder}
        settings |= _OPTIONS | machine.platform.options() | options
        command = [smpimain, str(paths.built(paths.simulation_program(program))), "--log=root.thres:error"]
        command += [f"--cfg={name}:{value}" for name, value in settings.items()]
        try:
            done = subprocess.run([*command, str(platform), *args], capture_output=True, text=True, timeout=limit_s)
        except subprocess.TimeoutExpired as error:
            raise TimeLimit(f"stopped after {limit_s:.0f} s") from error
    return _answer(done)


def _answer(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or len(lines) != 1:
        last = "\n".join((done.stderr or done.stdout).strip().splitlines()[-8:])
        raise WherryError(f"the simulation ended with code {done.returncode} and no result:\n{last}")
    answer: dict[str, Any] = json.loads(lines[0])
    return answer


def _smpimain() -> str | None:
    """Debian keeps it out of the way; smpirun, its shell script, adds nothing that is needed here."""
    found = sorted(Path("/usr/lib").glob("*/simgrid/smpimain"))
    return str(found[0]) if found else shutil.which("smpimain")
