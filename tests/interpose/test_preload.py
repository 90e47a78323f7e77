"""The preload under real MPI programs: what it counts, how programs start and end, and that nothing else changes."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT, Launcher
from preloading import calls_of, compile_program, records_in, run_compiler, sites_of

Compile = Callable[..., Path]
RANKS = 3


@pytest.fixture(scope="session")
def compiled(mpi: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """compiled("calls.c"): that program, built once for this MPI; further words are options of the compiler."""
    folder = tmp_path_factory.mktemp(f"programs-{mpi.name}")
    made: dict[tuple[str, ...], Path] = {}

    def compile_once(name: str, *options: str) -> Path:
        key = (name, *options)
        if key not in made:
            made[key] = compile_program(mpi, name, folder / f"{Path(name).stem}-{len(made)}", options)
        return made[key]

    return compile_once


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def expected_counts(path: Path) -> Counter[str]:
    pairs = (line.split() for line in path.read_text().splitlines())
    return Counter({name: int(count) for name, count in pairs})


# ---------------------------------------------------------------- counting


def test_counts_are_exact(mpi: Launcher, preload: Path, compiled: Compile, out: Path, tmp_path: Path) -> None:
    done = mpi.run([compiled("calls.c"), tmp_path], RANKS, {"WHERRY_OUTPUT": str(out)}, preload=True)
    assert done.returncode == 0, done.stderr
    records = records_in(out)
    assert [r.rank for r in records] == list(range(RANKS))
    for record in records:
        assert calls_of(record) == expected_counts(tmp_path / f"expected-{record.rank}")
        assert record.size == RANKS
        assert record.finalized
        assert record.abi == mpi.abi
        assert sum(record.dropped.values()) == 0


def test_communicators_have_the_same_key_on_all_ranks(
    mpi: Launcher, preload: Path, compiled: Compile, out: Path, tmp_path: Path
) -> None:
    mpi.run([compiled("calls.c"), tmp_path], RANKS, {"WHERRY_OUTPUT": str(out)}, preload=True)
    named = [
        {bytes(c["name"]).rstrip(b"\0").decode(): int(c["key"]) for c in record.tables["comms"]}
        for record in records_in(out)
    ]
    assert len(named) == RANKS
    assert {"grid of MPI_COMM_WORLD", "part of MPI_COMM_WORLD"} <= set(named[0])
    for name in ("MPI_COMM_WORLD", "the copy"):
        assert len({keys[name] for keys in named}) == 1
    keys = named[0].values()
    assert len(set(keys)) == len(keys)


def test_peers_and_bytes(mpi: Launcher, preload: Path, compiled: Compile, out: Path, tmp_path: Path) -> None:
    mpi.run([compiled("calls.c"), tmp_path], RANKS, {"WHERRY_OUTPUT": str(out)}, preload=True)
    for record in records_in(out):
        nearest = (record.rank + 1) % RANKS
        # Twice: 3 x 4 ints, 8, 1, 5 x 2 and 1 ints to the next rank; and 3 x 2 ints put, 1 got.
        sent = {(int(p["peer"]), int(p["kind"])): (int(p["messages"]), int(p["bytes"])) for p in record.tables["peers"]}
        assert sent[nearest, 0] == (2 * 11, 2 * 4 * 32)
        assert sent[nearest, 2] == (4, 4 * 7)
        assert record.rank not in {peer for peer, _ in sent}


@pytest.mark.parametrize("binding", [1, 2, 3], ids=["mpif.h", "use mpi", "mpi_f08"])
def test_fortran_calls_count_once(mpi: Launcher, preload: Path, compiled: Compile, out: Path, binding: int) -> None:
    if mpi.family == "intel" and binding > 1:
        pytest.skip("the modules in Intel's wheel are for Intel's compiler")
    program = compiled("fortran.f90", "-cpp", "-fallow-argument-mismatch", f"-DBINDING={binding}")
    done = mpi.run([program], RANKS, {"WHERRY_OUTPUT": str(out)}, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr
    records = records_in(out)
    assert len(records) == RANKS
    for record in records:
        calls = calls_of(record)
        assert (calls["MPI_Alltoall"], calls["MPI_Send"], calls["MPI_Bcast"]) == (3, 2, 1)
        assert (calls["MPI_Init"], calls["MPI_Finalize"]) == (1, 1)
        assert sites_of(record, "MPI_Alltoall") == {program.name}


def test_fortran_results_without_a_profile(mpi: Launcher, preload: Path, compiled: Compile) -> None:
    done = mpi.run([compiled("fortran.f90", "-cpp", "-fallow-argument-mismatch", "-DBINDING=1")], RANKS, preload=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_python_with_a_private_library(mpi: Launcher, preload: Path, out: Path) -> None:
    """mpi4py opens libmpi so that no other library sees its symbols, and asks for large-count functions first."""
    if mpi.python is None:
        pytest.skip(f"{mpi.name} has no mpi4py")
    code = (
        "from mpi4py import MPI; import array; w = MPI.COMM_WORLD; n = w.Get_size();"
        "a = array.array('i', range(n)); b = array.array('i', [-1] * n);"
        "[w.Alltoall(a, b) for _ in range(4)]; w.Barrier();"
        "assert list(b) == [w.Get_rank()] * n; w.allgather(1)"
    )
    done = mpi.run([mpi.python, "-c", code], RANKS, {"WHERRY_OUTPUT": str(out)}, preload=True)
    assert done.returncode == 0, done.stderr
    records = records_in(out)
    assert len(records) == RANKS
    for record in records:
        calls = calls_of(record)
        assert (calls["MPI_Alltoall"], calls["MPI_Barrier"]) == (4, 1)
        assert record.finalized


def test_large_counts(mpi: Launcher, preload: Path, compiled: Compile, out: Path) -> None:
    """Where the library has no MPI_X_c, the preload's narrows; a count that does not fit is MPI_ERR_COUNT."""
    refused = ["refused"] if mpi.family == "openmpi" else []
    for env in ({"WHERRY_OUTPUT": str(out)}, {}, {"WHERRY_DISABLE": "1"}):
        done = mpi.run([compiled("large.c"), *refused], RANKS, env, preload=True)
        assert done.returncode == 0, (env, done.stderr)
    assert calls_of(records_in(out)[0])["MPI_Alltoall"] == 1


