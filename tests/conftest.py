"""What tests share: the MPI installations, what was built, and launching.

A test that takes `mpi` runs once for each installation of wherry.run.mpis.MPI_NAMES, or for those that it names with
parametrize and `indirect=True`; one that is not there is a skipped test with the reason. A test that also takes `n`,
the number of ranks, runs at every number on two of them only: the others differ in the library, not in what Wherry does
with ranks. `pytest --every-n` runs all.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from wherry.run.mpis import MPI_NAMES, Mpi, find_mpis, run_to_end, why_missing

pytest_plugins = ["packing", "command_line", "installing"]

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"
PRELOAD = ROOT / ".venv" / "lib" / "wherry" / "libwherry.so"

#: In a test's environment, or in that of all tests: compiled programs trap floating-point exceptions.
TRAPPING = {"WHERRY_TEST_FP_TRAPS": "1"}
TRAPS = BUILD / "tests" / "libfp_traps.so"
#: Below Debian's MPICH, which sleeps with it where it would spin.
PATIENCE = BUILD / "tests" / "libpatient_ucx.so"

# UCX, below Debian's MPICH, and libfabric, below the other, look at all network devices when a rank starts, and give up
# if one goes meanwhile: those of an emulated cluster that another test removes.
LOOPBACK = {"UCX_NET_DEVICES": "lo", "FI_TCP_IFACE": "lo"}

# Who waits lets others have the core, by sleeping where yielding is not enough: tests run side by side. MPICH sleeps
# when it has found nothing a few times: eight ranks on two cores then take a seventh of the time, and a tenth of the
# processors'. And Open MPI does not look for the networks of libfabric, which takes each rank a second; on one host it
# uses none of them.
SHARING = {
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_mtl": "^ofi",
    "OMPI_MCA_btl": "^ofi",
    "MPIR_CVAR_ENABLE_HEAVY_YIELD": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "8",
    "I_MPI_THREAD_YIELD": "3",
}

# What makes a rank start sooner: most tests are short. UCX, below MPICH and Open MPI, follows what becomes of memory by
# patching the functions that map it, 40 ms of processor time in each process, for networks that need registered memory;
# below Debian's Open MPI it looks for such networks, 200 ms, and Open MPI then takes none of them. NumPy's BLAS has
# threads that spin until there is something to do.
STARTING = {"UCX_MEM_EVENTS": "n", "OMPI_MCA_pml": "^ucx", "OPENBLAS_NUM_THREADS": "1"}

#: In tests of the heap and of page faults, which is patched as it is for users.
WATCHED_MEMORY = {"UCX_MEM_EVENTS": "y"}


def files_apart() -> dict[str, str]:
    """Where Open MPI's jobs have their files: nowhere that the jobs of other test processes do.

    Those of the ranks' shared memory are named by 16 bits of a job's name, and two jobs that have them alike write into
    each other's. Open MPI 4 has one folder for all jobs of a user, which the last job removes while the next makes it.
    """
    folder = tempfile.mkdtemp(prefix="wherry-tests-", dir="/dev/shm")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    components = ("btl_sm", "btl_vader", "osc_sm", "osc_rdma", "osc_ucx")
    backing = {f"OMPI_MCA_{component}_backing_directory": folder for component in components}
    return {**backing, "OMPI_MCA_orte_tmpdir_base": folder}


ON_ONE_HOST = LOOPBACK | SHARING | STARTING | files_apart()


@dataclass(frozen=True)
class Launcher:
    """One MPI installation, ready to run programs in an environment free of the caller's WHERRY_* settings."""

    mpi: Mpi

    @property
    def name(self) -> str:
        return self.mpi.name

    @property
    def family(self) -> str:
        return self.mpi.family

    @property
    def abi(self) -> str:
        return self.mpi.abi

    @property
    def mpicc(self) -> Path | None:
        return self.mpi.mpicc

    @property
    def mpicxx(self) -> Path | None:
        return self.mpi.mpicxx

    @property
    def mpifort(self) -> Path | None:
        return self.mpi.mpifort

    @property
    def python(self) -> Path | None:
        return self.mpi.python

    @property
    def env(self) -> dict[str, str]:
        """The environment for the launcher and for the compilers of this installation."""
        return {**clean_environment(), **self.mpi.environment()}

    def few(self, n: int) -> int:
        """So many ranks, or four where more would spin: enough for every strategy."""
        return min(n, 4) if self.name in SPINNING else n

    def program(self, name: str) -> Path:
        """A program made from tests/mpi/<name>.cpp for this installation."""
        return BUILD / "tests" / self.name / name

    def run(
        self,
        program_args: Sequence[str | Path],
        n: int,
        env: Mapping[str, str] | None = None,
        preload: bool = False,
        timeout: float = 300,
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program on n ranks; `env` reaches the ranks.

        preload: with Wherry under it. What it learns is neither read nor kept unless the test names a file.
        timeout: for what stands still; with more ranks than cores, and other tests beside it, a run may take minutes.
        """
        variables = dict(env or {})
        if preload:
            variables = {"LD_PRELOAD": str(PRELOAD), **hermetic(variables), **variables}
        traps = TRAPPING.items() <= {**os.environ, **variables}.items()
        variables = {name: value for name, value in variables.items() if name not in TRAPPING}
        libraries = [TRAPS] if traps and str(program_args[0]) != str(self.python) else []
        libraries += [PATIENCE] if self.name in SPINNING else []
        for library in libraries:
            assert library.exists(), f"{library} is not built: the dynamic linker would go on without it"
            variables["LD_PRELOAD"] = ":".join(filter(None, (variables.get("LD_PRELOAD"), str(library))))
        command = self.mpi.command(n, [str(word) for word in program_args], variables)
        return run_to_end(command, self.env, timeout)


def clean_environment() -> dict[str, str]:
    """The caller's environment without settings that change what is tested."""
    ours = ("WHERRY_", "LD_PRELOAD", "OMPI_", "PMIX_", "PRTE_", "I_MPI_", "MPIR_CVAR_", "FI_", "UCX_")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)} | ON_ONE_HOST


