"""Starts a program under its own launcher with Wherry preloaded; nothing goes through a shell.

The launcher itself should not run with the preload, so each launcher is told to set the variables for its ranks
in its own way. Only where no launcher is involved, or an unknown one, do they go into the environment.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from wherry import elf
from wherry.errors import UsageError

# Open MPI refuses to start as root unless it is told twice (by mpiexec and by the daemons of Open MPI 5).
OPENMPI_ROOT_VARIABLES = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}
LAUNCHER_NAMES = ("mpiexec", "mpirun", "orterun", "prterun", "srun", "mpiexec.hydra", "prun", "oshrun")
#: Programs that run the command in their arguments; the launcher may come after them.
WRAPPERS = ("env", "timeout", "nice", "ionice", "taskset", "numactl", "stdbuf", "setsid", "time", "nohup", "chrt")
#: How a launcher of each kind gives itself away in the output of --version.
_VERSIONS = (
    ("Intel(R) MPI", "intel"),
    ("Open MPI", "openmpi"),
    ("OpenRTE", "openmpi"),
    ("PRRTE", "openmpi"),
    ("prterun", "openmpi"),
    ("HYDRA", "mpich"),
    ("slurm", "srun"),
)
FAMILY_OF = {"openmpi": "openmpi", "mpich": "mpich", "intel": "mpich"}
TITLES = {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel MPI", "srun": "Slurm", "abi": "standard ABI"}

_WORDS = str.split
#: Launcher options by the number of arguments that follow them, to find where the program begins.
_ARGUMENTS: dict[str, dict[int, list[str]]] = {
    "openmpi": {
        0: _WORDS(
            "--oversubscribe -oversubscribe --nooversubscribe -nooversubscribe --allow-run-as-root --use-hwthread-cpus"
            " -use-hwthread-cpus --report-bindings -report-bindings --tag-output -tag-output --timestamp-output"
            " -timestamp-output -q --quiet -v --verbose"
        ),
        1: _WORDS(
            "-n -np --n --np -c -H -host --host -hostfile --hostfile -machinefile --machinefile -default-hostfile"
            " --default-hostfile -x -wdir --wdir -wd --wd -rf --rankfile -rankfile -map-by --map-by -bind-to"
            " --bind-to -rank-by --rank-by -N --N -npernode --npernode -npersocket --npersocket -path --path"
            " -prefix --prefix -output --output -output-filename --output-filename -app --app -timeout --timeout"
            " -tune --tune -am --am -report-uri --report-uri -stdin --stdin -personality --personality -display"
            " --display --runtime-options --pset --cpu-list -cpu-list --cpu-set --cpus-per-proc --cpus-per-rank"
        ),
        2: _WORDS("-mca --mca -gmca --gmca -omca --omca -prtemca --prtemca -pmixmca --pmixmca"),
    },
    "mpich": {
        0: _WORDS(
            "-l -v -verbose -prepend-rank -envall -envnone -genvall -genvnone -ordered-output -print-all-exitcodes"
        ),
        1: _WORDS(
            "-n -np -ppn -perhost -hosts -host -f -machinefile -hostfile -wdir -iface -launcher -launcher-exec"
            " -rmk -bind-to -map-by -membind -envlist -genvlist -outfile-pattern -errfile-pattern -path -rr -gwdir"
            " -prepend-pattern -configfile -bootstrap -bootstrap-exec -rank-map -usize -gpus-per-proc -s -pmi-port"
            " -grr -gpath -ghosts -gn -gnp -env-exclude -info -a -ilp64 -trace"
        ),
        2: _WORDS("-genv -env"),
    },
    "srun": {
        1: _WORDS(
            "-n -N -c -t -p -w -x -J -A -o -e -i -D -m -d -C -q -T -G -B -F -W -Z --mpi --ntasks --nodes --time"
            " --partition --cpus-per-task --ntasks-per-node --nodelist --export --job-name --account --output"
            " --error --chdir --distribution --mem --gres --qos --constraint --cpu-bind --jobid --het-group"
        )
    },
}
_ARGUMENTS["intel"] = _ARGUMENTS["mpich"]
#: Options after which the program may be found elsewhere than here, or is named in a file.
_ELSEWHERE = _WORDS(
    "-wdir --wdir -wd --wd -gwdir -D --chdir -host --host -H -hosts -hostfile --hostfile -f -machinefile -path --path"
    " --machinefile -configfile -app --app -w --nodelist --multi-prog"
)
_TOO_LONG_S = 20.0  # for --version; Intel's mpirun takes a second


@dataclass(frozen=True)
class Launcher:
    index: int  # of its word in the command
    path: str
    kind: str  # openmpi, mpich, intel, srun or unknown


@dataclass(frozen=True)
class Program:
    """A program in the command (there are several in an MPMD start)."""

    index: int
    word: str
    path: Path | None  # None: not found here
    certain: bool  # all words before it were understood and it must be on this machine


@dataclass
class Command:
    """What will be executed."""

    argv: list[str]
    environment: dict[str, str]
    notes: list[str] = field(default_factory=list)


def find_launcher(command: Sequence[str], meanwhile: Callable[[], None] = lambda: None) -> Launcher | None:
    """The launcher in a command, behind wrappers such as `timeout 60`; None if the program starts directly.

    meanwhile: work of the caller's, for the time that a launcher takes to say what it is.
    """
    wrapped = Path(command[0]).name in WRAPPERS
    for i, word in enumerate(command if wrapped else command[:1]):
        if Path(word).name.split(".")[0] in {name.split(".")[0] for name in LAUNCHER_NAMES}:
            return _identify(i, word, meanwhile)
    return None


def _identify(index: int, word: str, meanwhile: Callable[[], None]) -> Launcher:
    path = shutil.which(word)
    if path is None:
        raise UsageError(_no_such_launcher(word))
    said = _version_of(path, meanwhile)
    kind = next((kind for sign, kind in _VERSIONS if sign in said), "unknown")
    if kind == "unknown" and Path(word).name == "srun":
        kind = "srun"
    return Launcher(index, path, kind)


def _version_of(path: str, meanwhile: Callable[[], None]) -> str:
    try:
        answer = subprocess.Popen(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={**os.environ, **root_variables()},
        )
    except OSError:
        return ""
    with answer:
        meanwhile()
        try:
            return answer.communicate(timeout=_TOO_LONG_S)[0]
        except subprocess.TimeoutExpired:
            answer.kill()
            return ""


def _no_such_launcher(word: str) -> str:
    from wherry.run.mpis import find_mpis  # here: of all runs only those with a mistake in them need it

    there = [name for name in LAUNCHER_NAMES if shutil.which(name)]
    have = f"on the PATH: {', '.join(there)}" if there else "no launcher is on the PATH"
    known = ", ".join(dict.fromkeys(mpi.mpiexec[0] for mpi in find_mpis()))
    advice = f"give its full path (here are {known})" if known else "give its full path"
    return (
        f"launcher '{word}' not found ({have}); {advice}, or install an MPI, for example"
        " `pip install mpich` or `apt-get install openmpi-bin`"
    )


def root_variables() -> dict[str, str]:
    return OPENMPI_ROOT_VARIABLES if os.geteuid() == 0 else {}


def programs(command: Sequence[str], launcher: Launcher | None) -> list[Program]:
    """The programs that a command starts; one per part of an MPMD command."""
    if launcher is None:
        first = _skip_wrapper(command)
        return [_program(first, command[first], certain=first == 0)] if first < len(command) else []
    starts = [launcher.index + 1, *(i + 1 for i, word in enumerate(command) if word == ":" and i > launcher.index)]
    ends = [*(start - 1 for start in starts[1:]), len(command)]
    parts = (_first_program(command, a, b, launcher.kind) for a, b in zip(starts, ends, strict=True))
    return [part for part in parts if part is not None]


def _skip_wrapper(command: Sequence[str]) -> int:
    if Path(command[0]).name not in WRAPPERS:
        return 0
    for i, word in enumerate(command[1:], 1):
        if not word.startswith("-") and "=" not in word and not word[:1].isdigit() and shutil.which(word):
            return i
    return len(command)


def _first_program(command: Sequence[str], start: int, end: int, kind: str) -> Program | None:
    takes = {word: n for n, words in _ARGUMENTS.get(kind, {}).items() for word in words}
    certain, i = True, start
    while i < end:
        word = command[i]
        if not word.startswith("-"):
            found = _program(i, word, certain)
            if found.path is not None or certain:
                return found
            i += 1  # perhaps the argument of an option that is not in the table
            continue
        certain = certain and word not in _ELSEWHERE and (word in takes or "=" in word)
        i += 1 + takes.get(word, 0)
    return None


def _program(index: int, word: str, certain: bool) -> Program:
    path = shutil.which(word)
    return Program(index, word, Path(path) if path else None, certain)


def loaded_first(programs: Sequence[Program]) -> list[str]:
    """The run-times of sanitizers that the programs are linked to: they refuse to start behind another library."""
    found = (elf.sanitizer(program.path) for program in programs if program.path is not None)
    return list(dict.fromkeys(filter(None, found)))


def build(
    command: Sequence[str],
    launcher: Launcher | None,
    variables: Mapping[str, str],
    library: Path | None,
    first: Sequence[str] = (),
) -> Command:
    """The command that runs the same with the variables set in every rank, and the library preloaded if there is one.

    first: libraries that must be loaded before all others.
    """
    preload = ":".join(x for x in (*first, str(library), os.environ.get("LD_PRELOAD", "")) if x)
    values = {"LD_PRELOAD": preload, **variables} if library else variables
    made = Command(list(command), dict(os.environ))
    kind = launcher.kind if launcher else "none"
    if values:
        _BUILDERS.get(kind, _in_environment)(made, launcher.index + 1 if launcher else 0, values)
    if kind == "openmpi" and (extra := root_variables()):
        made.environment.update(extra)
        made.notes.append("running as root: OMPI_ALLOW_RUN_AS_ROOT and PRTE_ALLOW_RUN_AS_ROOT are set")
    if kind == "unknown" and launcher is not None:
        made.notes.append(
            f"{launcher.path} is no launcher that Wherry knows; LD_PRELOAD is set in its environment and"
            " reaches the ranks only if it passes the environment on"
        )
    return made


def _openmpi(made: Command, at: int, values: Mapping[str, str]) -> None:
    # By name only, except for LD_PRELOAD: values may hold characters that mpiexec splits at, and the launcher's own
    # environment must not preload. Open MPI 4 takes -x for one part of an MPMD command, so every part gets them.
    made.environment.update({name: value for name, value in values.items() if name != "LD_PRELOAD"})
    options = [word for name in values for word in ("-x", name if name != "LD_PRELOAD" else f"{name}={values[name]}")]
    parts = [at, *(i + 1 for i, word in enumerate(made.argv) if word == ":" and i >= at)]
    for position in reversed(parts):
        made.argv[position:position] = options


def _hydra(made: Command, at: int, values: Mapping[str, str]) -> None:
    made.argv[at:at] = [word for name, value in values.items() for word in ("-genv", name, value)]


def _srun(made: Command, at: int, values: Mapping[str, str]) -> None:
    made.environment.update({name: value for name, value in values.items() if name != "LD_PRELOAD"})
    names = ",".join(name if name != "LD_PRELOAD" else f"{name}={values[name]}" for name in values)
    for i in range(at, len(made.argv)):
        if made.argv[i].startswith("--export="):
            given = made.argv[i].removeprefix("--export=")
            made.argv[i] = f"--export={names if given in ('NONE', 'NIL') else f'{given},{names}'}"
            return
    made.argv[at:at] = [f"--export=ALL,{names}"]


def _in_environment(made: Command, at: int, values: Mapping[str, str]) -> None:
    made.environment.update(values)


_BUILDERS: dict[str, Callable[[Command, int, Mapping[str, str]], None]] = {
    "openmpi": _openmpi,
    "mpich": _hydra,
    "intel": _hydra,
    "srun": _srun,
}


def execute(command: Command) -> int:
    """Runs it to its end and returns its exit code; 128 + the number of the signal that ended it."""
    try:
        child = subprocess.Popen(command.argv, env=command.environment)
    except FileNotFoundError as error:
        raise UsageError(f"program '{command.argv[0]}' not found; check its name or give its path") from error
    except OSError as error:
        raise UsageError(f"'{command.argv[0]}' cannot be started: {error.strerror}") from error
    with _passing_signals(child):
        code = child.wait()
    return 128 - code if code < 0 else code


@contextmanager
def _passing_signals(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """Signals to Wherry go to the child, which decides; Wherry stays to report."""

    def pass_on(number: int, frame: object) -> None:
        # Ctrl-C in a terminal reaches the child by itself; a second SIGINT would make mpiexec abort at once.
        if not (number == signal.SIGINT and _in_foreground()):
            child.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            # None: a handler that a preloaded tool has set from C, which Python cannot set again.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _in_foreground() -> bool:
    """Of the terminal that sends Ctrl-C, to all that is: standard input may come from elsewhere, or be closed."""
    try:
        terminal = os.open(os.ctermid(), os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
