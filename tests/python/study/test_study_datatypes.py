"""The study of datatypes: answers, tables and settings follow from records alone; a quick run of two libraries."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Launcher, on

from wherry import paths, study
from wherry.measure.harness import Samples, Setup
from wherry.measure.record import Measurement, only, values
from wherry.run.mpis import Mpi
from wherry.study import datatypes
from wherry.study.datatypes import eager, experiment, matrix, pictures, schemes, statements
from wherry.study.parts import Folder, StudyPart

SIZES = (1000, 100_000, 1_000_000, 100_000_000)


def row(scheme: str, size: int, over_contiguous: float, **more: Any) -> Measurement:
    """Contiguous bytes take 1 ns each."""
    seconds = size * 1e-9
    like = {"scheme": scheme, "side": "native", "size": size, "ratio": 1 / over_contiguous, "network": "memory"}
    like |= {"eager": "default", "machine": "a machine", "commit": "c", "quick": False}
    return Measurement("", "", "", "s", seconds * over_contiguous, seconds, None, "an MPI", 2, []) | like | more


def experiment_with(**slowdowns: float | Callable[[int], float]) -> list[Measurement]:
    """Of all schemes; those that are not named take as long as copying by hand."""
    named = {name.replace("_", " ").replace("one sided", "one-sided"): value for name, value in slowdowns.items()}
    whole = dict.fromkeys(schemes.SCHEMES, named.get("copy", 3.0)) | {"reference": 1.0} | named
    return [
        row(name, size, value(size) if callable(value) else value) for name, value in whole.items() for size in SIZES
    ]


def test_copying_costs_three_where_messages_are_large() -> None:
    assert statements.copying_costs_three(experiment_with(copy=lambda size: 3.0 if size >= 10**6 else 1.0)).holds
    assert statements.copying_costs_three(experiment_with(copy=2.1)) == statements.Answer(False, "2.1")
    assert not statements.copying_costs_three(experiment_with(copy=3.6)).holds


def test_both_derived_types_count() -> None:
    assert statements.derived_types_cost_nothing(experiment_with(copy=2.0, vector=2.2, subarray=1.0)).holds
    slow = statements.derived_types_cost_nothing(experiment_with(copy=2.0, vector=2.0, subarray=8.0))
    assert slow == statements.Answer(False, "1.00, 4.00")


def test_latency_does_not_count() -> None:
    records = experiment_with(copy=2.0, vector=lambda size: 20.0 if size < 10_000 else 2.0)
    assert statements.derived_types_cost_nothing(records).holds


def test_any_other_scheme_may_beat_copying() -> None:
    assert statements.nothing_beats_copying(experiment_with(copy=2.0, vector=1.9)).holds
    beaten = statements.nothing_beats_copying(experiment_with(copy=2.0, one_sided=1.0))
    assert beaten == statements.Answer(False, "0.50")
    assert statements.nothing_beats_copying(experiment_with(copy=2.0, reference=0.5)).holds


def test_packing_is_validated_by_the_type_and_by_the_element() -> None:
    records = experiment_with(copy=2.0, pack_vector=2.1, pack_elements=20.0)
    assert statements.packing_a_type_is_as_fast(records).holds
    assert statements.elements_are_slow(records) == statements.Answer(True, "9.5")
    records = experiment_with(copy=2.0, pack_vector=4.0, pack_elements=4.0)
    assert not statements.packing_a_type_is_as_fast(records).holds
    assert not statements.elements_are_slow(records).holds


def test_one_sided_transfers_are_limited_unless_they_are_fast_at_every_size() -> None:
    limited = statements.one_sided_is_limited(experiment_with(one_sided=lambda size: 9.0 if size < 10_000 else 3.0))
    assert limited == statements.Answer(True, "3 of 4 sizes")
    assert not statements.one_sided_is_limited(experiment_with()).holds
    cut = [each for each in experiment_with() if each["scheme"] != "one-sided" or each["size"] < SIZES[-1]]
    assert statements.one_sided_is_limited(cut) == statements.Answer(True, "3 of 4 sizes")


def test_buffering_shows_in_the_rate_of_the_largest() -> None:
    assert statements.large_ones_lose(experiment_with()) == statements.Answer(False, "0 of 8 schemes")
    late = {"vector": lambda size: 4.0 if size == SIZES[-1] else 3.0}
    assert statements.large_ones_lose(experiment_with(**late)) == statements.Answer(False, "1 of 8 schemes")
    slower = [each | {"value": each["value"] * (2 if each["size"] == SIZES[-1] else 1)} for each in experiment_with()]
    assert statements.large_ones_lose(slower).holds


def test_a_buffered_send_solves_something_only_if_it_beats_the_plain_one() -> None:
    assert statements.buffering_solves_nothing(experiment_with(vector=2.0, buffered=2.0)).holds
    assert statements.buffering_solves_nothing(experiment_with(vector=8.0, buffered=2.0)) == statements.Answer(
        False, "0.25"
    )


def test_each_library_has_its_own_answers() -> None:
    other = [each | {"mpi": "another"} for each in experiment_with(copy=2.0)]
    table = statements.tabulate([*experiment_with(copy=3.0), *other])
    assert table.head == ("the source", "figure", "an MPI", "another")
    assert table.rows[0][2:] == ("holds: 3.0", "no: 2.0")
    assert len(table.rows) == len(statements.STATEMENTS) == 8


def test_a_quick_check_is_not_validated() -> None:
    quick = [each | {"quick": True} for each in experiment_with(copy=3.0)]
    assert statements.tabulate(quick).rows[0][2] == "not validated (quick): 3.0"


def test_what_is_under_wherry_answers_nothing() -> None:
    ours = [row("vector", size, 50.0, side="wherry") for size in SIZES]
    assert statements.derived_types_cost_nothing([*experiment_with(), *ours]).holds


def test_the_table_has_slowdowns_and_leaves_out_what_was_impossible() -> None:
    ours = [row("vector", size, 1.5, side="wherry", native_over_wherry=2.0) for size in SIZES[:-1]]
    ours.append(row("vector", SIZES[-1], 1.5, side="wherry", native_over_wherry=None))
    table = pictures.tabulate([*experiment_with(copy=2.0), *ours])
    assert table.head == ("time / contiguous at 1 kB, 100 kB, 100 MB", "an MPI")
    assert table.rows[0] == ("contiguous", "1 us / 100 us / 100 ms")
    assert ("copied by hand", "2.00 / 2.00 / 2.00") in table.rows
    assert table.rows[-1] == ("vector type, under Wherry", "1.50 (2.00) / 1.50 (2.00) / 1.50")
    assert not any("shared" in name for name, _ in table.rows)


def test_sizes_are_decimal() -> None:
    assert [pictures.decimal(size) for size in (8, 1000, 40_000, 4_000_000)] == ["8 B", "1 kB", "40 kB", "4 MB"]


def test_numbers_are_told_for_spreadsheets() -> None:
    lines = pictures.sheet([row("copy", 1000, 2.0)]).splitlines()
    assert lines == [
        "mpi,network,eager,size,scheme,side,seconds,bytes_per_s,slowdown",
        "an MPI,memory,default,1000,copy,native,2e-06,5e+08,2",
    ]


def limits(family: Any, version: str, between_nodes: bool, limit: str = eager.UNLIMITED) -> dict[str, str]:
    return eager.settings(Mpi(family, family, "mpich", version, Path(), Path(), []), limit, between_nodes)


def test_limits_are_variables_of_the_library_and_its_version() -> None:
    assert limits("openmpi", "5.0.11", True) == limits("openmpi", "4.1.4", True)
    assert set(limits("openmpi", "5.0.11", True)) == {"OMPI_MCA_btl_tcp_eager_limit", "OMPI_MCA_btl_tcp_max_send_size"}
    assert "OMPI_MCA_btl_sm_eager_limit" in limits("openmpi", "5.0.11", False)
    assert "OMPI_MCA_btl_vader_eager_limit" in limits("openmpi", "4.1.4", False)
    assert set(limits("mpich", "5.0.2", False)) == {"MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD"}
    assert limits("mpich", "4.0.2", False) == limits("mpich", "", False) == {}
    assert limits("intel", "2021.18.0", False).keys() == {"I_MPI_SHM_EAGER_THRESHOLD"}


def test_limits_hold_the_largest_message_and_32_bits() -> None:
    for family, version in (("openmpi", "5.0"), ("openmpi", "4.1"), ("mpich", "5.0"), ("intel", "2021.18")):
        for between_nodes in (False, True):
            assert limits(family, version, between_nodes, eager.DEFAULT) == {}
            found = limits(family, version, between_nodes)
            for name in ("limit", "size", "THRESHOLD"):
                sizes = [int(value) for key, value in found.items() if key.endswith(name) and value != "-1"]
                assert all(experiment.SIZES[-1] < size < 2**31 for size in sizes)


def test_the_second_launch_has_native_calls_beside_the_programs() -> None:
    alone, beside = (experiment.words((8, 1000), False, wherry) for wherry in (False, True))
    assert "--native" not in alone
    assert alone[alone.index("--schemes") + 1].split(",") == list(schemes.ALL)
    assert beside[beside.index("--native") + 1].split(",") == [schemes.REFERENCE, *schemes.DERIVED]
    assert alone[alone.index("--bytes") + 1] == "8,1000"


def test_sizes_are_those_of_the_source_and_of_the_aims() -> None:
    assert experiment.SIZES[0] == 8
    assert experiment.SIZES[-1] == 100_000_000
    assert {1000, 4_000_000} <= set(experiment.SIZES)


def samples(variant: str, *times: float, excluded: str = "") -> Samples:
    return Samples("1000 B", variant, "s", 0, () if excluded else times, excluded)


def test_what_was_excluded_has_no_record() -> None:
    launched, where = experiment.ExperimentRun(), experiment.Where("node", "", False, eager.DEFAULT)
    slow = "a trial would take too long"
    for scheme in schemes.ALL:
        launched.native.rows.append(samples(scheme, excluded=slow) if scheme == "one-sided" else samples(scheme, 2e-6))
    launched.wherry.rows.append(samples("native reference", 1e-6))
    for scheme in schemes.DERIVED:
        slow_there = slow if scheme == "buffered" else ""
        launched.wherry.rows.append(samples(f"native {scheme}", 6e-6, excluded=slow_there))
        launched.wherry.rows.append(samples(scheme, 2e-6))
    records = list(experiment.records_of(launched, Mpi("mpich", "mpich", "mpich", "5", Path(), Path(), []), where))
    native, ours = (only(records, side=side) for side in ("native", "wherry"))
    assert "one-sided" not in values(native, "scheme")
    assert len(native) == len(schemes.ALL) - 1
    assert {each["scheme"]: each["native_over_wherry"] for each in ours} == dict.fromkeys(schemes.DERIVED, 3.0) | {
        "buffered": None
    }
    assert all(each["ratio"] == pytest.approx(0.5) for each in ours)


def cell(program: str, calls: str, native: float, ours: float, mpi: str = "mpich") -> list[Measurement]:
    """What takes 1 s packed by hand."""
    found = {"packed": 1.0, "native": native, "wherry": ours}
    like = {"metric": "exchange", "program": program, "calls": calls, "network": "memory", "quick": False}
    return [
        Measurement("", "", "", "s", value, 1.0, 1 / value, mpi, 2, [])
        | like
        | {"variant": variant, "native_over_this": native / value}
        for variant, value in found.items()
    ]


def told(records: list[Measurement]) -> list[tuple[str, ...]]:
    return [row[1:] for row in matrix.answers(records).rows]


def test_the_matrix_answers_the_paper() -> None:
    calls = matrix.CALLS
    records = [
        *(each for how in calls for each in cell("Jacobi", how, 1.5, 1.0)),
        *(each for how in calls for each in cell("Life", how, 2.0, 1.0)),
        *(each for how in calls for each in cell("Life", how, 0.5, 0.6, "openmpi")),
    ]
    assert told(records) == [
        ("yes", "faster in 3, slower in 6 of 9 cells"),
        ("yes", "in 3 of 3 cells"),
        ("yes", "mpich 2.00, openmpi 0.50"),
        ("yes", "in 4 of 4 cells"),
        ("yes", "in 9 of 9 cells; at most 1.00"),
        ("no", "in 6 of 9 cells; at most 1.20"),
    ]


def test_what_differs_by_less_than_five_percent_is_equal() -> None:
    records = [each for name in matrix.PROGRAMS for how in matrix.CALLS for each in cell(name, how, 1.04, 1.04)]
    assert [verdict for verdict, _ in told(records)] == ["no", "no", "not measured", "no", "yes", "yes"]
    assert told(records)[4][1] == "in 9 of 9 cells; at most 1.04"


def test_the_matrix_is_a_table_of_programs_and_calls() -> None:
    table = matrix.tabulate(cell("Life", "persistent", 0.5, 0.25))
    assert ("Life", "persistent", "1 s; 0.50; 0.25") in table.rows
    assert len(table.rows) == 9


def quick_run(part: StudyPart, mpi: Launcher, program: str) -> list[Measurement]:
    if not paths.bench_program(mpi.name, program).exists():
        pytest.skip(f"bench_{program} is not built for {mpi.name}; run: make all")
    return study.measured(datatypes.STUDY, part, Setup(mpi=mpi.mpi, quick=True, launches=1))


def shown_in(folder: Path, part: StudyPart, records: list[Measurement]) -> str:
    """The page's place; what is read again is what was written."""
    to = Folder(folder)
    to.prepare()
    (folder / "studies").mkdir()
    to.page(datatypes.STUDY).write_text(f"<!-- {part.name} -->\n<!-- end of {part.name} -->\n")
    written = to.write(datatypes.STUDY, part, records)
    assert [path.suffix for path in written] == [".json", ".csv", ".svg", ".md"]
    assert to.read(datatypes.STUDY, part) == records
    return written[-1].read_text()


