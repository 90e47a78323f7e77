"""The collectives that Wherry performs, as the command line names them, in the order of MPI's standard.

Made by tools/generate_interface.py from tools/mpi_functions.toml, which is what to change.
"""

OPERATIONS = (
    "barrier",
    "bcast",
    "gather",
    "scatter",
    "allgather",
    "allgatherv",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "reduce",
    "allreduce",
    "reduce_scatter_block",
    "reduce_scatter",
)
#: Those among neighbors. What is learned about them is of one graph, which nobody knows ahead.
NEIGHBORHOODS = (
    "neighbor_allgather",
    "neighbor_allgatherv",
    "neighbor_alltoall",
    "neighbor_alltoallv",
    "neighbor_alltoallw",
)
REDUCTIONS = (
    "reduce",
    "allreduce",
    "reduce_scatter_block",
    "reduce_scatter",
)
#: Those that the C library and the Python library have.
IN_LIBRARY = (
    "barrier",
    "bcast",
    "gather",
    "scatter",
    "allgather",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "reduce",
    "allreduce",
    "reduce_scatter_block",
    "neighbor_allgather",
    "neighbor_allgatherv",
    "neighbor_alltoall",
    "neighbor_alltoallv",
    "neighbor_alltoallw",
)
