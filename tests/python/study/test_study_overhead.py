"""The study of overhead: gains, goals and tables follow from samples alone; a quick run against Boost.MPI."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from conftest import Launcher, on

from wherry import paths, study
from wherry.errors import WherryError
from wherry.measure.harness import BenchTable, Samples, Setup
from wherry.measure.record import Measurement, only
from wherry.study import overhead
from wherry.study.overhead import fluid, program, sizes
from wherry.study.parts import Folder

LIKE = {"mpi": "an MPI", "ranks": 2, "network": "memory", "validated": True, "netlab": False}
PROVENANCE = {"machine": "a machine", "commit": "c", "quick": False}


def table(case: str, bytes_of_a_step: float = 1000.0, **times: tuple[float, ...]) -> BenchTable:
    found = BenchTable()
    for variant, values in times.items():
        name = variant.replace("_", " ") if variant != "make_array" else variant
        found.rows += [Samples(case, name, "s", 0, values)]
        found.rows += [Samples(case, f"{name}, bytes", "s", 0, (bytes_of_a_step,) * len(values))]
    return found


def records(case: str = "1000 particles", **times: tuple[float, ...]) -> list[Measurement]:
    return [row | PROVENANCE for row in fluid.records_of(table(case, **times), LIKE)]


def test_a_gain_is_the_share_of_the_time_that_is_saved() -> None:
    rows = records(boost=(1.0, 2.0, 4.0), fields=(0.9, 1.8, 3.6), wherry=(0.5, 1.0, 2.0))
    (wherry,) = only(rows, variant="wherry")
    assert fluid.gain(wherry["ratio"]) == pytest.approx(0.5)
    assert wherry["low"] == pytest.approx(2.0)
    assert wherry["over_fields"] == pytest.approx(1.8)
    assert wherry["goal"] == "saves >= 3.8 %"
    assert wherry["reached"] is True
    assert [row["goal"] for row in only(rows, variant="fields")] == [""]


@pytest.mark.parametrize(("case", "time", "reached"), [
    ("1000 particles", 0.963, False), ("1000 particles", 0.961, True),
    ("10000 particles with exclusions", 0.91, False), ("10000 particles with exclusions", 0.9, True),
])  # fmt: skip
def test_goals_are_those_of_the_source(case: str, time: float, reached: bool) -> None:
    (row,) = only(records(case, boost=(1.0, 1.0), fields=(1.0, 1.0), wherry=(time, time)), variant="wherry")
    assert row["reached"] is reached


def test_slower_is_what_the_interval_says() -> None:
    slower = records(boost=(1.0, 1.0), fields=(0.8, 0.8), wherry=(1.0, 1.0))
    assert fluid.answers(slower).rows[1][1:] == ("no slower", "0.800 (0.800 to 0.800)", "no")
    unclear = records(boost=(1.0, 1.0), fields=(0.8, 1.2), wherry=(1.0, 1.0))
    assert fluid.answers(unclear).rows[1][3] == "yes"


def test_without_boost_needed_fields_are_the_baseline() -> None:
    rows = records(fields=(1.0, 1.0), wherry=(0.5, 0.5))
    assert {row["against"] for row in rows} == {"fields"}
    assert all(row["reached"] is None for row in rows)
    assert len(fluid.answers(rows).rows) == 1
    assert "<svg" in fluid.draw(rows)


def test_other_lines_of_the_program_are_no_fluids() -> None:
    assert fluid.records_of(BenchTable([Samples("bytes of force", "boost", "s", 0, (70.0,))]), LIKE) == []


def test_a_program_without_boost_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Place:
        mpi = dataclasses.make_dataclass("Mpi", ["name"])(program.WITH_BOOST)

        def run(self, *args: object) -> str:
            return '{"case": "1000 particles", "variant": "wherry", "unit": "s", "samples": [1]}'

    monkeypatch.setattr(program, "program", lambda mpi, name: name)
    with pytest.raises(WherryError, match="built without Boost"):
        program.launch(Place(), 2, [], 0)  # type: ignore[arg-type]


def quick_run(mpi: Launcher, part: str, folder: Path) -> tuple[list[Measurement], str]:
    """The records, and the page that is made of them."""
    if not paths.bench_program(mpi.name, program.NAME).exists():
        pytest.skip("bench_overhead is not built; run: make all")
    (chosen,) = overhead.STUDY.find([part])
    to = Folder(folder)
    to.prepare()
    page = to.page(overhead.STUDY)
    page.parent.mkdir(exist_ok=True)
    page.write_text(f"<!-- {part} -->\n<!-- end of {part} -->\n")
    try:
        found = study.measured(overhead.STUDY, chosen, Setup(mpi=mpi.mpi, quick=True))
    except WherryError as error:
        if "without Boost.MPI" in str(error):
            pytest.skip("Boost.MPI is not installed: libboost-mpi-dev")
        raise
    to.write(overhead.STUDY, chosen, found)
    return found, page.read_text()


@on("debian-openmpi")
def test_bytes_are_those_of_the_source(mpi: Launcher, tmp_path: Path) -> None:
    found, page = quick_run(mpi, "bytes", tmp_path)
    assert {(row["object"], row["variant"]): row["value"] for row in found if row["goal"]} == sizes.STATED
    of_the_particle = {
        row["variant"]: row["value"] for row in only(found, object="particle with 4 bonds and 2 exclusions")
    }
    assert of_the_particle["wherry"] < min(size for name, size in of_the_particle.items() if name != "wherry")
    assert "| particle in memory, 6. members in another order | 592 B | 592 B | yes |" in page


@on("debian-openmpi", "mpich")
def test_a_quick_run_of_the_fluid(mpi: Launcher, tmp_path: Path) -> None:
    """The program ends with an error if particles of a variant are elsewhere than those of Wherry."""
    found, page = quick_run(mpi, "node", tmp_path)
    variants = set(program.VARIANTS)
    if mpi.name != program.WITH_BOOST:
        variants -= {"boost", "make_array", "no versions", "no tracking", "MPI datatype"}
    assert {(row["fluid"], row["variant"]) for row in found} == {
        (case, variant) for case in ("1000 particles", "1000 particles with exclusions") for variant in variants
    }
    assert all(row["reached"] is None for row in found)
    for case in ("1000 particles", "1000 particles with exclusions"):
        sent = {row["variant"]: row["step_bytes"] for row in only(found, fluid=case)}
        assert sent["wherry"] < 0.4 * sent["compact"] < 0.4 * sent["bitwise"]
    assert "| needed fields, asynchronous |" in page
    assert (tmp_path / "results/overhead-node").exists()
