"""The sentence about the time that MPI took to begin and to end."""

from __future__ import annotations

import pytest

from wherry.analysis import Analysis, starting


def said(setup: float, version: str = "Open MPI v5.0.11", hosts: int = 1) -> list[str]:
    names = {f"node{i}": 1 for i in range(hosts)}
    return starting.sentences(Analysis(seconds=2.0, setup_seconds=setup, mpi_version=version, hosts=names))


def test_nothing_is_said_where_it_was_short() -> None:
    assert said(0.1) == []


def test_a_sleep_of_open_mpi_is_named_with_the_setting_that_saves_it() -> None:
    [line] = said(1.1)
    assert line.startswith("MPI_Init and MPI_Finalize took another 1.1 s per rank; Open MPI 5 sleeps")
    assert "OMPI_MCA_btl=^ofi" in line


@pytest.mark.parametrize(
    ("setup", "version", "hosts"),
    [
        (0.9, "Open MPI v5.0.11", 1),  # shorter than the sleep
        (1.1, "Open MPI v4.1.4", 1),
        (1.1, "MPICH Version: 5.0.2", 1),
        (1.1, "Open MPI v5.0.11", 2),  # which may need the network
    ],
)
def test_other_long_starts_have_no_reason(setup: float, version: str, hosts: int) -> None:
    [line] = said(setup, version, hosts)
    assert line.endswith("per rank")
