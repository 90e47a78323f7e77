"""`wherry bench programs`: the table, what becomes of rows that cannot run, and the programs that are ours."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from conftest import Launcher, on
from rich.console import Console

from wherry.bench import output, programs
from wherry.bench.compiled_programs import compiled
from wherry.bench.place import Missing, Place, Start
from wherry.bench.programs import PROGRAMS, BenchProgram
from wherry.measure.harness import Setup

OURS = Path(__file__).resolve().parents[3] / "bench" / "programs"


def test_names_are_unique_and_say_where_a_program_comes_from() -> None:
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)
    assert all(program.provenance for program in PROGRAMS)


OUTPUTS = {
    "LAMMPS, salt": (
        "   Step          Temp          E_pair         E_mol          TotEng         Press     \n"
        "         0                  1  -0.51234567890123                  0   0.987654321 -0.5\n"
        "        10   1.00000123456789  -0.51234567890124                  0   0.987654321 -0.4\n"
        "Loop time of 0.214311 on 2 procs for 60 steps with 1728 atoms\n",
        0.214311,
        2,
    ),
    "OpenFOAM icoFoam, cavity": (
        "Time = 0.001\n\nCourant Number mean: 0.0976825 max: 0.585607\n"
        "ExecutionTime = 0.05 s  ClockTime = 0 s\n\nEnd\n\nloop 1.26\nloop 1.25\n",
        1.25,
        1,
    ),
    "NWChem, water": (
        "         Total SCF energy =    -76.057681031973\n Total times  cpu:        1.0s     wall:        3.2s\n"
        "loop 3.271\n",
        3.271,
        1,
    ),
    "CP2K, water": (
        " ENERGY| Total FORCE_EVAL ( QS ) energy [a.u.]:              -34.315451128918532\n"
        " ENERGY| Total FORCE_EVAL ( QS ) energy [a.u.]:              -34.316144587378872\n"
        " CP2K                                 1  1.0    0.005    0.007    1.461    1.462\n"
        " qs_ot_get_p                        112 10.5    0.000    0.000    0.098    0.099\n",
        1.462,
        2,
    ),
    "GROMACS, water": (
        "   Total Energy  Conserved En.    Temperature Pressure (bar)\n"
        "   -5.78453e+03    3.61142e+03    1.05138e+03    2.35171e+04\n"
        "               Core t (s)   Wall t (s)        (%)\n"
        "       Time:        0.891        0.446      200.0\n",
        0.446,
        1,
    ),
    "ScaLAPACK, LU": ("   16 tests completed and passed residual checks.\nloop 1.25\n", 1.25, 1),
    "mpi4py-fft, slabs": ('{"seconds": [0.5, 1.5], "answer": {"spectrum": "ab12"}, "total": 2.0}\n', 2.0, 1),
    "waves, Fortran": ("loop 0.250000\nenergy  1.234500000000000E+03\n", 0.25, 1),
    "heat": ("loop 0.25\nenergy 1234.5\n", 0.25, 1),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_times_and_answers_are_found(name: str) -> None:
    text, seconds, answers = OUTPUTS[name]
    (program,) = (program for program in PROGRAMS if program.name == name)
    assert program.reading().seconds(text) == seconds
    assert len(program.reading().answers(text)) == answers


def row(name: str, script: str) -> BenchProgram:
    """MPICH's launcher may be ended by SIGPIPE where a program ends before the launcher has done with its start."""
    start = Start(("sh", "-c", f"sleep 0.1; {script}"))
    return BenchProgram(name, "here", lambda _: start, r"^loop (\S+)", r"^answer (\S+)")


def missing(*_: object) -> Start:
    raise Missing("it is not installed; run: make setup")


