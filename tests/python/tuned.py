"""For the tests of tune and export: results as if they had been measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wherry.run.mpis import Family
from wherry.tune.algorithms import AUTO, DEFAULT, Algorithm
from wherry.tune.results import AlgorithmTime, Results

DEFAULT_S = 1e-3

#: A selection like the one that MPICH holds: every collective has an answer.
SELECTION: dict[str, Any] = {
    "collective=bcast": {"comm_type=intra": {"algorithm=MPIR_Bcast_intra_binomial": {}}},
    "collective=alltoall": {
        "comm_type=intra": {
            "is_sendbuf_inplace=yes": {"algorithm=MPIR_Alltoall_intra_pairwise_sendrecv_replace": {}},
            "is_sendbuf_inplace=no": {"algorithm=MPIR_Alltoall_intra_scattered": {}},
        },
        "comm_type=inter": {"algorithm=MPIR_Alltoall_inter_pairwise_exchange": {}},
    },
    "collective=alltoallv": {"comm_type=intra": {"algorithm=MPIR_Alltoallv_intra_scattered": {}}},
}


def measured(operation: str, ranks: int, size: int, times: Mapping[str, float]) -> list[AlgorithmTime]:
    """One measurement for each algorithm; the times are shares of the default's, which is added."""
    names = {"default": DEFAULT, "auto": AUTO}
    return [
        AlgorithmTime(operation, ranks, size, names.get(id_, Algorithm(id_, f"name {id_}")), seconds, [[seconds]])
        for id_, share in {"default": 1.0, **times}.items()
        for seconds in [share * DEFAULT_S]
    ]


def results(family: Family, *rows: list[AlgorithmTime]) -> Results:
    selection = SELECTION if family == "mpich" else None
    flat = [row for group in rows for row in group]
    return Results(f"my-{family}", family, "5", "2 x CPU", "abc", "shared memory", "median", flat, [], selection)