def hermetic(variables: Mapping[str, str]) -> dict[str, str]:
    return {} if "WHERRY_TUNING_FILE" in variables else {"WHERRY_NO_TUNING": "1"}


# Tests that start programs without asking for an environment inherit this one.
os.environ.update(ON_ONE_HOST)

_found: dict[str, Mpi] = {mpi.name: mpi for mpi in find_mpis()}


#: Where tests run at every number of ranks; elsewhere at the one nearest to enough().
THOROUGH = ("openmpi", "mpich")
#: These can only spin while they wait, and sleep with PATIENCE.
SPINNING = ("debian-mpich",)
#: More ranks than these are Open MPI's to try: MPICH spins for a while before it yields.
MOST_ON_MPICH = 8


def on(*names: str) -> pytest.MarkDecorator:
    """Of tests that concern these MPI installations only."""
    return pytest.mark.parametrize("mpi", names, indirect=True)


def with_programs() -> pytest.MarkDecorator:
    """Of tests of programs that are built: for MPICH not with the standard ABI, too (cmake/WherryMpi.cmake)."""
    return on(*(name for name in MPI_NAMES if name != "mpich-abi"))


def enough(name: str) -> int:
    return 2 if name in SPINNING else 3


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--every-n", action="store_true", help="Run at every number of ranks on every MPI.")
    parser.addoption(
        "--whole-matrix",
        action="store_true",
        help="Run in full what else runs in part: test_matrix.py, tests/mpi4py.",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--every-n"):
        return
    groups: dict[tuple[object, ...], list[pytest.Function]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and is_lightly_tested(item):
            rest = sorted((name, str(value)) for name, value in item.callspec.params.items() if name != "n")
            groups.setdefault((item.path, item.originalname, *rest), []).append(item)
    kept = {min(group, key=distance_from_enough) for group in groups.values()}
    left_out = {item for group in groups.values() for item in group if item not in kept}
    left_out |= {item for item in items if isinstance(item, pytest.Function) and is_crowded(item)}
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says what ran of tests that run in part: their property "part"."""
    reports = terminalreporter.getreports("passed")
    parts = {str(value) for report in reports for name, value in report.user_properties if name == "part"}
    for part in sorted(parts):
        terminalreporter.write_line(f"ran in part: {part}")


def distance_from_enough(item: pytest.Function) -> int:
    parameters = item.callspec.params
    return abs(int(parameters["n"]) - enough(parameters["mpi"]))


def parameters_of(item: pytest.Function) -> Mapping[str, Any]:
    return item.callspec.params if hasattr(item, "callspec") else {}


def is_lightly_tested(item: pytest.Function) -> bool:
    parameters = parameters_of(item)
    return "n" in parameters and parameters.get("mpi", THOROUGH[0]) not in THOROUGH


def is_crowded(item: pytest.Function) -> bool:
    parameters = parameters_of(item)
    return parameters.get("mpi") == "mpich" and parameters.get("n", 0) > MOST_ON_MPICH


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    markers = metafunc.definition.iter_markers("parametrize")
    chosen = any("mpi" in str(marker.args[0]).split(",") for marker in markers)
    if "mpi" in metafunc.fixturenames and not chosen:
        metafunc.parametrize("mpi", MPI_NAMES, indirect=True, scope="session")


@pytest.fixture(scope="session")
def mpi(request: pytest.FixtureRequest) -> Launcher:
    name: str = request.param
    if name not in _found:
        pytest.skip(why_missing(name))
    return Launcher(_found[name])


@pytest.fixture(scope="session")
def build() -> Path:
    """The build tree of the release preset."""
    if not BUILD.is_dir():
        pytest.skip("nothing is built yet; run: make build")
    return BUILD


@pytest.fixture(scope="session")
def preload(build: Path) -> Path:
    """The preload, as it is installed."""
    if not PRELOAD.is_file():
        pytest.skip("libwherry.so is not built yet; run: make build")
    return PRELOAD
