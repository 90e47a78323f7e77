"""The command line in this process: starting Python anew for each call would take longer than most of them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from wherry import cli


@dataclass
class Answer:
    code: int
    out: str
    err: str


Invoke = Callable[..., Answer]


@pytest.fixture
def invoke(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Invoke:
    """invoke("draw", "mesh", "-n", 4): what that command says, and its exit code."""

    def answer(*words: str | Path) -> Answer:
        monkeypatch.setattr(sys, "argv", ["wherry", *map(str, words)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as done:
            cli.main()
        out, err = capfd.readouterr()
        code = done.value.code
        return Answer(code if isinstance(code, int) else 0, out, err)

    return answer
