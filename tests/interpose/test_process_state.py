"""The process is the program's: signals, limits, descriptors, environment, umask, folder, locale as natively.

So are errno, the places where it maps memory, and what its threads do when they end.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import Launcher, enough
from preloading import calls_of, compile_program, records_in

SETTINGS = {"WHERRY_NO_TUNING": "1", "WHERRY_NONBLOCKING": "1"}
#: All that Wherry may do, at once.
BUSY = {
    "WHERRY_WAIT": "yield",
    "WHERRY_NONBLOCKING": "1",
    "WHERRY_CACHE": "always",
    "WHERRY_MEMORY": "keep",
}
#: The libraries do not sleep while they wait, as they do in other tests: a sleep that a signal ends sets errno.
SPINNING = {"MPIR_CVAR_ENABLE_HEAVY_YIELD": "0", "I_MPI_THREAD_YIELD": "0"}
#: Of its own, Open MPI waits for files now and then, and is interrupted there with Wherry and without.
NEVER_INTERRUPTED = pytest.mark.parametrize("mpi", ["mpich", "mpich-abi", "intel", "debian-mpich"], indirect=True)


def test_process_is_as_natively(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    program = compile_program(mpi, "process_state.c", tmp_path / "process_state")
    n = enough(mpi.name)
    natively = mpi.run([program], n)
    assert natively.returncode == 0, natively.stdout + natively.stderr
    done = mpi.run([program], n, SETTINGS | {"WHERRY_OUTPUT": str(tmp_path)}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) == 10
    assert done.stdout.splitlines() == natively.stdout.splitlines()


def lines_of(
    mpi: Launcher, command: list[str | Path], n: int, env: Mapping[str, str] | None = None, preload: bool = True
) -> list[str]:
    """What the ranks print, in their order."""
    done = mpi.run(command, n, env, preload=preload)
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(line for line in done.stdout.splitlines() if line.startswith("rank "))


def errno_settings(name: str, folder: Path) -> dict[str, str]:
    """What makes Wherry's own system calls fail, or be interrupted, in the middle of a run."""
    nowhere = str(folder / "none" / "file")
    settings = {
        "off": {"WHERRY_DISABLE": "1"},
        "busy": {**BUSY, "WHERRY_OUTPUT": str(folder)},
        "no tuning file": {"WHERRY_TUNING_FILE": nowhere, "WHERRY_OUTPUT": str(folder)},
        "no record": {"WHERRY_OUTPUT": nowhere},
        "alarms": {**BUSY, **SPINNING, "WHERRY_OUTPUT": str(folder)},
    }
    return settings[name]


@pytest.mark.parametrize("name", ["off", "busy", "no tuning file", "no record"])
def test_errno_is_the_programs(mpi: Launcher, preload: Path, name: str, tmp_path: Path) -> None:
    """Before MPI_Init, in calls that Wherry performs, that fall through to the library, and that fail."""
    calls = "25" if name == "off" else "100"  # nothing is learned where all falls through
    command = [compile_program(mpi, "kept_errno.c", tmp_path / "kept_errno"), calls]
    n = enough(mpi.name)
    assert lines_of(mpi, command, n, errno_settings(name, tmp_path)) == [f"rank {rank}: end" for rank in range(n)]


@NEVER_INTERRUPTED
def test_errno_is_the_programs_where_signals_interrupt_waits(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    command = [compile_program(mpi, "kept_errno.c", tmp_path / "kept_errno"), "100", "alarms"]
    n = 2  # they spin
    for wherry, env in ((False, SPINNING), (True, errno_settings("alarms", tmp_path))):
        assert lines_of(mpi, command, n, env, preload=wherry) == [f"rank {rank}: end" for rank in range(n)]


def test_places_that_the_program_maps_are_free(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    """Nothing of Wherry's lies near the heap, or where the system would place nothing."""
    command: list[str | Path] = [compile_program(mpi, "fixed_mappings.c", tmp_path / "fixed_mappings")]
    natively = lines_of(mpi, command, 2, preload=False)
    assert all(" 48 places, 48 intact" in line for line in natively), natively
    for keep in ("leave", "keep"):
        out = tmp_path / keep
        out.mkdir()
        env = {**BUSY, "WHERRY_MEMORY": keep, "WHERRY_OUTPUT": str(out)}
        assert lines_of(mpi, command, 2, env) == natively


@pytest.mark.parametrize("n", [1, 2, 3])
def test_threads_call_mpi_while_they_end(mpi: Launcher, preload: Path, n: int, tmp_path: Path) -> None:
    """Thread-local destructors find Wherry working; their calls are counted, each of them."""
    generations, threads, rounds = 5, 3, 2
    program = compile_program(mpi, "thread_ends.c", tmp_path / "thread_ends", ["-pthread"])
    command = [program, str(generations)]
    all_right = generations * threads * rounds * 3
    expected = [f"rank {rank}: {all_right} of {all_right} right" for rank in range(n)]
    for waits in ("spin", "yield"):
        out = tmp_path / waits
        out.mkdir()
        assert lines_of(mpi, command, n, {**BUSY, "WHERRY_WAIT": waits, "WHERRY_OUTPUT": str(out)}) == expected
        for record in records_in(out):
            calls = calls_of(record)
            assert calls["MPI_Allreduce"] == 2 * generations * threads * rounds
            assert calls["MPI_Sendrecv"] == generations * threads * rounds