def test_threads(mpi: Launcher, preload: Path, compiled: Compile, out: Path) -> None:
    done = mpi.run([compiled("threads.c", "-pthread")], 1, {"WHERRY_OUTPUT": str(out)}, preload=True)
    assert done.returncode == 0, done.stderr
    if "no MPI_THREAD_MULTIPLE" in done.stdout:
        pytest.skip(f"{mpi.name} was built without MPI_THREAD_MULTIPLE")
    (record,) = records_in(out)
    calls = calls_of(record)
    assert [calls[f"MPI_{name}"] for name in ("Send", "Irecv", "Wait", "Barrier", "Type_free")] == [2000] * 5
    (to_self,) = (p for p in record.tables["peers"] if p["kind"] == 0)
    assert (to_self["messages"], to_self["bytes"]) == (2000, 8000)


# ---------------------------------------------------------------- starting and ending


def test_sessions_without_a_world(mpi: Launcher, preload: Path, compiled: Compile, out: Path) -> None:
    if mpi.name == "debian-openmpi":
        pytest.skip("Open MPI 4 has no sessions")
    done = mpi.run([compiled("sessions.c")], RANKS, {"WHERRY_OUTPUT": str(out)}, preload=True)
    assert done.returncode == 0, done.stderr
    records = records_in(out)
    assert [(r.rank, r.size, r.finalized) for r in records] == [(i, RANKS, True) for i in range(RANKS)]
    for record in records:
        calls = calls_of(record)
        assert (calls["MPI_Barrier"], calls["MPI_Alltoall"]) == (3, 4)
        assert (calls["MPI_Session_init"], calls["MPI_Session_finalize"]) == (1, 1)
        assert {int(p["peer"]) for p in record.tables["peers"]} == set(range(RANKS)) - {record.rank}


