"""A distributed 3-D FFT with mpi4py-fft: forward and backward, again and again.

    mpiexec -n 2 python fft.py [--shape 32 32 32] [--grid slab] [--repeat 50]

Rank 0 prints one line of JSON: the time of each round trip (the slowest rank's), the error of the last one, and a
checksum of the spectrum. mpi4py-fft redistributes its arrays with MPI_Alltoallw of subarrays. A round trip that does
not return the field ends the program with code 1.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from typing import Any

import numpy as np
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

MOST_ERROR = 1e-12  # of a round trip of numbers of size 1 in double precision


def main() -> int:
    options = _options()
    comm = MPI.COMM_WORLD
    fft = _transform(comm, options)
    field, spectrum, back = newDistArray(fft, False), newDistArray(fft, True), newDistArray(fft, False)
    field[:] = _field(field, tuple(options.shape))
    times = _round_trips(comm, fft, (field, spectrum, back), options.repeat)
    answer = {
        "error": comm.allreduce(float(np.abs(back - field).max()), op=MPI.MAX),
        "spectrum": _checksum(comm, spectrum),
    }
    if comm.rank == 0:
        print(json.dumps({"seconds": times, "answer": answer, "total": sum(times)}), flush=True)
    return 0 if answer["error"] < MOST_ERROR else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", type=int, nargs=3, default=[32, 32, 32])
    parser.add_argument("--grid", choices=("slab", "pencil"), default="slab")
    parser.add_argument("--repeat", type=int, default=50)
    return parser.parse_args()


def _transform(comm: Any, options: argparse.Namespace) -> Any:
    """A slab splits one axis over all ranks; pencils split two, in communicators of rows and columns.

    By FFTW, as mpi4py-fft does unless told otherwise; its plans are estimated, so that each run rounds alike.
    """
    grid = (0, 1, 1) if options.grid == "slab" else (0, 0, 1)
    return PFFT(comm, tuple(options.shape), dtype=np.complex128, grid=grid, planner_effort="FFTW_ESTIMATE")


def _field(array: Any, shape: tuple[int, ...]) -> Any:
    """Depends on the place in the whole array only, so that any number of ranks has the same field."""
    x, y, z = np.meshgrid(*(np.arange(part.start, part.stop) for part in array.local_slice()), indexing="ij")
    index = (x * shape[1] + y) * shape[2] + z
    return np.sin(0.37 * index) + 1j * np.cos(1e-3 * index * x)


def _round_trips(comm: Any, fft: Any, arrays: tuple[Any, Any, Any], repeat: int) -> list[float]:
    field, spectrum, back = arrays
    times = np.zeros(repeat)
    for i in range(repeat):
        begin = MPI.Wtime()
        fft.forward(field, spectrum)
        fft.backward(spectrum, back)
        times[i] = MPI.Wtime() - begin
    slowest = np.empty_like(times)
    comm.Reduce(times, slowest, op=MPI.MAX)
    return [float(f"{t:.9f}") for t in slowest]


def _checksum(comm: Any, spectrum: Any) -> str:
    """Of every bit of the spectrum, in the order of the ranks."""
    parts = comm.gather(hashlib.sha256(np.ascontiguousarray(spectrum).tobytes()).hexdigest())
    return hashlib.sha256("".join(parts).encode()).hexdigest() if comm.rank == 0 else ""


if __name__ == "__main__":
    sys.exit(main())
