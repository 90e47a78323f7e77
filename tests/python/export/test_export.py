"""Exports: which algorithm serves what, and the text of each format. That libraries obey: test_export_loaded.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tuned import SELECTION, measured, results

from wherry import export
from wherry.collective_names import OPERATIONS
from wherry.errors import UsageError
from wherry.export import intel, mpich, openmpi
from wherry.export.selection import WITHOUT_SIZES, Range, Rules, select
from wherry.tune.algorithms import Algorithm
from wherry.tune.results import Results, save


def chosen(data: Results) -> list[tuple[str, int, list[tuple[int, int, str]]]]:
    return [(r.operation, r.ranks, [(p.first, p.last, p.algorithm.id) for p in r.ranges]) for r in select(data)]


# Selection


def test_the_nearest_measured_size_decides_and_nothing_beyond_twice() -> None:
    data = results(
        "openmpi",
        measured("alltoall", 4, 64, {"auto": 1.0, "2": 0.5, "3": 0.8}),
        measured("alltoall", 4, 1024, {"auto": 1.0, "2": 0.5, "3": 0.8}),
        measured("alltoall", 4, 4096, {"auto": 1.0, "2": 0.9, "3": 0.4}),
    )
    assert chosen(data) == [("alltoall", 4, [(32, 2048, "2"), (2049, 8192, "3")])]


def test_less_than_a_clear_gain_leaves_the_choice_to_the_library() -> None:
    data = results(
        "openmpi",
        measured("alltoall", 4, 64, {"auto": 1.0, "2": 0.97}),
        measured("alltoall", 4, 1024, {"auto": 1.0, "2": 0.5}),
    )
    assert chosen(data) == [("alltoall", 4, [(257, 2048, "2")])]


def test_operations_that_a_file_would_make_slower_are_left_out() -> None:
    """The settings that a file needs may cost more than its choices win: MPICH's bcast in shared memory."""
    data = results("mpich", measured("bcast", 4, 64, {"auto": 4.0, "MPIR_Bcast_intra_binomial": 3.0}))
    assert chosen(data) == []


@pytest.mark.parametrize("operation", ["alltoallv", "alltoallw", "gather", "scatter"])
def test_where_ranks_may_see_other_sizes_one_choice_serves_all(operation: str) -> None:
    data = results(
        "openmpi",
        measured(operation, 4, 64, {"auto": 1.0, "1": 0.9, "2": 0.5}),
        measured(operation, 4, 1024, {"auto": 1.0, "1": 0.9, "2": 1.2}),
    )
    assert chosen(data) == [(operation, 4, [(0, 0, "2")])]


def test_only_what_was_measured_at_every_size_may_serve_all_sizes() -> None:
    data = results(
        "openmpi",
        measured("alltoallv", 4, 64, {"auto": 1.0, "1": 0.5, "2": 0.1}),
        measured("alltoallv", 4, 1024, {"auto": 1.0, "1": 0.5}),
    )
    assert chosen(data) == [("alltoallv", 4, [(0, 0, "1")])]


def test_each_number_of_ranks_has_its_own_rules() -> None:
    data = results(
        "openmpi",
        measured("alltoall", 8, 64, {"auto": 1.0, "3": 0.5}),
        measured("alltoall", 4, 64, {"auto": 1.0, "2": 0.5}),
        measured("alltoall", 5, 64, {"auto": 1.0, "2": 1.5}),
    )
    assert chosen(data) == [("alltoall", 4, [(32, 128, "2")]), ("alltoall", 8, [(32, 128, "3")])]


# Formats

PART = Range(32, 128, Algorithm("3", "bruck"))
RULES = [
    Rules("alltoall", 4, (PART,)),
    Rules("alltoall", 8, (PART, Range(129, 4096, Algorithm("2", "pairwise")))),
    Rules("alltoallv", 8, (Range(0, 0, Algorithm("2", "pairwise")),)),
    Rules("bcast", 4, (PART,)),
]


def numbers(text: str) -> list[list[int]]:
    """The classic format without its comments."""
    lines = (line.split("#")[0].split() for line in text.splitlines())
    return [[int(word) for word in words] for words in lines if words]


