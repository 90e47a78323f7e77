"""What `wherry explain` says would be tried first is what the runtime runs if it goes by the model alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Launcher
from preloading import compile_program, records_in

from wherry import paths
from wherry.analysis.record import Record, text
from wherry.schedule import plan

INTS, BYTES = 1024, 4096
FUNCTIONS = (
    "Alltoall",
    "Allgather",
    "Bcast",
    "Gather",
    "Scatter",
    "Reduce",
    "Allreduce",
    "Reduce_scatter_block",
    "Barrier",
)


def used(record: Record) -> dict[str, str]:
    """The strategy of each function, once Wherry was enabled."""
    rows = [row for row in record.tables["uses"] if text(row["strategy"]) != "native"]
    return {record.function(row["function"]): text(row["strategy"]) for row in rows}


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"], indirect=True)
@pytest.mark.parametrize(("ranks", "per_node"), [(3, 1), (5, 2)])
def test_explain_tells_what_the_runtime_does(
    mpi: Launcher,
    preload: Path,
    build: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ranks: int,
    per_node: int,
) -> None:
    program = compile_program(mpi, "every.c", tmp_path / "every")
    settings = {
        "WHERRY_OUTPUT": str(tmp_path),
        "WHERRY_NO_LEARNING": "1",
        "WHERRY_RANKS_PER_NODE": str(per_node),
    }
    done = mpi.run([program, str(INTS)], ranks, settings, preload=True)
    assert done.returncode == 0, done.stderr
    (record,) = (record for record in records_in(tmp_path) if record.rank == 0)

    monkeypatch.setattr(paths, "plan_program", lambda: build / "src" / "wherry-plan")
    node_of = ",".join(str(rank // per_node) for rank in range(ranks))
    told = {
        f"MPI_{function}": plan.explain(
            function.lower(), plan.Placement(ranks, node_of=node_of), None if function == "Barrier" else BYTES
        )["tried"][1]
        for function in FUNCTIONS
    }
    assert used(record) == told
