"""WHERRY_MEMORY on real programs, counted in page faults: never timed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from conftest import Launcher
from heaps import counts, program
from preloading import PROGRAMS, compile_program, records_in

from wherry.analysis.record_format import FREED

MPIS = pytest.mark.parametrize("mpi", ["openmpi", "mpich", "intel", "debian-openmpi"], indirect=True)
#: `auto` keeps memory in the former half, within some 50 steps, and looks whether that has paid before the end.
STEPS = {"work_arrays.c": "700", "work_arrays.f90": "700", "halo.py": "300"}
OWN_KIB = 32 << 10  # of Wherry's own memory and its record
MOST_LATER = 2000  # page faults of the later half, where memory is kept: a few new pages


def command_of(mpi: Launcher, source: str, folder: Path) -> list[str | Path]:
    size = ["800"] if source == "halo.py" else []
    return [*program(mpi, source, folder), *size, STEPS[source]]


def states(folder: Path) -> list[list[str]]:
    """What held of freed memory on each rank, in turn."""
    return [[FREED[int(span["state"])] for span in record.tables["memory"]] for record in records_in(folder)]


@MPIS
@pytest.mark.parametrize("source", STEPS)
def test_kept(mpi: Launcher, preload: Path, source: str, tmp_path: Path) -> None:
    """From the start, and by itself where that pays: the later half of the steps has next to no faults."""
    command = command_of(mpi, source, tmp_path)
    native = counts(mpi, command)
    for lever in ("keep", "auto"):
        folder = tmp_path / lever
        folder.mkdir()
        under = counts(mpi, command, {"WHERRY_MEMORY": lever, "WHERRY_OUTPUT": str(folder)}, preload=True)
        for with_lever, without in zip(under, native, strict=True):
            assert with_lever.later <= max(MOST_LATER, without.later // 20), (lever, under, native)
            assert with_lever.answer == without.answer
            assert with_lever.peak <= max(1.1 * without.peak, without.peak + (64 << 10)), (lever, under, native)
        if lever == "keep":
            assert all(state[-1] == "kept" for state in states(folder)), states(folder)


@MPIS
def test_kept_by_a_program_of_few_calls_that_is_not_recorded(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    """Two calls in a step of milliseconds, and no record that would look at the clock in each."""
    command = [compiled(mpi, tmp_path), "100", "12"]
    native = counts(mpi, command)
    under = counts(mpi, command, {"WHERRY_MEMORY": "auto"}, preload=True)
    for with_lever, without in zip(under, native, strict=True):
        assert with_lever.later <= max(MOST_LATER, without.later // 20), (under, native)
        assert with_lever.answer == without.answer


@MPIS
def test_kept_by_a_program_that_is_not_position_independent(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    """As Debian's Python: the address that it has for malloc is its own, and malloc the C library's all the same."""
    counts(
        mpi,
        [compiled(mpi, tmp_path, ["-fno-pie", "-no-pie"]), "200"],
        {"WHERRY_MEMORY": "keep", "WHERRY_OUTPUT": str(tmp_path)},
        preload=True,
    )
    assert [state[-1] for state in states(tmp_path)] == ["kept"] * 2


def compiled(mpi: Launcher, folder: Path, options: Sequence[str] = ()) -> Path:
    return compile_program(mpi, "work_arrays.c", folder / "program", options)


def own_malloc(folder: Path) -> Path:
    library = folder / "own_malloc.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(PROGRAMS / "own_malloc.c")], check=True)
    return library


#: Why malloc is not Wherry's to change, and the steps of the program, what it is compiled with, and its environment.
REASONS: dict[str, tuple[list[str], list[str], dict[str, str]]] = {
    "leave": (["50"], [], {"WHERRY_MEMORY": "leave"}),
    "options": (["50"], [], {"MALLOC_TRIM_THRESHOLD_": "200000"}),
    "tunables": (["50"], [], {"GLIBC_TUNABLES": "glibc.malloc.trim_threshold=200000"}),
    "mallopt": (["50"], ["-DSETS_OPTIONS"], {}),
    "locked": (["50", "6", "512", "lock"], [], {}),
}


@MPIS
@pytest.mark.parametrize("why", REASONS)
def test_left_alone(mpi: Launcher, preload: Path, why: str, tmp_path: Path) -> None:
    """Asked to, or because malloc is not Wherry's to change: even `keep` changes nothing, and the program ends well."""
    arguments, options, variables = REASONS[why]
    if why == "locked" and os.geteuid() != 0:
        pytest.skip("only root may lock memory without limit")
    env = {"WHERRY_MEMORY": "keep", "WHERRY_OUTPUT": str(tmp_path), **variables}
    counts(mpi, [compiled(mpi, tmp_path, options), *arguments], env, preload=True)
    assert states(tmp_path) == [["as malloc has it"]] * 2