def test_openmpi_classic() -> None:
    text = openmpi.text(results("openmpi"), RULES)
    assert "measured with my-openmpi 5 (shared memory) on 2 x CPU" in text.splitlines()[0]
    alltoall = [[3], [5], [0], [1], [0, 0, 0, 0]]
    alltoall += [[4], [3], [0, 0, 0, 0], [128, 3, 0, 0], [516, 0, 0, 0], [5], [1], [0, 0, 0, 0]]
    alltoall += [[8], [4], [0, 0, 0, 0], [256, 3, 0, 0], [1032, 2, 0, 0], [32776, 0, 0, 0], [9], [1], [0, 0, 0, 0]]
    alltoallv = [[4], [3], [0], [1], [0, 0, 0, 0], [8], [1], [0, 2, 0, 0], [9], [1], [0, 0, 0, 0]]
    bcast = [[7], [3], [0], [1], [0, 0, 0, 0], [4], [3], [0, 0, 0, 0], [32, 3, 0, 0], [129, 0, 0, 0]]
    assert numbers(text) == [[3], *alltoall, *alltoallv, *bcast, [5], [1], [0, 0, 0, 0]]


def test_openmpi_has_a_number_and_a_size_for_every_collective() -> None:
    """Blocks of 32 to 128 bytes on 4 ranks: as bytes of all of them, where the component counts so."""
    sized = [name for name in OPERATIONS if name not in WITHOUT_SIZES]
    rows = {name: numbers(openmpi.text(results("openmpi"), [Rules(name, 4, (PART,))])) for name in OPERATIONS}
    assert len({row[1][0] for row in rows.values()}) == len(OPERATIONS)
    in_all = {name for name in sized if [128, 3, 0, 0] in rows[name]}
    assert in_all == {"alltoall", "allgather", "reduce_scatter", "reduce_scatter_block"}
    assert all([32, 3, 0, 0] in rows[name] for name in sized if name not in in_all)


def test_mpich_leaves_to_the_library_what_an_algorithm_takes_for_granted() -> None:
    own = {"algorithm=MPIR_Reduce_intra_binomial": {}}
    data = results("mpich")
    data.selection = {"collective=reduce": {"comm_type=intra": own}}
    rules = [Rules("reduce", 4, (Range(32, 128, Algorithm("MPIR_Reduce_intra_reduce_scatter_gather", "x")),))]
    tree = json.loads(mpich.text(data, rules))["collective=reduce"]["comm_type=intra"]
    for exempt, required in (
        ("is_commutative=no", "is_commutative=yes"),
        ("is_op_built_in=no", "is_op_built_in=yes"),
        ("count<pow2", "count=any"),
    ):
        assert list(tree) == [exempt, required] and tree[exempt] == own
        tree = tree[required]
    assert "avg_msg_size<=128" in tree["comm_size<=4"]


def test_openmpi_classic_keeps_neighboring_numbers_of_ranks_apart() -> None:
    text = openmpi.text(results("openmpi"), [Rules("bcast", 4, (PART,)), Rules("bcast", 5, (PART,))])
    sizes = [int(line.split()[0]) for line in text.splitlines() if "ranks and more" in line]
    assert sizes == [0, 4, 5, 6]


def test_openmpi_json_is_what_version_3_of_the_format_allows() -> None:
    document = json.loads(openmpi.as_json(results("openmpi"), [*RULES, Rules("reduce_scatter_block", 4, (PART,))]))
    assert document.keys() == {"rule_file_version", "module", "collectives"}
    assert (document["rule_file_version"], document["module"]) == (3, "tuned")
    assert list(document["collectives"]) == ["alltoall", "alltoallv", "bcast", "reduce_scatter_block"]
    for rules in document["collectives"].values():
        for rule in rules:
            assert rule.keys() == {"comm_size_min", "comm_size_max", "rules"}
            assert all(part.keys() <= {"msg_size_min", "msg_size_max", "alg"} for part in rule["rules"])
            assert all(type(value) is int for part in rule["rules"] for value in part.values())
    assert document["collectives"]["alltoall"][0] == {
        "comm_size_min": 4,
        "comm_size_max": 4,
        "rules": [{"alg": 3, "msg_size_min": 128, "msg_size_max": 515}],
    }
    assert document["collectives"]["alltoallv"][0]["rules"] == [{"alg": 2}]


