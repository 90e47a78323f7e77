"""The grid: which variants a choice is compared with, and the picture of it."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from scripted import Script, fake_mpi, line, texts_of

from wherry.bench import grid, heatmap, picture
from wherry.errors import UsageError
from wherry.measure.harness import Setup
from wherry.measure.record import Measurement
from wherry.run.mpis import find_mpis


def test_grid_compares_the_choice_with_the_best_of_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    turns = [("native", 3e-6), ("wherry", 2.2e-6), ("mesh", 2.1e-6), ("library: linear", 1e-6)]
    launches = [
        "\n".join(line("alltoall 8 B", variant, t) for variant, t in turns),
        "\n".join([line("barrier 0 B", "native", 4e-6), line("barrier 0 B", "wherry", 1e-6)]),
    ]
    script = Script({"off": launches}, monkeypatch, tmp_path)
    setup = Setup(mpi=fake_mpi("openmpi"), ranks=4, launches=1, sizes=(8,), operations=("alltoall", "barrier"))
    alltoall_, barrier, *gains = grid.run(setup)
    assert (alltoall_.case, alltoall_.ranks) == ("alltoall 8 B, best: library: linear", 4)
    assert (alltoall_.operation, alltoall_.size, alltoall_.against) == ("alltoall", 8, "library: linear")
    assert (alltoall_.value, alltoall_.reached) == (2.2e-6, False)
    assert alltoall_.baseline == pytest.approx(1e-6)
    measured = {name: values for name, values in alltoall_.samples[0].items() if name != "launch"}
    assert measured == {name: [t] for name, t in turns}
    assert (barrier.operation, barrier.size, barrier.against) == ("barrier", 0, "native")
    assert [(gain.case, gain.against) for gain in gains] == [("alltoall 8 B", "native"), ("barrier 0 B", "native")]
    assert gains[0].ratio == pytest.approx(3 / 2.2)
    assert alltoall_.hindsight == pytest.approx(1 / 2.2)
    assert barrier.reached
    assert barrier.ratio == pytest.approx(4.0)
    words = [args[1:5] for _, args, _ in script.asked]
    assert words == [["--operations", "alltoall", "--sizes", "8"], ["--operations", "barrier", "--sizes", "0"]]


def test_grid_compares_within_launches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One launch is ten times slower as a whole: the ratio of its times counts, not the times."""
    launches = [
        "\n".join(line("alltoall 8 B", variant, t * slow) for variant, t in (("native", 1.0), ("wherry", mine)))
        for slow, mine in ((1.0, 1.0), (10.0, 2.0), (1.0, 1.25))
    ]
    Script({"off": launches}, monkeypatch, tmp_path)
    cell, gain = grid.run(Setup(mpi=fake_mpi(), ranks=2, launches=3, sizes=(8,), operations=("alltoall",)))
    assert cell.ratio == gain.ratio == pytest.approx(1 / 1.25)


