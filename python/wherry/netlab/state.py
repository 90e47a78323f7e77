"""What is known of clusters beyond the processes that made them: numbers, owners, and how to remove one."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from wherry.files import write_whole
from wherry.netlab.system import NetlabError, attempt

STATE = Path("/run/wherry-netlab")
MOST_CLUSTERS = 250


@dataclass(frozen=True)
class State:
    """What is known of a cluster beyond the process that made it."""

    number: int
    hosts: int
    rate: str
    owner: int | None  # process; None: stays until `netlab down`
    owner_start: int  # when that process started, in clock ticks: process numbers come again

    @property
    def folder(self) -> Path:
        return STATE / str(self.number)

    def orphaned(self) -> bool:
        return self.owner is not None and _start_of(self.owner) != self.owner_start

    def is_there(self) -> bool:
        """Whether this cluster, and no newer one of its number, has not been removed. Its rate may have changed."""
        found = read_state(self.folder)
        return found is not None and replace(found, rate=self.rate) == self


def clusters() -> list[State]:
    """All clusters that are up or were left behind."""
    return [state for state in map(read_state, sorted(STATE.glob("[0-9]*"))) if state is not None]


def remove_leftovers() -> list[int]:
    """Removes clusters whose owner has ended; returns their numbers."""
    orphans = [state for state in clusters() if state.orphaned()]
    for state in orphans:
        remove(state)
    return [state.number for state in orphans]


def reserve(hosts: int, rate: str, owner: int | None) -> int:
    """Takes the first free number, atomically: a full folder cannot be renamed onto another."""
    STATE.mkdir(mode=0o755, exist_ok=True)
    start = 0 if owner is None else _start_of(owner) or 0
    for number in range(1, MOST_CLUSTERS + 1):
        # A bridge without a state here belongs to a container that shares this machine's network.
        if (STATE / str(number)).exists() or Path(f"/sys/class/net/wh{number}br").exists():
            continue
        draft = Path(tempfile.mkdtemp(prefix=".new-", dir=STATE))
        draft.chmod(0o755)
        (draft / "state.json").write_text(json.dumps(asdict(State(number, hosts, rate, owner, start))))
        try:
            draft.rename(STATE / str(number))
        except OSError:
            shutil.rmtree(draft, ignore_errors=True)
            continue
        return number
    raise NetlabError(f"{MOST_CLUSTERS} clusters are up already; remove some: tools/netlab down --all")


def note_rate(number: int, rate: str) -> None:
    """Keeps what the links of a cluster are limited to now. Nothing, if the cluster is being removed."""
    with (STATE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        state = read_state(STATE / str(number))
        if state is not None:
            write_whole(state.folder / "state.json", json.dumps(asdict(replace(state, rate=rate))))


def read_state(folder: Path) -> State | None:
    """None: no cluster, or one that is being made."""
    try:
        return State(**json.loads((folder / "state.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None


def remove(state: State) -> None:
    """Removes whatever there is of a cluster; what is gone already is no error. The state goes last.

    Several may try: its owner, its reaper and whoever makes the next one. Only one removes it, and nobody removes
    a newer cluster that has its number.
    """
    with (STATE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not state.is_there():
            return
        for name in _namespaces(state.number):
            end_processes(name)
            attempt("ip", "netns", "del", name)
        for link in _links(state.number):
            attempt("ip", "link", "del", link)
        shutil.rmtree(state.folder, ignore_errors=True)


def _namespaces(number: int) -> list[str]:
    folder = Path("/run/netns")
    return sorted(path.name for path in folder.glob(f"wh{number}h[0-9]*"))


def _links(number: int) -> list[str]:
    folder = Path("/sys/class/net")
    return sorted(path.name for path in (*folder.glob(f"wh{number}v[0-9]*"), *folder.glob(f"wh{number}br")))


def end_processes(namespace: str) -> None:
    """Kills what runs in a namespace, which only this cluster can have started, and waits until it is gone."""
    deadline = time.monotonic() + 5
    while pids := attempt("ip", "netns", "pids", namespace).split():
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        if time.monotonic() > deadline:
            return
        time.sleep(0.01)


def _start_of(pid: int) -> int | None:
    """When a process started, in clock ticks since the machine did; None if there is no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # the name before it may hold anything
    return None if fields[0] == "Z" else int(fields[19])