def test_mpich_adds_branches_to_the_librarys_own_selection() -> None:
    own = SELECTION["collective=alltoall"]["comm_type=intra"]
    leaf = {"algorithm=MPIR_Alltoall_intra_brucks": {}}
    rules = [Rules("alltoall", 4, (Range(32, 128, Algorithm("MPIR_Alltoall_intra_brucks", "brucks")),))]
    tree = json.loads(mpich.text(results("mpich"), rules))
    assert tree.keys() == SELECTION.keys()
    assert tree["collective=bcast"] == SELECTION["collective=bcast"]
    assert tree["collective=alltoall"]["comm_type=inter"] == SELECTION["collective=alltoall"]["comm_type=inter"]
    sizes = {"avg_msg_size<=31": own, "avg_msg_size<=128": leaf, "avg_msg_size=any": own}
    ranks = {"comm_size<=3": own, "comm_size<=4": sizes, "comm_size=any": own}
    assert tree["collective=alltoall"]["comm_type=intra"] == {
        "is_sendbuf_inplace=yes": own,
        "is_sendbuf_inplace=no": ranks,
    }
    # Conditions are looked up in this order.
    assert list(tree["collective=alltoall"]["comm_type=intra"]["is_sendbuf_inplace=no"]) == list(ranks)


def test_mpich_names_the_operations_that_must_not_be_left_to_the_device() -> None:
    found = mpich.variables(["alltoall", "bcast", "bcast"], Path("/x/file.json"))
    assert found == {
        "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": "/x/file.json",
        "MPIR_CVAR_DEVICE_COLLECTIVES": "percoll",
        "MPIR_CVAR_ALLTOALL_DEVICE_COLLECTIVE": "0",
        "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE": "0",
    }


def test_intel_tiles_the_sizes_and_ends_with_the_librarys_choice() -> None:
    assert intel.variables(RULES[1:3]) == {
        "I_MPI_ADJUST_ALLTOALL": "0:0-31;3:32-128;2:129-4096;0",
        "I_MPI_ADJUST_ALLTOALLV": "2",
    }
    assert 'export I_MPI_ADJUST_ALLTOALLV="2"' in intel.text(results("intel"), RULES[1:3])


def test_intel_cannot_tell_numbers_of_ranks_apart() -> None:
    with pytest.raises(UsageError, match=r"cannot tell 4, 8 ranks apart.*-n 8"):
        intel.text(results("intel"), RULES)


# Files


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "results.json"
    save(path, results("openmpi", measured("alltoall", 4, 64, {"auto": 1.0, "2": 0.5})))
    return path


def test_a_file_and_what_must_be_set_for_it(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "it's"
    folder.mkdir()
    done = export.export(source, export.find("openmpi"), folder / "rules")
    assert done.settings == folder / "rules.env"
    assert f"coll_tuned_dynamic_rules_filename='{tmp_path}/it'\\''s/rules'" in done.settings.read_text()
    assert sorted(path.name for path in folder.iterdir()) == ["rules", "rules.env"]


def test_intel_needs_no_second_file(tmp_path: Path) -> None:
    save(tmp_path / "r", results("intel", measured("alltoall", 4, 64, {"2": 0.5})))
    done = export.export(tmp_path / "r", export.find("intel"), tmp_path / "intel.env")
    assert done.settings is None
    assert "I_MPI_ADJUST_ALLTOALL" in done.file.read_text()


def test_the_nearest_format_is_named() -> None:
    with pytest.raises(UsageError, match=r"unknown format 'openmp' .*did you mean 'openmpi'"):
        export.find("openmp")


@pytest.mark.parametrize(
    ("name", "ranks", "message"),
    [
        ("mpich", None, "was measured with my-openmpi, which cannot read mpich; write openmpi or openmpi-json"),
        ("openmpi", 9, r"9 ranks were not measured \(have: 4\)"),
    ],
)
def test_what_cannot_be_exported_is_said_and_nothing_is_written(
    source: Path, tmp_path: Path, name: str, ranks: int | None, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        export.export(source, export.find(name), tmp_path / "out", ranks)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["results.json"]


def test_no_gain_is_no_file(tmp_path: Path) -> None:
    save(tmp_path / "r", results("openmpi", measured("alltoall", 4, 64, {"auto": 1.0, "2": 0.99})))
    with pytest.raises(UsageError, match="no algorithm is clearly faster"):
        export.export(tmp_path / "r", export.find("openmpi"), tmp_path / "out")


def test_a_target_that_cannot_be_written_leaves_nothing_behind(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "taken"
    target.mkdir()
    with pytest.raises(UsageError, match="cannot write"):
        export.export(source, export.find("openmpi"), target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["results.json", "taken"]
    with pytest.raises(UsageError, match="cannot write"):
        export.export(source, export.find("openmpi"), tmp_path / "none" / "rules")