@on("mpich")
def test_rows_that_cannot_run_stay_in_with_the_reason(
    mpi: Launcher, preload: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = (
        row("good", 'test "$PMI_RANK" != 0 || printf "loop 2.5\\nanswer 3\\n"'),
        BenchProgram("absent", "nowhere", missing, "x", "y"),
        row("broken", "exit 3"),
        row("liar", 'test "$PMI_RANK" != 0 || printf "loop 2.5\\nanswer 3$WHERRY_OUTPUT\\n"'),
    )
    monkeypatch.setattr(programs, "PROGRAMS", rows)
    good, absent, broken, liar = programs.run(Setup(mpi=mpi.mpi, ranks=2, launches=2))
    assert (good.ratio, good.value, good.baseline, good.reached) == (1, 2.5, 2.5, True)
    assert len(good.samples) == 1 + 4
    assert absent.excluded == {"skipped": "it is not installed; run: make setup"}
    assert "it ended with code 3" in broken.excluded["failed"]
    assert "its answer differs" in liar.excluded["failed"]
    assert [one.ratio for one in (absent, broken, liar)] == [None] * 3
    for one in (broken, liar):
        found = re.search(r"output is in (\S+?);", one.excluded["failed"])
        assert found is not None
        Path(found[1]).unlink()
    console = Console(file=io.StringIO(), width=200)
    output.show(console, [good, absent])
    assert "skipped: it is not installed" in console.file.getvalue()  # type: ignore[attr-defined]


# our own programs


def said(mpi: Launcher, n: int, name: str, *options: str) -> float:
    """The answer of a program: the number on its last line."""
    if mpi.python is None:
        pytest.skip(f"no Python for {mpi.name}")
    done = mpi.run([mpi.python, OURS / f"{name}.py", *options], n)
    assert done.returncode == 0, done.stderr
    return float(done.stdout.split()[-1])


@on("openmpi")
def test_heat_is_the_same_on_any_number_of_ranks(mpi: Launcher) -> None:
    options = ("--rows", "48", "--steps", "40")
    energies = [said(mpi, n, "heat", *options) for n in (1, 3)]
    assert energies[0] == pytest.approx(energies[1], rel=1e-9)
    assert energies[0] == pytest.approx(23 * 23, rel=1e-3)  # the warm block's: hardly any reaches the edge


@on("openmpi")
def test_conjugate_gradients_converge(mpi: Launcher) -> None:
    assert said(mpi, 3, "conjugate_gradients", "--points", "20", "--iterations", "120") < 1e-8


@on("debian-openmpi", "debian-mpich")
def test_waves_are_the_same_in_three_languages(mpi: Launcher, tmp_path: Path) -> None:
    place = Place(mpi.mpi, {}, 3, tmp_path)
    said = []
    for source in ("waves.c", "waves.cpp", "waves.f90"):
        done = mpi.run([*compiled(source)(place).args, "30"], 3)
        assert done.returncode == 0, done.stderr
        said.append(float(done.stdout.split()[-1]))
    assert said == pytest.approx([said[0]] * 3, rel=1e-12)
    # Of the energy at the start, which is in the 130 slopes around each rank's row of 64 points, half moves then.
    assert said[0] == pytest.approx(130 * (1 + 4 + 9) / 2, rel=0.25)


@on("debian-openmpi")
def test_a_language_without_a_compiler_is_named(mpi: Launcher, tmp_path: Path) -> None:
    place = Place(replace(mpi.mpi, mpifort=None), {}, 2, tmp_path)
    with pytest.raises(Missing, match="has no Fortran compiler"):
        compiled("waves.f90")(place)
    broken = Place(replace(mpi.mpi, mpifort=Path("/bin/false")), {}, 2, tmp_path)
    with pytest.raises(Missing, match="cannot compile waves"):
        compiled("waves.f90")(broken)


def falling(values: list[float]) -> Iterator[bool]:
    return (later < earlier for earlier, later in pairwise(values))


@on("openmpi")
def test_lloyds_iteration_lowers_the_inertia(mpi: Launcher) -> None:
    options = ("--points", "500", "--clusters", "8", "--iterations")
    assert all(falling([said(mpi, 2, "kmeans", *options, n) for n in ("1", "4", "16")]))


@on("openmpi")
def test_training_lowers_the_loss(mpi: Launcher) -> None:
    assert all(falling([said(mpi, 2, "train", "--steps", n) for n in ("1", "30", "150")]))
