"""Launches of benchmarks without MPI, and what is read of their pictures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from wherry import paths
from wherry.errors import WherryError
from wherry.measure import harness
from wherry.run.mpis import Family, Mpi

SVG = "{http://www.w3.org/2000/svg}"


def line(case: str, variant: str, *samples: float) -> str:
    return json.dumps({"case": case, "variant": variant, "unit": "s", "samples": samples})


class Script:
    """Stands in for launches: answers by what the environment says or raises an error, and remembers what was asked."""

    def __init__(
        self, answers: Mapping[str, Sequence[str | WherryError]], monkeypatch: pytest.MonkeyPatch, folder: Path
    ) -> None:
        self.answers = {name: list(lines) for name, lines in answers.items()}
        self.asked: list[tuple[int, list[str], dict[str, str]]] = []
        library = folder / "lib/wherry/libwherry.so"
        library.parent.mkdir(parents=True)
        library.touch()
        names = ("alltoall", "preload", "executor", "overlap", "plans", "sparse", "window", "chooser", "grid")
        for name in (*names, "patterns", "typed", "serialization"):
            program = folder / "libexec/wherry/fake" / f"bench_{name}"
            program.parent.mkdir(parents=True, exist_ok=True)
            program.touch()
        monkeypatch.setattr(paths, "prefix", lambda: folder)
        monkeypatch.setattr(harness.Testbed, "run", self.run)

    def run(self, ranks: int, args: Sequence[str], env: Mapping[str, str]) -> str:
        self.asked.append((ranks, list(args), dict(env)))
        kind = "on" if "WHERRY_OUTPUT" in env else "off" if "LD_PRELOAD" in env else "plain"
        answer = self.answers[kind].pop(0)
        if isinstance(answer, WherryError):
            raise answer
        return answer


def fake_mpi(family: Family = "mpich") -> Mpi:
    return Mpi("fake", family, "mpich", "5", Path("/x"), Path("/x/libmpi.so"), ["mpiexec"])


def texts_of(svg: str) -> list[str]:
    """What is written in a picture, one by one."""
    found = ["".join(element.itertext()).strip() for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    return [text for text in found if text]
