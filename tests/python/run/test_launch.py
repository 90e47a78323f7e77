"""Starting programs: the launcher's own way for each family, checks before the start, exit codes and signals."""

from __future__ import annotations

import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import Launcher as Installed

from wherry import elf
from wherry.errors import UsageError
from wherry.run import launch
from wherry.run.check import check
from wherry.run.launch import Command, Launcher

LIBRARY = Path("/x y/libwherry.so")
VALUES = {"WHERRY_OUTPUT": "/out dir;a,b"}


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Puts a launcher on the PATH that knows only --version."""

    def make(name: str, version: str) -> Path:
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\necho '{version}'\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")
        return path

    return make


@pytest.fixture(autouse=True)
def nothing_preloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LD_PRELOAD", raising=False)


@pytest.mark.parametrize(
    ("name", "version", "kind"),
    [
        ("mpiexec", "mpiexec (Open MPI) 5.0.11", "openmpi"),
        ("orterun", "mpiexec.openmpi (OpenRTE) 4.1.4", "openmpi"),
        ("prterun", "prterun (PRRTE) 3.0.6", "openmpi"),
        ("mpiexec", "HYDRA build details:", "mpich"),
        ("mpiexec.hydra", "Intel(R) MPI Library for Linux* OS, Version 2021.18.1", "intel"),
        ("srun", "slurm 22.05", "srun"),
        ("mpirun", "something else", "unknown"),
    ],
)
def test_launchers_are_known_by_what_they_say(
    fake,  # type: ignore[no-untyped-def]
    name: str,
    version: str,
    kind: str,
) -> None:
    path = fake(name, version)
    found = launch.find_launcher([name, "-n", "2", "app"])
    assert found == Launcher(0, str(path), kind)


def test_a_launcher_behind_a_wrapper(fake) -> None:  # type: ignore[no-untyped-def]
    fake("mpiexec", "HYDRA")
    found = launch.find_launcher(["timeout", "60", "mpiexec", "-n", "2", "app"])
    assert found is not None
    assert (found.index, found.kind) == (2, "mpich")


def test_no_launcher() -> None:
    assert launch.find_launcher(["./app", "mpiexec"]) is None


def test_a_missing_launcher_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UsageError, match=r"'mpiexec' not found \(no launcher is on the PATH\).*pip install mpich"):
        launch.find_launcher(["mpiexec", "-n", "2", "app"])


def test_a_missing_launcher_names_those_that_are_not_on_the_path(
    mpi: Installed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UsageError, match=f" {re.escape(mpi.mpi.mpiexec[0])}[,)]"):
        launch.find_launcher(["mpiexec", "-n", "2", "app"])


def built(kind: str, *words: str) -> Command:
    return launch.build(["mpiexec", *words], Launcher(0, "/bin/mpiexec", kind), VALUES, LIBRARY)


def test_open_mpi_gets_names_and_the_launcher_is_not_preloaded() -> None:
    made = built("openmpi", "-n", "2", "./a", ":", "-n", "1", "./b")
    options = ["-x", "LD_PRELOAD=/x y/libwherry.so", "-x", "WHERRY_OUTPUT"]
    assert made.argv == ["mpiexec", *options, "-n", "2", "./a", ":", *options, "-n", "1", "./b"]
    assert made.environment["WHERRY_OUTPUT"] == "/out dir;a,b"
    assert "LD_PRELOAD" not in made.environment


@pytest.mark.parametrize("kind", ["mpich", "intel"])
def test_hydra_gets_global_values(kind: str) -> None:
    made = built(kind, "-n", "2", "./a", ":", "-n", "1", "./b")
    options = ["-genv", "LD_PRELOAD", "/x y/libwherry.so", "-genv", "WHERRY_OUTPUT", "/out dir;a,b"]
    assert made.argv == ["mpiexec", *options, "-n", "2", "./a", ":", "-n", "1", "./b"]
    assert "LD_PRELOAD" not in made.environment


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], "--export=ALL,LD_PRELOAD=/x y/libwherry.so,WHERRY_OUTPUT"),
        (["--export=ALL,X=1"], "--export=ALL,X=1,LD_PRELOAD=/x y/libwherry.so,WHERRY_OUTPUT"),
        (["--export=NONE"], "--export=LD_PRELOAD=/x y/libwherry.so,WHERRY_OUTPUT"),
    ],
)
def test_srun_exports(given: list[str], expected: str) -> None:
    made = built("srun", *given, "-n", "2", "./a")
    assert made.argv == ["mpiexec", expected, "-n", "2", "./a"]
    assert made.environment["WHERRY_OUTPUT"] == VALUES["WHERRY_OUTPUT"]


def test_without_a_launcher_the_environment_is_set() -> None:
    made = launch.build(["./app", "x"], None, VALUES, LIBRARY)
    assert made.argv == ["./app", "x"]
    assert made.environment["LD_PRELOAD"] == str(LIBRARY)


def test_another_preload_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "/other.so")
    assert launch.build(["./app"], None, {}, LIBRARY).environment["LD_PRELOAD"] == f"{LIBRARY}:/other.so"


@pytest.mark.parametrize(
    ("kind", "words", "expected"),
    [
        ("openmpi", "-n 4 --bind-to none sh a", ["sh"]),
        ("openmpi", "--mca btl self -x A=1 -np 2 sh : -n 1 env", ["sh", "env"]),
        ("mpich", "-genv A 1 -ppn 2 -n 4 sh", ["sh"]),
        ("srun", "-n4 --mpi=pmix sh", ["sh"]),
        ("srun", "-N 2 -n 4 sh", ["sh"]),
        ("openmpi", "--unknown-option value sh", ["sh"]),
        ("mpich", "-configfile f", []),
    ],
)
def test_programs_are_found_behind_options(kind: str, words: str, expected: list[str]) -> None:
    command = ["mpiexec", *words.split()]
    found = launch.programs(command, Launcher(0, "mpiexec", kind))
    assert [program.word for program in found] == expected
    assert all(command[program.index] == program.word for program in found)


def test_a_missing_program_is_an_error_only_where_it_must_be_here() -> None:
    launcher = Launcher(0, "mpiexec", "openmpi")
    for options in (["-n", "2"], ["--oversubscribe", "-n", "2"]):
        with pytest.raises(UsageError, match=r"'\./nope' not found"):
            check(launcher, launch.programs(["mpiexec", *options, "./nope"], launcher))
    assert check(launcher, launch.programs(["mpiexec", "--wdir", "/far", "-n", "2", "./nope"], launcher)) == []


def compiled(folder: Path, source: str, *options: str, compiler: Sequence[str] = ("cc",)) -> Path:
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"needs the compiler {compiler[0]}")
    folder.mkdir(exist_ok=True)
    (folder / "a.c").write_text(textwrap.dedent(source))
    program = folder / "it's an app"
    done = subprocess.run([*compiler, "-o", program, folder / "a.c", *options], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"cannot compile with {compiler[0]} {' '.join(options)}: {done.stderr.strip()[-200:]}")
    return program


def findings(command: list[str], launcher: Launcher | None = None) -> list[str]:
    return [f"{f.level}: {f.text}" for f in check(launcher, launch.programs(command, launcher))]


def test_a_static_program_is_warned_about(tmp_path: Path) -> None:
    program = compiled(tmp_path, "int main(void) { return 0; }", "-static")
    (text,) = findings([str(program)])
    assert text.startswith("warning:")
    assert "statically linked" in text


def test_a_program_without_mpi_is_noted(tmp_path: Path) -> None:
    program = compiled(tmp_path, "int main(void) { return 0; }")
    (text,) = findings([str(program)])
    assert text.startswith("note:")
    assert "not linked to an MPI" in text


def test_scripts_and_interpreters_are_not_checked(tmp_path: Path) -> None:
    script = tmp_path / "run me"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert findings([str(script)]) == []
    assert findings(["sh", "x.sh"]) == []


def test_the_python_of_wherry_itself_is_noted_unless_it_has_mpi4py(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (text,) = findings([sys.executable, "x.py"])
    assert text.startswith(f"note: '{sys.executable}' is the Python that Wherry itself runs in, which has no mpi4py")
    (tmp_path / "mpi4py").mkdir()
    (tmp_path / "mpi4py/__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert findings([sys.executable, "x.py"]) == []


def test_parts_that_wherry_cannot_enter_make_the_run_profile_only(tmp_path: Path) -> None:
    static = str(compiled(tmp_path / "static", "int main(void) { return 0; }", "-static"))
    plain = str(compiled(tmp_path / "plain", "int main(void) { return 0; }"))
    launcher = Launcher(0, "mpiexec", "openmpi")

    def profile_only(*words: str) -> list[str]:
        parts = " : ".join(f"-n 1 {{{i}}}" for i in range(len(words))).split()
        command = ["mpiexec", *(part.format(*words) for part in parts)]
        return [f.text for f in check(launcher, launch.programs(command, launcher)) if f.profile_only]

    for alike in ([static, static], [plain, plain], [sys.executable, "sh"], [static], [plain]):
        assert profile_only(*alike) == []
    for outside, *others in ([static, "sh"], [plain, sys.executable], [static, "sh", sys.executable]):
        for words in ([outside, *others], [*others, outside]):
            (text,) = profile_only(*words)
            assert text.startswith(f"ranks of '{outside}' may run without Wherry")
            assert "WHERRY_NO_COLLECTIVES=1, WHERRY_CACHE=off" in text
    assert len(profile_only(static, plain)) == 1  # which may load an MPI later


HELLO = """
    #include <mpi.h>
    int main(void) { MPI_Init(0, 0); return MPI_Finalize(); }