@on("openmpi", "mpich")
def test_a_quick_run_of_the_experiment(mpi: Launcher, tmp_path: Path) -> None:
    """The program ends with an error if any element that was received is wrong."""
    (part,) = datatypes.STUDY.find(["node"])
    records = quick_run(part, mpi, "datatypes")
    assert values(records, "size") == list(experiment.QUICK_SIZES)
    for size in experiment.QUICK_SIZES:
        native, ours = (only(records, size=size, side=side) for side in ("native", "wherry"))
        assert [each["scheme"] for each in native] == list(schemes.ALL)
        assert [each["scheme"] for each in ours] == list(schemes.DERIVED)
        assert all(each["native_over_wherry"] > 0 for each in ours)
    assert all(each["value"] > 0 and each["samples"][0] for each in records)
    text = shown_in(tmp_path, part, records)
    assert "| copied by hand |" in text
    assert "| nothing beats copying by hand |" in text


@on("openmpi", "mpich")
def test_a_quick_run_of_the_matrix(mpi: Launcher, tmp_path: Path) -> None:
    """The program ends with an error if a cell differs between variants, or from the serial computation."""
    (part,) = datatypes.STUDY.find(["matrix"])
    records = quick_run(part, mpi, "halo_types")
    found = {(each["program"], each["calls"], each["metric"], each["variant"]) for each in records}
    assert len(found) == len(records) == 3 * 3 * 2 * 3
    assert all(each["reached"] is None for each in records)
    assert "with Wherry derived types take at most" in shown_in(tmp_path, part, records)