@pytest.mark.parametrize("mpi", ["mpich", "mpich-abi"], indirect=True)  # others cannot, or stand still then
@pytest.mark.parametrize("wait", ["auto", "yield"])
def test_mpi_may_begin_again(mpi: Launcher, preload: Path, compiled: Compile, out: Path, wait: str) -> None:
    """A session, then MPI_COMM_WORLD, whose collectives stay native."""
    program = [compiled("sessions.c"), "again"]
    done = mpi.run(program, RANKS, {"WHERRY_OUTPUT": str(out), "WHERRY_WAIT": wait}, preload=True)
    assert done.returncode == 0, done.stderr
    assert [r.finalized for r in records_in(out)] == [True] * RANKS


@pytest.mark.parametrize("end", ["exit", "_exit", "kill", "segfault", "abort"])
def test_a_program_that_never_finalizes_leaves_a_record(
    mpi: Launcher, preload: Path, compiled: Compile, out: Path, end: str
) -> None:
    mpi.run([compiled("ends.c"), end], 1, {"WHERRY_OUTPUT": str(out)}, preload=True)
    (record,) = records_in(out)
    assert not record.finalized
    assert calls_of(record)["MPI_Barrier"] == 10


def test_what_comes_after_an_abort_is_no_regular_end(
    mpi: Launcher, preload: Path, compiled: Compile, out: Path
) -> None:
    mpi.run([compiled("ends.c"), "abort"], 2, {"WHERRY_OUTPUT": str(out)}, preload=True)
    records = records_in(out)
    assert records
    assert not any(record.finalized for record in records)


def test_a_directory_that_has_a_record_keeps_it(mpi: Launcher, preload: Path, compiled: Compile, out: Path) -> None:
    for _ in range(2):
        mpi.run([compiled("ends.c"), "finalize"], 1, {"WHERRY_OUTPUT": str(out)}, preload=True)
    assert [calls_of(record)["MPI_Barrier"] for record in records_in(out)] == [10, 10]


# ---------------------------------------------------------------- changing nothing else


def test_disabled_touches_nothing(mpi: Launcher, preload: Path, compiled: Compile, out: Path, tmp_path: Path) -> None:
    env = {"WHERRY_OUTPUT": str(out), "WHERRY_TUNING_FILE": str(out / "tuning"), "WHERRY_DISABLE": "1"}
    done = mpi.run([compiled("calls.c"), tmp_path], 2, env, preload=True)
    assert done.returncode == 0, done.stderr
    assert list(out.iterdir()) == []


@pytest.mark.parametrize("wherry_first", [True, False])
def test_other_tools_chain(
    mpi: Launcher, preload: Path, compiled: Compile, out: Path, tmp_path: Path, wherry_first: bool
) -> None:
    tool = compiled("tool.c", "-shared", "-fPIC")
    order = [str(preload), str(tool)] if wherry_first else [str(tool), str(preload)]
    env = {"WHERRY_OUTPUT": str(out), "LD_PRELOAD": ":".join(order), "WHERRY_NO_COLLECTIVES": "1"}
    done = mpi.run([compiled("calls.c"), tmp_path], 2, env, preload=True)
    assert done.returncode == 0, done.stderr
    for record in records_in(out):
        calls, expected = calls_of(record), expected_counts(tmp_path / f"expected-{record.rank}")
        assert calls == expected
        assert f"tool: rank {record.rank} saw {expected['MPI_Alltoall']}" in done.stdout


def test_unusable_output_is_one_line(mpi: Launcher, preload: Path, compiled: Compile, tmp_path: Path) -> None:
    done = mpi.run([compiled("alone.c")], 1, {"WHERRY_OUTPUT": str(tmp_path / "none")}, preload=True)
    assert (done.returncode, done.stdout) == (0, "right\n")
    assert "none/rank-000000.wrec: No such file or directory; nothing is recorded" in done.stderr