"""


def test_mixed_families_are_refused(mpi: Installed, tmp_path: Path) -> None:
    if mpi.mpicc is None or mpi.abi == "abi":
        pytest.skip(f"{mpi.name} has no compiler for a library that only one family has")
    # The compiler of the Intel wheel does not know where its own files are.
    program = compiled(
        tmp_path, HELLO, f"-I{mpi.mpi.prefix}/include", f"-L{mpi.mpi.prefix}/lib", compiler=(str(mpi.mpicc),)
    )
    family = "openmpi" if mpi.family == "openmpi" else "mpich"
    other = "mpich" if family == "openmpi" else "openmpi"
    command = ["mpiexec", "-n", "2", str(program)]
    assert elf.family(program) == family
    assert findings(command, Launcher(0, "/usr/bin/mpiexec", family)) == []
    with pytest.raises(UsageError, match="mixed MPI families"):
        findings(command, Launcher(0, "/usr/bin/mpiexec", other))


def test_damaged_elf_files_are_no_elf_files(tmp_path: Path) -> None:
    good = Path("/bin/sh").read_bytes() if Path("/bin/sh").exists() else b""
    for length in (0, 3, 63, 64, 100, 1000):
        path = tmp_path / "app"
        path.write_bytes(good[:length])
        assert elf.read(path) is None or elf.read(path).needed == ()  # type: ignore[union-attr]


def execute(*words: str) -> int:
    return launch.execute(Command(list(words), dict(os.environ)))


@pytest.mark.parametrize("code", [0, 1, 3, 77, 255])
def test_exit_codes_are_passed_on(code: int) -> None:
    assert execute("sh", "-c", f"exit {code}") == code


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM])
def test_death_by_a_signal_is_128_plus_its_number(number: signal.Signals) -> None:
    assert execute("sh", "-c", f"kill -{int(number)} $$") == 128 + number


def test_arguments_meet_no_shell(tmp_path: Path) -> None:
    evil = ["a b", "$(touch x)", "'", '"', "<b>", ";", "*"]
    out = tmp_path / "out"
    code = execute(
        sys.executable, "-c", "import sys; open(sys.argv[1], 'w').write(repr(sys.argv[2:]))", str(out), *evil
    )
    assert code == 0
    assert out.read_text() == repr(evil)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_reach_the_program_and_its_code_comes_back(tmp_path: Path, number: signal.Signals) -> None:
    ready = tmp_path / "ready"
    child = f"""
