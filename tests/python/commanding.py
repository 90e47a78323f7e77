"""Fixtures: the command line in this process, on an installation whose answers are fixed."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from installation import make_installation

from wherry import cli, paths


@dataclass
class Answer:
    code: int
    out: str
    err: str


Invoke = Callable[..., Answer]


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The command sees this installation, and no settings of the caller's."""
    if shutil.which("cc") is None:
        pytest.skip("needs a C compiler to make a library that can be preloaded")
    found = make_installation(tmp_path / "prefix")
    monkeypatch.setattr(paths, "prefix", lambda: found)
    for name in list(os.environ):
        if name.startswith("WHERRY_") or name == "LD_PRELOAD":
            monkeypatch.delenv(name)
    return found


@pytest.fixture
def wherry(prefix: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Invoke:
    def invoke(*words: str | Path) -> Answer:
        monkeypatch.setattr(sys, "argv", ["wherry", *map(str, words)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as done:
            cli.main()
        out, err = capfd.readouterr()
        code = done.value.code
        return Answer(code if isinstance(code, int) else 0, out, err)

    return invoke
