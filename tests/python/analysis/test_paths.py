"""Who called the function that calls MPI: wrappers are told apart by their callers, scripts by their lines."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import Launcher, on
from synthetic import Draft, write

from wherry.analysis import Analysis, analyse, from_data, paths, record
from wherry.report import times

PROGRAMS = Path(__file__).parents[1] / "programs"
WRAPPED, SCRIPT = PROGRAMS / "wrapped_calls.c", PROGRAMS / "two_lines.py"
MODULES = [
    {"base": 0x400000, "path": b"/opt/app"},
    {"base": 0x7F00000000, "path": b"/opt/libsolve.so"},
    {"base": 2**64 - 1, "path": b"/home/me/solve.py"},
]


def line_of(source: Path, mark: str) -> int:
    return next(i for i, line in enumerate(source.read_text().splitlines(), 1) if mark in line)


def compiled(mpi: Launcher, target: Path, *options: str | Path) -> Path:
    if mpi.mpicc is None or shutil.which("addr2line") is None:
        pytest.skip(f"needs addr2line and a C compiler for {mpi.name}")
    command = [str(mpi.mpicc), "-O2", "-fomit-frame-pointer", "-o", target, WRAPPED, *options]
    subprocess.run(command, env=mpi.env, check=True)
    return target


def recorded(mpi: Launcher, command: list[str | Path], folder: Path, **settings: str) -> Analysis:
    folder.mkdir()
    done = mpi.run(command, 2, {"WHERRY_OUTPUT": str(folder), **settings}, preload=True)
    assert done.returncode == 0, done.stderr
    return analyse(record.read_all(folder))


def of(analysis: Analysis, function: str) -> list[paths.PlaceRow]:
    return [row for row in paths.places(analysis) if row.function == function]


def check_shares(rows: list[paths.PlaceRow], calls: int) -> None:
    """Three of four calls come from momentum(); how well a sample tells that is tested with the sampling. On a busy
    machine it may be as rare as one call in 1024, which still makes some 40."""
    assert sum(row.totals.calls for row in rows) == pytest.approx(calls, abs=len(rows))
    momentum = sum(row.totals.calls for row in rows if "momentum" in row.place)
    assert calls / 4 < momentum < calls


@on("openmpi", "mpich", "intel")
def test_a_wrapper_is_told_apart_by_its_callers(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    program = compiled(mpi, tmp_path / "wrapped", "-g")
    result = recorded(mpi, [program], tmp_path / "out", WHERRY_NO_COLLECTIVES="1")
    rows = of(result, "MPI_Allreduce")
    site, main = (
        f"global_sum (wrapped_calls.c:{line_of(WRAPPED, 'MPI_Allreduce')})",
        line_of(WRAPPED, "x = momentum(x)"),
    )
    momentum = (
        f"{site} < momentum (wrapped_calls.c:{line_of(WRAPPED, 'double momentum')}) < main (wrapped_calls.c:{main})"
    )
    assert momentum in {row.place for row in rows}
    energy = f"{site} < energy (wrapped_calls.c:{line_of(WRAPPED, 'double energy')})"
    others = [row.place.removeprefix(energy) for row in rows if row.place != momentum]
    assert len(others) == 2  # from main, and from the bottom of a deep recursion
    assert any(place.startswith(" < main") for place in others)
    assert any(place.startswith(" < deep") for place in others)
    check_shares(rows, 2 * 20_000)
    assert "momentum" in str(times.sites(result))


@on("openmpi", "mpich")
def test_so_is_one_in_a_library_and_one_without_names(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    library = compiled(mpi, tmp_path / "libwrapped.so", "-DWRAPPER", "-shared", "-fPIC")
    program = compiled(mpi, tmp_path / "wrapped", "-DPROGRAM", library, f"-Wl,-rpath,{tmp_path}")
    result = recorded(mpi, [program], tmp_path / "1", WHERRY_NO_COLLECTIVES="1")
    rows = of(result, "MPI_Allreduce")
    assert all(row.place.startswith("global_sum (libwrapped.so) < ") for row in rows)
    check_shares(rows, 2 * 20_000)
    subprocess.run(["strip", program], check=True)
    rows = of(recorded(mpi, [program], tmp_path / "2", WHERRY_NO_COLLECTIVES="1"), "MPI_Allreduce")
    callers = {row.place.split(" < ")[1] for row in rows}
    assert len(callers) == 2
    assert all(caller.startswith("wrapped+0x") for caller in callers)


@on("openmpi", "mpich")
def test_calls_that_are_given_back_have_callers_too(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    program = compiled(mpi, tmp_path / "wrapped")
    rows = of(recorded(mpi, [program], tmp_path / "out", WHERRY_ALLREDUCE="native"), "MPI_Allreduce")
    check_shares(rows, 2 * 20_000)


@on("openmpi", "mpich", "intel")
def test_calls_of_a_script_have_its_lines(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    result = recorded(mpi, [mpi.python, SCRIPT], tmp_path / "out")
    line = {mark: line_of(SCRIPT, f"# {mark}") for mark in ("inner", "outer", "direct", "halo", "wait", "pickled")}
    name = SCRIPT.name
    reductions = {row.place.partition(" (")[0]: row for row in of(result, "MPI_Allreduce")}
    assert set(reductions) == {
        f"{name}:{line['inner']} < {name}:{line['outer']}",
        f"{name}:{line['direct']}",
        *(place for place in reductions if place == f"{name}:{line['pickled']}"),
    }
    assert {row.place.partition(" ")[0] for row in of(result, "MPI_Sendrecv")} == {f"{name}:{line['halo']}"}
    assert {row.place.partition(" ")[0] for row in of(result, "MPI_Waitall")} == {f"{name}:{line['wait']}"}
    assert all(row.place.endswith("(mpi4py.MPI.Comm.Sendrecv)") for row in of(result, "MPI_Sendrecv"))
    assert str(SCRIPT.name) in str(times.sites(result))


@on("openmpi", "mpich", "intel")
def test_threads_of_a_script_have_their_own_lines(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    script = PROGRAMS / "threads_and_lines.py"
    result = recorded(mpi, [mpi.python, script], tmp_path / "out", WHERRY_NO_COLLECTIVES="1")
    for function, mark in {"MPI_Allreduce": "first", "MPI_Bcast": "second"}.items():
        lines = {row.place.partition(" ")[0] for row in of(result, function)}
        assert lines == {f"{script.name}:{line_of(script, f'# {mark}')}"}


def draft(rank: int, rows: list[dict[str, object]]) -> Draft:
    base = {"function": 0, "module": 0, "site": 0x20}
    call = {**base, "comm": record.NONE, "count": 100, "bytes": 800, "time_ns": 10**9, "longest_ns": 10**8}
    tables = {
        "functions": [{"name": b"MPI_Allreduce", "kind": 1}],
        "modules": MODULES,
        "calls": [call],
        "paths": [{**base, **row} for row in rows],
    }
    return Draft(rank=rank, rows=tables)


def frame(module: int, at: int, kind: int = 0) -> tuple[int, int, int]:
    return (at, module, kind)


NO_FRAME = (0, 0, 0)


def test_what_several_callers_take_is_estimated(tmp_path: Path) -> None:
    a = {"frames": 1, "frame": [frame(1, 0x99), NO_FRAME, NO_FRAME, NO_FRAME]}
    b = {"frames": 2, "frame": [frame(2, 31, 1), frame(2, 7, 1), NO_FRAME, NO_FRAME]}
    some = {"samples": 3, "calls": 30, "time_ns": 10**7}
    write(tmp_path, [draft(0, [{**a, **some}]), draft(1, [{**a, **some}, {**b, **some, "time_ns": 2 * 10**7}])])
    result = analyse(record.read_all(tmp_path))
    rows = paths.places(result)
    assert [row.place for row in rows] == ["app+0x20 < libsolve.so+0x99", "solve.py:31 < solve.py:7 (app+0x20)"]
    assert [row.totals.calls for row in rows] == [133, 67]
    assert [row.totals.seconds for row in rows] == pytest.approx([1.0, 1.0])
    assert [(row.samples, row.of_samples) for row in rows] == [(6, 9), (3, 9)]
    again = from_data(json.loads(json.dumps(result.data())))
    assert paths.places(again) == rows


def test_one_caller_has_all_calls(tmp_path: Path) -> None:
    row = {"samples": 1, "calls": 1, "time_ns": 5, "frames": 0, "frame": [NO_FRAME] * 4}
    write(tmp_path, [draft(0, [row]), draft(1, [])])
    result = analyse(record.read_all(tmp_path))
    (place,) = paths.places(result)
    assert (place.place, place.totals, place.ranks) == ("app+0x20", result.sites[0].totals, 2)


@pytest.mark.parametrize("wrong", [{"frames": 5}, {"frame": [frame(3, 0)] + [NO_FRAME] * 3}, {"module": 3}])
def test_damaged_paths_are_refused(tmp_path: Path, wrong: dict[str, object]) -> None:
    row: dict[str, object] = {"frames": 1, "frame": [NO_FRAME] * 4}
    write(tmp_path, [draft(0, [{**row, **wrong}])])
    with pytest.raises(record.RecordError, match="paths"):
        record.read(tmp_path / "rank-000000.wrec")
