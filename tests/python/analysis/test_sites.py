"""Names of call sites as people know them: a true name or none. And what counts as a program's run time."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import Launcher, on

from wherry import elf
from wherry.analysis import Analysis, analyse, record
from wherry.analysis.sites import Site, _describe, name_sites

PROGRAM = Path(__file__).parents[1] / "programs" / "known_sites.c"
FUNCTIONS = {"MPI_Barrier": "meet", "MPI_Allreduce": "hidden_sum", "MPI_Bcast": "exported_bcast"}


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("__pyx_pw_6mpi4py_3MPI_4Comm_137Alltoallv", "mpi4py.MPI.Comm.Alltoallv"),
        ("__pyx_pw_6mpi4py_3MPI_4Comm_5Split", "mpi4py.MPI.Comm.Split"),
        ("__pyx_f_6mpi4py_3MPI_PyMPI_bcast_p2p.constprop.0", "mpi4py.MPI.PyMPI_bcast_p2p"),
        ("__pyx_foo", "__pyx_foo"),
        ("main", "main"),
    ],
)
def test_methods_of_mpi4py_have_their_python_name(symbol: str, name: str) -> None:
    assert _describe("/lib/MPI.so", symbol, "??:0") == f"{name} (MPI.so)"


def built(mpi: Launcher, folder: Path, *flags: str) -> Path:
    if mpi.mpicc is None or shutil.which("addr2line") is None:
        pytest.skip(f"needs addr2line and a C compiler for {mpi.name}")
    program = folder / "known_sites"
    subprocess.run([str(mpi.mpicc), "-O2", *flags, "-o", program, PROGRAM], env=mpi.env, check=True)
    return program


def recorded(mpi: Launcher, program: Path, folder: Path) -> Analysis:
    settings = {"WHERRY_OUTPUT": str(folder), "WHERRY_NO_COLLECTIVES": "1"}
    folder.mkdir()
    done = mpi.run([program], 2, settings, preload=True)
    assert done.returncode == 0, done.stderr
    return analyse(record.read_all(folder))


def line_of(call: str) -> int:
    return next(i for i, line in enumerate(PROGRAM.read_text().splitlines(), 1) if f"{call}(" in line)


@on("openmpi", "mpich", "intel")
def test_names_are_true_or_none(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    expected = {
        ("-g",): {call: f"{name} (known_sites.c:{line_of(call)})" for call, name in FUNCTIONS.items()},
        (): {call: f"{name} (known_sites)" for call, name in FUNCTIONS.items()},
        ("-s",): dict.fromkeys(FUNCTIONS, ""),
        ("-rdynamic", "-s"): dict.fromkeys(FUNCTIONS, "") | {"MPI_Bcast": "exported_bcast (known_sites)"},
        ("-no-pie", "-rdynamic", "-s"): dict.fromkeys(FUNCTIONS, "") | {"MPI_Bcast": "exported_bcast (known_sites)"},
    }
    for number, (flags, names) in enumerate(expected.items()):
        result = recorded(mpi, built(mpi, tmp_path, *flags), tmp_path / str(number))
        sites = {row.function: row for row in result.sites}
        for call, name in names.items():
            assert sites[call].site == (name or f"known_sites+0x{sites[call].offset:x}"), f"{call}, built with {flags}"


@on("openmpi", "mpich")
def test_run_time_ends_where_finalize_begins(mpi: Launcher, preload: Path, tmp_path: Path) -> None:
    result = recorded(mpi, built(mpi, tmp_path), tmp_path / "out")
    records = record.read_all(tmp_path / "out").ranks
    assert len(records) == 2
    for one, row in zip(records, result.ranks, strict=True):
        calls = one.tables["calls"]
        (finalize,) = (call["time_ns"] for call in calls if one.function(call["function"]) == "MPI_Finalize")
        assert finalize >= 500_000_000  # it sleeps so long
        assert one.run_begin_ns == one.init_ns
        assert one.run_end_ns == one.end_ns - finalize
        assert row.seconds == pytest.approx((one.run_end_ns - one.init_ns) * 1e-9)
        assert row.mpi_seconds <= row.seconds


def test_functions_have_their_sizes(tmp_path: Path) -> None:
    source, program = tmp_path / "a.c", tmp_path / "a"
    source.write_text("int first(void) { return 1; }\nint main(void) { return first(); }\n")
    if shutil.which("cc") is None or shutil.which("nm") is None:
        pytest.skip("needs a C compiler and nm")
    subprocess.run(["cc", "-O0", "-rdynamic", "-o", program, source], check=True)
    listed = subprocess.run(["nm", "-S", "--defined-only", program], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    expected = {(int(row[0], 16), int(row[0], 16) + int(row[1], 16)) for row in rows if row[-1] in ("first", "main")}
    assert len(expected) == 2
    assert expected <= set(elf.functions(program))


def test_damaged_files_have_no_functions(tmp_path: Path) -> None:
    good, path = Path("/bin/sh").read_bytes(), tmp_path / "damaged"
    for length in (0, 10, 64, 1000, len(good) - 100):
        path.write_bytes(good[:length])
        elf.functions(path)
    path.write_bytes(b"\x7fELF\x02\x01" + bytes(200))
    assert elf.functions(path) == []
    assert elf.functions(tmp_path / "none") == []


def test_what_a_caller_was_inlined_into_is_said(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None or shutil.which("addr2line") is None:
        pytest.skip("needs addr2line and a C compiler")
    source = tmp_path / "inlined.c"
    source.write_text(
        "int called(int);\n"
        "static inline __attribute__((always_inline)) int wrapper(int x) { return called(x) + 1; }\n"
        "int solve(int x) { return 2 * wrapper(x); }\n"
    )
    library = tmp_path / "inlined.so"
    subprocess.run([compiler, "-g", "-O2", "-fPIC", "-shared", "-o", library, source], check=True)
    sites = [Site(str(library), at, 0) for first, last in elf.functions(library) for at in range(first + 1, last + 1)]
    assert "wrapper (inlined.c:2) in solve" in name_sites(sites).values()