@pytest.mark.parametrize(
    ("mine", "slower"), [((1.2, 1.1, 1.3), True), ((1.2, 1.1, 0.9), False), ((1.03, 1.02, 1.01), False)]
)
def test_slower_than_the_library_is_what_is_so_in_every_launch_by_more_than_noise(
    mine: tuple[float, ...], slower: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    launches = ["\n".join([line("bcast 8 B", "native", 1.0), line("bcast 8 B", "wherry", t)]) for t in mine]
    Script({"off": launches}, monkeypatch, tmp_path)
    _, gain = grid.run(Setup(mpi=fake_mpi(), ranks=2, launches=3, sizes=(8,), operations=("bcast",)))
    assert gain.reached is not slower


def test_the_best_is_named_by_other_launches() -> None:
    """Each of three equal algorithms is lucky in two of three launches: in hindsight 20% ahead, and next time not."""
    equal = {"native": {0: 1.0, 1: 1.0, 2: 1.0}}
    lucky = equal | {f"s{i}": {launch: 1.0 if launch == i else 0.8 for launch in range(3)} for i in range(3)}
    assert grid.rival(lucky)[1] == 1.0
    assert grid.rival(lucky | {"faster": {0: 0.7, 1: 0.75, 2: 0.7}}) == ("faster", 0.7)
    assert grid.rival(equal | {"once": {0: 0.1}}) == ("native", 1.0)


def test_one_launch_names_its_own_best() -> None:
    assert grid.rival({"native": {0: 1.2}, "mesh": {0: 0.9}}) == ("mesh", 0.9)


def test_grid_leaves_out_an_algorithm_that_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Also what it measured in an earlier launch."""
    turns = [line("alltoall 8 B", variant, t) for variant, t in (("native", 3e-6), ("wherry", 2e-6))]
    failed = {"case": "alltoall 8 B", "variant": "library: two_proc", "excluded": "MPI_ERR_UNSUPPORTED"}
    launches = [
        "\n".join([*turns, line("alltoall 8 B", "library: two_proc", 1e-9)]),
        "\n".join([*turns, json.dumps(failed)]),
    ]
    Script({"off": launches}, monkeypatch, tmp_path)
    cell, _ = grid.run(Setup(mpi=fake_mpi("openmpi"), ranks=4, launches=2, sizes=(8,), operations=("alltoall",)))
    assert (cell.against, cell.reached) == ("native", True)
    assert cell.baseline == pytest.approx(1.5 * cell.value)
    assert cell.excluded == {"library: two_proc": "MPI_ERR_UNSUPPORTED"}


def test_grid_refuses_an_operation_that_is_unknown() -> None:
    with pytest.raises(UsageError, match="unknown operation 'bcats'"):
        grid.run(Setup(mpi=fake_mpi(), operations=("bcats",)))


@pytest.mark.parametrize(
    ("name", "operation", "some"),
    [("openmpi", "allreduce", {"linear", "ring", "rabenseifner"}), ("mpich", "alltoall", {"brucks", "pairwise"})],
)
def test_the_librarys_own_algorithms_take_turns(name: str, operation: str, some: set[str]) -> None:
    """For real: more than one is measured, and what fails is named."""
    found = [mpi for mpi in find_mpis() if mpi.name == name]
    if not found:
        pytest.skip(f"{name} is not here")
    cell, _ = grid.run(Setup(mpi=found[0], ranks=3, quick=True, sizes=(8192,), operations=(operation,)))
    measured = {variant.removeprefix("library: ") for variant in cell.samples[0] if variant.startswith("library: ")}
    assert {word for word in some if any(word in variant for variant in measured)} == some
    assert all(cell.excluded.values())


def test_grid_keeps_numbers_of_ranks_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    launches = [
        "\n".join(line(f"bcast {size} B", variant, t) for size in (8, 64) for variant, t in times)
        for times in ((("native", 2e-6), ("wherry", 1e-6)), (("native", 1e-6), ("wherry", 5e-6)))
    ]
    script = Script({"off": launches}, monkeypatch, tmp_path)
    results = grid.run(Setup(mpi=fake_mpi(), quick=True, sizes=(8, 64), operations=("bcast",)))
    assert [ranks for ranks, _, _ in script.asked] == [2, 8]
    found = [(row.ranks, row.size, row.ratio) for row in results]
    assert found == 2 * [(2, 8, 2.0), (2, 64, 2.0), (8, 8, pytest.approx(0.2)), (8, 64, pytest.approx(0.2))]


def test_the_picture_of_a_grid_names_the_best_of_every_cell(tmp_path: Path) -> None:
    def cell(operation: str, ranks: int, size: int, against: str, ratio: float) -> Measurement:
        place: dict[str, Any] = {"operation": operation, "size": size, "against": against, "network": "net"}
        return Measurement("grid", "a case", grid.DISTANCE, "s", 1.0, ratio, ratio, "mpich", ranks, [], **place)

    results = [cell("bcast", 2, 8, "native", 0.5), cell("bcast", 2, 1024, "library: linear", 0.8)]
    results += [cell("bcast", 8, 8, "ring", 2.0), cell("barrier", 8, 0, "tree", 1.0)]
    target = tmp_path / "grid.svg"
    picture.draw(results, target)
    texts = texts_of(target.read_text())
    for text in ("bcast, 2 ranks", "bcast, 8 ranks", "barrier, 8 ranks", "0 B", "8 B", "1 KiB"):
        assert texts.count(text) == 1, text
    cells = list(pairwise(texts))
    for found in (("native", "2.00"), ("lib. linear", "1.25"), ("ring", "0.50"), ("tree", "1.00")):
        assert cells.count(found) == 1, found
    assert heatmap.svg(results) == target.read_text()
