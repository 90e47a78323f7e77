"""The wrappers of the preload that tools/generate_interpose.py writes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def wrappers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The text of each, by the name of its MPI function."""
    folder = tmp_path_factory.mktemp("generated")
    generator, table = ROOT / "tools/generate_interpose.py", ROOT / "tools/mpi_functions.toml"
    subprocess.run([sys.executable, "-B", generator, table, folder], check=True)
    text = (folder / "wrappers.inc").read_text(encoding="utf-8")
    return {part.split("\n", 1)[0]: part for part in re.split(r"^// (?=MPI_\w+$)", text, flags=re.MULTILINE)[1:]}


def test_spinning_and_polling_count_the_same_calls(wrappers: dict[str, str]) -> None:
    """How to wait is decided by the blocking calls in a time: the one way may not count others than the other does."""
    counted = {name: text for name, text in wrappers.items() if "Repetition repetition(" in text}
    assert {"MPI_Send", "MPI_Isend", "MPI_Recv", "MPI_Irecv", "MPI_Win_flush", "MPI_Put"} <= counted.keys()
    for name, text in counted.items():
        (waits,) = set(re.findall(r"Repetition repetition\(\{.*\}, [\w:]+, (true|false)(?:, \w+)?\);", text))
        asks_when_polling = "is_patient" in text or "LibraryWait" in text
        assert (waits == "true") == asks_when_polling, name
    assert "}, Repetition::Moves::elements, true);" in counted["MPI_Send"]
    assert "}, Repetition::Moves::elements, false);" in counted["MPI_Isend"]