def test_full_disk_is_one_line(mpi: Launcher, preload: Path, compiled: Compile, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    if os.geteuid() != 0 or not mount_small(small):
        pytest.skip("mounting a small file system needs root")
    try:
        done = mpi.run([compiled("alone.c")], 1, {"WHERRY_OUTPUT": str(small)}, preload=True)
        left = list(small.iterdir())
    finally:
        subprocess.run(["umount", str(small)], check=True)
    assert (done.returncode, done.stdout) == (0, "right\n")
    assert "No space left on device; nothing is recorded" in done.stderr
    assert left == []


def test_a_limit_of_file_sizes_is_one_line(
    mpi: Launcher, preload: Path, compiled: Compile, out: Path, tmp_path: Path
) -> None:
    program = ["sh", "-c", 'ulimit -f 200 && exec "$0"', compiled("alone.c")]  # of 512 bytes
    if mpi.run(program, 1).returncode != 0:
        pytest.skip(f"{mpi.name} itself needs larger files")
    done = mpi.run(program, 1, {"WHERRY_OUTPUT": str(out)}, preload=True)
    assert (done.returncode, done.stdout) == (0, "right\n")
    assert "File too large; nothing is recorded" in done.stderr
    assert list(out.iterdir()) == []


def mount_small(folder: Path) -> bool:
    return subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]).returncode == 0


def test_pcontrol_forces_a_strategy(mpi: Launcher, preload: Path, compiled: Compile) -> None:
    program = compiled("control.c", f"-I{ROOT / 'src'}")
    assert mpi.run([program], 1).returncode == 0
    assert mpi.run([program, "wherry"], 1, preload=True).returncode == 0
    assert mpi.run([program], 1, {"WHERRY_DISABLE": "1"}, preload=True).returncode == 0


def test_unknown_settings_are_told_once(mpi: Launcher, preload: Path, compiled: Compile) -> None:
    done = mpi.run([compiled("ends.c"), "finalize"], 2, {"WHERRY_STAGING_MAX": "-1"}, preload=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("wherry: WHERRY_STAGING_MAX") == 1


def test_a_program_without_mpi(preload: Path, tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    program = run_compiler(Path(compiler), Path(__file__).parent / "programs/plain.c", tmp_path / "plain", ())
    done = subprocess.run([program], env={"LD_PRELOAD": str(preload)}, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "plain\n", "")


# One MPI is enough whose library other users may read.
@pytest.mark.parametrize("mpi", ["debian-mpich"], indirect=True)
def test_a_set_user_id_program_ignores_the_environment(mpi: Launcher, preload: Path) -> None:
    """The loader drops LD_PRELOAD there, so the program is linked to the preload."""
    if os.geteuid() != 0:
        pytest.skip("needs root to make a program of another user")
    folder = Path("/var/tmp") / f"wherry-setuid-{os.getpid()}"
    shutil.copytree(preload.parent, folder)
    try:
        output = folder / "out"
        output.mkdir()
        for path in (folder, output):
            path.chmod(0o777)
        options = ["-Wl,--no-as-needed", f"-L{folder}", "-lwherry", f"-Wl,-rpath,{folder}"]
        program = compile_program(mpi, "alone.c", folder / "alone", options)
        env = {**mpi.env, "WHERRY_OUTPUT": str(output), "WHERRY_TUNING_FILE": str(output / "tuning")}
        for mode, records in ((0o755, 1), (0o4755, 0)):
            os.chown(program, 65534, 65534)
            program.chmod(mode)
            done = subprocess.run([program], env=env, capture_output=True, text=True)
            assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
            assert len(list(output.glob("*.wrec"))) == records
            for path in output.iterdir():
                path.unlink()
    finally:
        shutil.rmtree(folder)


def exported(library: Path) -> set[str]:
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in lines.splitlines()}


def test_only_mpi_names_are_exported(preload: Path) -> None:
    names = exported(preload)
    assert {"MPI_Alltoall", "PMPI_Alltoall_c", "mpi_alltoall_", "MPI_Pcontrol"} <= names
    assert {n for n in names if not n.lower().removeprefix("p").startswith("mpi_")} == set()
    for backend in preload.parent.glob("libwherry-*.so"):
        assert exported(backend) == {"wherry_backend"}
