"""One run of a program: started with or without Wherry, its output read, its use of the machine measured."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wherry import paths
from wherry.errors import WherryError
from wherry.netlab import Cluster, commands
from wherry.run import launch

_MEASURED = Path(__file__).with_name("measured.py")
_PATIENCE_S = 3.0  # that a launcher has to take its ranks with it
#: Of a run, besides its times: the key in the sample, and what people call it.
COUNTERS = {
    "user_s": "CPU time, user",
    "system_s": "CPU time, system",
    "faults": "page faults",
    "waits": "context switches, waiting",
    "preemptions": "context switches, preempted",
    "peak_bytes": "peak memory, largest process",
}


@dataclass(frozen=True)
class Reading:
    """What is looked for in a program's output."""

    time: re.Pattern[str] | None = None
    answer: re.Pattern[str] | None = None

    def seconds(self, output: str) -> float:
        """The last time that is printed, in whatever unit. Raises ValueError with the reason if there is none."""
        assert self.time is not None
        found = self.time.findall(output)
        if not found:
            raise ValueError(f"it printed no time that --time '{self.time.pattern}' matches")
        word = found[-1] if isinstance(found[-1], str) else found[-1][0]
        try:
            value = float(word)
        except ValueError:
            raise ValueError(f"--time '{self.time.pattern}' found '{word}', which is no number") from None
        if not value > 0:
            raise ValueError(f"--time '{self.time.pattern}' found {word}, and ratios need times above 0")
        return value

    def answers(self, output: str) -> list[Any]:
        if self.answer is None:
            return []
        found = self.answer.findall(output)
        if not found:
            raise ValueError(f"it printed no answer that --answer '{self.answer.pattern}' matches")
        return found


@dataclass(frozen=True)
class Variant:
    """How the program is run. settings: what Wherry is told; None: without Wherry."""

    name: str
    settings: Mapping[str, str] | None


@dataclass(frozen=True)
class Started:
    """What is the same in all runs. variables: that the ranks need, with and without Wherry."""

    command: Sequence[str]
    launcher: launch.Launcher | None
    variables: Mapping[str, str] = field(default_factory=dict)


def on_cluster(started: Started, cluster: Cluster) -> Started:
    """The same, its ranks spread evenly over the hosts."""
    command, variables = commands.spread(started.command, started.launcher, cluster)
    return Started(command, started.launcher, {**started.variables, **variables})


@dataclass
class Sample:
    variant: str
    round: int
    used: dict[str, float]  # "wall_s" and the keys of COUNTERS
    seconds: float | None = None  # that the program printed

    def value(self, key: str) -> float:
        return self.used[key] if key != "program" else float(self.seconds or 0)

    def data(self) -> dict[str, Any]:
        return {"variant": self.variant, "round": self.round, "program": self.seconds, **self.used}


class RunFailed(WherryError):
    """A run that cannot be compared: which, why, and where its output is."""


def run_once(
    started: Started,
    variant: Variant,
    number: int,
    reading: Reading,
    check: Callable[[list[Any]], None],
    limit_s: float = math.inf,
) -> Sample:
    """Raises RunFailed if the program fails, is late, prints nothing of what it should, or check raises ValueError."""
    with tempfile.TemporaryDirectory(prefix="wherry-compare-") as scratch:
        folder = Path(scratch)
        output = folder / "stdout", folder / "stderr"
        try:
            _execute(started, variant, folder / "used", output, limit_s)
        except subprocess.TimeoutExpired:
            why = f"it did not end within {limit_s:.0f} s and was stopped"
            raise RunFailed(f"{why}; its output is in {keep(output)}") from None
        used = json.loads((folder / "used").read_text())
        code = int(used.pop("code"))
        try:
            if code:
                raise ValueError(f"it {_ended(code)}")
            text = "".join(path.read_text(errors="replace") for path in output)
            seconds = reading.seconds(text) if reading.time else None
            check(reading.answers(text))
            return Sample(variant.name, number, used, seconds)
        except ValueError as reason:
            raise RunFailed(f"{reason}; its output is in {keep(output)}") from None


def _ended(code: int) -> str:
    if code > 0:
        return f"ended with code {code}"
    return f"was ended by {signal.Signals(-code).name}"


def keep(output: Sequence[Path]) -> Path:
    """One file of what a run printed, that stays."""
    handle, name = tempfile.mkstemp(prefix="wherry-compare-", suffix=".txt")
    with os.fdopen(handle, "wb") as file:
        for path in output:
            file.write(path.read_bytes())
    return Path(name)


def _execute(started: Started, variant: Variant, used: Path, output: tuple[Path, Path], limit_s: float) -> None:
    """Runs it to its end. Writes what it used, its standard output and its errors. Raises TimeoutExpired."""
    made = _command(started, variant)
    words = [sys.executable, "-I", "-S", str(_MEASURED), str(used), *made.argv]
    with output[0].open("wb") as to, output[1].open("wb") as errors:
        process = subprocess.Popen(
            words, env=made.environment, stdin=subprocess.DEVNULL, stdout=to, stderr=errors, start_new_session=True
        )
        try:
            process.wait(limit_s if math.isfinite(limit_s) else None)
        except BaseException:
            _end(process)
            raise


def _end(process: subprocess.Popen[bytes]) -> None:
    """Launchers take their ranks with them when they are asked to end."""
    for number, patience_s in ((signal.SIGTERM, _PATIENCE_S), (signal.SIGKILL, _PATIENCE_S)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience_s)


def _command(started: Started, variant: Variant) -> launch.Command:
    library = paths.preload() if variant.settings is not None else None
    variables = {**started.variables, **(variant.settings or {})}
    first = launch.loaded_first(launch.programs(started.command, started.launcher))
    made = launch.build(started.command, started.launcher, variables, library, first)
    ours = [name for name in made.environment if name.startswith("WHERRY_") and name not in variables]
    for name in ours:
        del made.environment[name]
    return made
