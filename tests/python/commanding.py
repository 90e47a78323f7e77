"""Fixtures: the command line in this process, on an installation whose answers are fixed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from command_line import Invoke
from installation import make_installation

from wherry import paths


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
def wherry(prefix: Path, invoke: Invoke) -> Invoke:
    return invoke
