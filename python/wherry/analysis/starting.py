"""How long MPI took to begin and to end, and what would shorten that, in a sentence."""

from __future__ import annotations

from wherry import units
from wherry.analysis.rows import Analysis

_NOTABLE_SHARE = 0.1  # of the time between the two
# Open MPI 5 closes its libfabric component with sleep(1), in every rank, if no network is used through it.
_SLEEP_S = 1.0
_SLEEPERS = ("Open MPI v5.",)
_SPARED = "Open MPI 5 sleeps for a second of it: OMPI_MCA_btl=^ofi in the environment saves that on one host"


def sentences(analysis: Analysis) -> list[str]:
    """A line for the summary; none where it was short."""
    seconds = analysis.setup_seconds
    if seconds <= _NOTABLE_SHARE * analysis.seconds:
        return []
    sleeps = seconds >= _SLEEP_S and len(analysis.hosts) == 1 and analysis.mpi_version.startswith(_SLEEPERS)
    return [
        f"MPI_Init and MPI_Finalize took another {units.seconds(seconds)} per rank" + (f"; {_SPARED}" if sleeps else "")
    ]