import signal, sys, pathlib, time
signal.signal({int(number)}, lambda *_: sys.exit(42))
pathlib.Path({str(ready)!r}).touch()
time.sleep(60)
"""
    parent = f"""
import os, sys
from wherry.run.launch import Command, execute
sys.exit(execute(Command([sys.executable, "-c", {child!r}], dict(os.environ))))
"""
    process = subprocess.Popen(
        [sys.executable, "-c", parent], stdin=subprocess.DEVNULL, env=python_environment(), start_new_session=True
    )
    try:
        while not ready.exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(number)
        assert process.wait(timeout=60) == 42
    finally:
        process.kill()


def test_ctrl_c_reaches_the_program_once(tmp_path: Path) -> None:
    """The terminal sends it to the whole group, wherever standard input comes from."""
    ready = tmp_path / "ready"
    child = f"""
import signal, sys, pathlib, time
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(time.monotonic()))
pathlib.Path({str(ready)!r}).touch()
while not seen or time.monotonic() < seen[0] + 1:
    time.sleep(0.01)
sys.exit(40 + len(seen))
"""
    parent = f"""
import os, sys
from wherry.run.launch import Command, execute
os.open(sys.argv[1], os.O_RDWR)  # the first terminal of a session becomes its own
sys.exit(execute(Command([sys.executable, "-c", {child!r}], dict(os.environ))))
"""
    keyboard, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", parent, os.ttyname(terminal)],
        stdin=subprocess.DEVNULL,
        env=python_environment(),
        start_new_session=True,
    )
    try:
        while not ready.exists() and process.poll() is None:
            time.sleep(0.01)
        os.write(keyboard, b"\x03")
        assert process.wait(timeout=60) == 41
    finally:
        process.kill()
        os.close(keyboard)
        os.close(terminal)


def python_environment() -> dict[str, str]:
    source = Path(launch.__file__).resolve().parents[2]
    return {**os.environ, "PYTHONPATH": str(source)}
