"""The collectives that can be simulated, and what the simulator itself has for them."""

from __future__ import annotations

from dataclasses import dataclass

#: What plain "native" is: the decision rules of Open MPI, as SMPI has them. Its own default is a textbook algorithm.
NATIVE_SELECTION = "ompi"
_SELECTIONS = ("ompi", "mpich", "mvapich2", "impi")


@dataclass(frozen=True)
class Collective:
    """algorithms: SMPI's for this collective; "native:bruck" runs the one that is named."""

    name: str  # as users write it
    mpi: str
    in_blocks: bool  # one per rank, --sizes bytes each; else --sizes are the whole message
    algorithms: tuple[str, ...]
    selector: str = ""  # SMPI's name of the collective, where it is another
    sizes: tuple[int, ...] = (64, 1024, 16384)

    @property
    def option(self) -> str:
        """SMPI's setting that names the algorithm."""
        return f"smpi/{self.selector or self.name}"

    @property
    def natives(self) -> tuple[str, ...]:
        return (*_SELECTIONS, *self.algorithms)


COLLECTIVES = (
    Collective("alltoall", "MPI_Alltoall", True, ("bruck", "basic_linear", "pair", "ring", "rdb", "2dmesh", "3dmesh")),
    Collective(
        "allgather",
        "MPI_Allgather",
        True,
        ("bruck", "GB", "ompi_neighborexchange", "pair", "rdb", "rhv", "ring", "2dmesh", "3dmesh", "smp_simple"),
    ),
    Collective(
        "bcast",
        "MPI_Bcast",
        False,
        (
            "binomial_tree",
            "flattree",
            "NTSL",
            "ompi_pipeline",
            "ompi_split_bintree",
            "scatter_LR_allgather",
            "scatter_rdb_allgather",
        ),
    ),
    Collective("gather", "MPI_Gather", True, ("ompi_basic_linear", "ompi_binomial", "ompi_linear_sync")),
    Collective("scatter", "MPI_Scatter", True, ("ompi_basic_linear", "ompi_binomial", "ompi_linear_nb")),
    Collective(
        "reduce",
        "MPI_Reduce",
        False,
        ("binomial", "flat_tree", "ompi_binary", "ompi_chain", "ompi_pipeline", "scatter_gather"),
    ),
    Collective("allreduce", "MPI_Allreduce", False, ("lr", "ompi_ring_segmented", "rdb", "redbcast", "smp_rdb")),
    Collective(
        "reduce_scatter_block",
        "MPI_Reduce_scatter_block",
        True,
        ("mpich_pair", "mpich_rdb", "ompi_basic_recursivehalving", "ompi_ring"),
        selector="reduce_scatter",
    ),
    Collective(
        "barrier",
        "MPI_Barrier",
        False,
        ("ompi_basic_linear", "ompi_bruck", "ompi_doublering", "ompi_recursivedoubling", "ompi_tree"),
        sizes=(0,),
    ),
)
NAMES = tuple(collective.name for collective in COLLECTIVES)


def find(name: str) -> Collective | None:
    return next((collective for collective in COLLECTIVES if collective.name == name), None)
