"""What the programs share that deal out the rows of a square in slabs."""

import argparse

from mpi4py import MPI


def neighbors(comm: MPI.Intracomm) -> tuple[int, int]:
    """The ranks above and below; MPI.PROC_NULL at the ends."""
    up = comm.rank - 1 if comm.rank > 0 else MPI.PROC_NULL
    down = comm.rank + 1 if comm.rank + 1 < comm.size else MPI.PROC_NULL
    return up, down


def options(**defaults: int) -> argparse.Namespace:
    """The numbers on the command line: `--rows 640`."""
    parser = argparse.ArgumentParser()
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    return parser.parse_args()