@MPIS
def test_left_alone_where_memory_is_limited(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    command = ["sh", "-c", f"ulimit -v 16777216; exec {compiled(mpi, tmp_path)} 50"]
    counts(mpi, command, {"WHERRY_MEMORY": "keep", "WHERRY_OUTPUT": str(tmp_path)}, preload=True)
    assert states(tmp_path) == [["as malloc has it"]] * 2


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"], indirect=True)
@pytest.mark.parametrize("name", ["own", "jemalloc", "tcmalloc_minimal", "mimalloc"])
def test_another_allocator_is_left_alone(mpi: Launcher, preload: Path, name: str, tmp_path: Path) -> None:
    library = own_malloc(tmp_path) if name == "own" else find_library(name)
    env = {"WHERRY_MEMORY": "keep", "WHERRY_OUTPUT": str(tmp_path), "LD_PRELOAD": f"{preload} {library}"}
    counts(mpi, [compiled(mpi, tmp_path), "50"], env, preload=True)
    assert states(tmp_path) == [["as malloc has it"]] * 2


def find_library(name: str) -> Path:
    found = sorted(Path("/usr/lib").glob(f"*-linux-gnu/lib{name}.so.*"))
    if not found:
        pytest.skip(f"lib{name} is not installed; run: make setup")
    return found[0]


@MPIS
def test_taken_back_from_a_program_that_locks_its_memory(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may lock memory without limit")
    command = [compiled(mpi, tmp_path), "2200", "6", "512", "lock-later"]
    counts(mpi, command, {"WHERRY_MEMORY": "keep", "WHERRY_OUTPUT": str(tmp_path)}, preload=True)
    assert [state[-2:] for state in states(tmp_path)] == [["kept", "taken back"]] * 2


@pytest.fixture
def small_cgroup() -> Iterator[Path]:
    """A group of version 1 or 2 with 192 MiB, below the one of the tests."""
    try:
        groups = dict(line.split(":", 2)[1:] for line in Path("/proc/self/cgroup").read_text().splitlines())
        first = "memory" in groups
        parent = Path("/sys/fs/cgroup") / ("memory" if first else "") / groups["memory" if first else ""].strip("/")
        group = parent / f"wherry-test-{os.getpid()}"
        group.mkdir()
    except (OSError, KeyError) as error:
        pytest.skip(f"no control group can be made here: {error}")
    try:
        (group / ("memory.limit_in_bytes" if first else "memory.max")).write_text(str(192 << 20))
        yield group
    except OSError as error:
        pytest.skip(f"the memory of a control group cannot be limited here: {error}")
    finally:
        group.rmdir()


@MPIS
def test_bound_of_a_control_group(mpi: Launcher, preload: Path, small_cgroup: Path, tmp_path: Path) -> None:
    """Kept is what fits: the program ends as it does natively, and its peak is at most what it keeps above that."""
    command = ["sh", "-c", f"echo $$ > {small_cgroup}/cgroup.procs; exec {compiled(mpi, tmp_path)} 300"]
    native = counts(mpi, command)
    under = counts(mpi, command, {"WHERRY_MEMORY": "keep", "WHERRY_OUTPUT": str(tmp_path)}, preload=True)
    keepable_kib = (192 << 10) // 8 // 2
    for with_lever, without in zip(under, native, strict=True):
        assert with_lever.answer == without.answer
        assert with_lever.peak <= without.peak + keepable_kib + OWN_KIB
    assert all("kept" in state for state in states(tmp_path))
