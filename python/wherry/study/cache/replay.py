"""Asks bench_cache_replay, the C++ program, what becomes of traces: counts, the same on every machine."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from typing import Any

from wherry import paths
from wherry.errors import WherryError


def ask(words: Sequence[str]) -> list[dict[str, Any]]:
    """The objects that it prints."""
    program = paths.built(paths.replay_program())
    done = subprocess.run([str(program), *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise WherryError((done.stderr or done.stdout).strip() or f"{program.name} ended with code {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def numbers(values: Sequence[float]) -> str:
    return ",".join(f"{value:g}" for value in values)