@on("openmpi", "mpich")
def test_unknown_schemes_are_refused(mpi: Launcher) -> None:
    program = paths.bench_program(mpi.name, "datatypes")
    if not program.exists():
        pytest.skip("bench_datatypes is not built; run: make all")
    done = mpi.run([program, "--schemes", "vektor"], n=2)
    assert done.returncode != 0
    assert "unknown scheme 'vektor'" in done.stderr


def test_every_library_has_a_file_and_the_page_shows_all(tmp_path: Path) -> None:
    (part,) = datatypes.STUDY.find(["node"])
    to = Folder(tmp_path)
    to.prepare()
    first = [each | {"mpi": "mpich"} for each in experiment_with()]
    second = [each | {"mpi": "openmpi", "commit": "d"} for each in experiment_with(copy=2.0)]
    quiet = dataclasses.replace(part, draw=lambda records: f"<svg>{len(records)}</svg>")
    to.write(datatypes.STUDY, quiet, first)
    *_, image = to.write(datatypes.STUDY, quiet, second)
    assert image.read_text() == f"<svg>{len(first) + len(second)}</svg>"
    assert [path.name for path in to.recorded(datatypes.STUDY, part)] == ["mpich.json", "openmpi.json"]
    assert values(to.read(datatypes.STUDY, quiet), "mpi") == ["mpich", "openmpi"]
    assert study.provenance([*first, *second]) == "mpich; openmpi; memory; a machine; commit c, d."
    assert json.loads((tmp_path / "results/datatypes-node/a-machine/mpich.json").read_text())[0]["mpi"] == "mpich"
