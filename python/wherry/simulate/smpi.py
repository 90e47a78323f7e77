"""Runs programs that were built for SimGrid's SMPI: all ranks in one process, their clock the simulated one."""

from __future__ import annotations

import json
import os
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
    # For what the program does before and after it measures: other algorithms take long to set up.
    "smpi/allreduce": "rdb",
}
PROGRAM = "collective"


_LOOK_S = 0.25  # between looks at how long a simulation has been computing


class TimeLimit(WherryError):
    """The simulation itself took too long."""


class SimulationFailed(WherryError):
    """The simulated program did not end well."""


@dataclass(frozen=True)
class Machine:
    """Ranks on a platform, spread over nodes."""

    platform: Platform
    ranks: int
    per_node: int

    @property
    def nodes(self) -> int:
        return -(-self.ranks // self.per_node)

    def constants(self) -> str:
        return self.platform.constants(self.nodes)


def why_missing() -> str:
    """Why nothing can be simulated here; empty if something can."""
    if _smpimain() is None:
        return "SimGrid is not there; install it (as root: apt-get install libsimgrid-dev), then: make all"
    if not paths.simulation_program(PROGRAM).exists():
        return "Wherry was built before SimGrid was there; run `make all`"
    return ""


def run(
    machine: Machine, program: str, args: Sequence[str], options: dict[str, str], limit_s: float | None
) -> dict[str, Any]:
    """The one JSON object that the program prints. Raises TimeLimit after limit_s seconds of computing."""
    return _answer(launch(machine, program, args, options, limit_s))


def launch(
    machine: Machine, program: str, args: Sequence[str], options: dict[str, str], limit_s: float | None
) -> subprocess.CompletedProcess[str]:
    """Raises TimeLimit after limit_s seconds of computing."""
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
        return _run([*command, str(platform), *args], limit_s)


def _run(command: list[str], limit_s: float | None) -> subprocess.CompletedProcess[str]:
    """Counts the processor's time: how busy the machine is besides must not decide what is simulated to its end."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while True:
            try:
                out, err = process.communicate(timeout=_LOOK_S)
                return subprocess.CompletedProcess(command, process.returncode, out, err)
            except subprocess.TimeoutExpired:
                if limit_s is None or _cpu_seconds(process.pid) <= limit_s:
                    continue
            except BaseException:
                process.kill()
                raise
            process.kill()
            raise TimeLimit(f"stopped after {limit_s:g} s of computing")


def _cpu_seconds(pid: int) -> float:
    """0 if the process is gone."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")


def _answer(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or len(lines) != 1:
        raise failure(done)
    answer: dict[str, Any] = json.loads(lines[0])
    return answer


def failure(done: subprocess.CompletedProcess[str]) -> SimulationFailed:
    last = "\n".join((done.stderr or done.stdout).strip().splitlines()[-8:])
    return SimulationFailed(f"the simulation ended with code {done.returncode} and no result:\n{last}".rstrip(":\n"))


def _smpimain() -> str | None:
    """Debian keeps it out of the way; smpirun, its shell script, adds nothing that is needed here."""
    found = sorted(Path("/usr/lib").glob("*/simgrid/smpimain"))
    return str(found[0]) if found else shutil.which("smpimain")
