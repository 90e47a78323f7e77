"""The grid: which variants a choice is compared with, and the picture of it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from scripted import Script, fake_mpi, line, texts_of

from wherry.bench import frame, grid, heatmap, picture
from wherry.bench.frame import Setup
from wherry.errors import WherryError
from wherry.tune import algorithms
from wherry.tune.algorithms import Algorithm


def test_grid_compares_the_choice_with_the_best_of_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The library's algorithms run in launches of their own, where the first strategy tells how fast the launch is."""
    monkeypatch.setattr(grid, "OPERATIONS", ("alltoall", "barrier"))
    by_library = [Algorithm("1", "linear"), Algorithm("2", "pairwise")]
    monkeypatch.setattr(algorithms, "algorithms", lambda mpi, operation: by_library if operation == "alltoall" else [])
    monkeypatch.setattr(algorithms, "forced", lambda family, operation, algorithm: {"ALGORITHM": algorithm.name})
    turns = [("native", 3e-6), ("wherry", 2.2e-6), ("mesh", 2.1e-6)]
    launches = [
        "\n".join(line("alltoall 8 B", variant, t) for variant, t in turns),
        "\n".join([line("alltoall 8 B", "native", 1e-6), line("alltoall 8 B", "mesh", 0.7e-6)]),
        "\n".join([line("alltoall 8 B", "native", 3e-6), line("alltoall 8 B", "mesh", 6.3e-6)]),
        "\n".join([line("barrier 0 B", "native", 4e-6), line("barrier 0 B", "wherry", 1e-6)]),
    ]
    script = Script({"off": launches}, monkeypatch, tmp_path)
    alltoall_, barrier = grid.run(Setup(mpi=fake_mpi("openmpi"), ranks=4, launches=1, sizes=(8,)))
    assert (alltoall_.case, alltoall_.ranks) == ("alltoall 8 B, best: library: pairwise", 4)
    assert (alltoall_.operation, alltoall_.size, alltoall_.against) == ("alltoall", 8, "library: pairwise")
    assert (alltoall_.value, alltoall_.reached) == (2.2e-6, False)
    assert alltoall_.baseline == pytest.approx(1e-6)
    assert {name: values for name, values in alltoall_.samples[0].items() if name != "launch"} == {
        "wherry": [2.2e-6],
        "native": [3e-6],
        "mesh": [2.1e-6],
        "library: linear": [1e-6],
        "mesh beside linear": [0.7e-6],
        "library: pairwise": [3e-6],
        "mesh beside pairwise": [6.3e-6],
    }
    assert (barrier.operation, barrier.size, barrier.against) == ("barrier", 0, "native")
    assert barrier.reached
    assert barrier.ratio == pytest.approx(4.0)
    words = [args[1:5] for _, args, _ in script.asked]
    assert words == [["--operations", "alltoall", "--sizes", "8"]] * 3 + [["--operations", "barrier", "--sizes", "0"]]
    assert [args[7:] for _, args, _ in script.asked] == [[], ["--strategies", "first"], ["--strategies", "first"], []]
    assert [env.get("ALGORITHM") for _, _, env in script.asked] == [None, "linear", "pairwise", None]


def test_grid_compares_launches_that_are_alike(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Ranks met fast in one of two launches, and there the algorithm gains less than where they met slowly."""
    monkeypatch.setattr(grid, "OPERATIONS", ("alltoall",))
    monkeypatch.setattr(algorithms, "algorithms", lambda mpi, operation: [Algorithm("1", "linear")])
    monkeypatch.setattr(algorithms, "forced", lambda family, operation, algorithm: {"ALGORITHM": algorithm.name})

    def launch(**times: float) -> str:
        return "\n".join(line("alltoall 8 B", variant, time) for variant, time in times.items())

    script = Script(
        {
            "off": [
                launch(native=9.0, wherry=1.0, mesh=2.0),
                launch(native=8.0, mesh=22.0),
                launch(native=90.0, wherry=10.0, mesh=20.0),
                launch(native=1.8, mesh=2.0),
            ]
        },
        monkeypatch,
        tmp_path,
    )
    (cell,) = grid.run(Setup(mpi=fake_mpi("openmpi"), ranks=2, launches=2, sizes=(8,)))
    assert script.answers == {"off": []}
    assert cell.against == "library: linear"
    assert cell.ratio == pytest.approx((1.8 + 20 / 22 * 0.8) / 2)


def test_grid_leaves_out_an_algorithm_that_fails_at_a_number_of_ranks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also what it measured in an earlier launch; it is not tried again, and a failure of the default is an error."""
    monkeypatch.setattr(grid, "OPERATIONS", ("alltoall",))
    monkeypatch.setattr(algorithms, "algorithms", lambda mpi, operation: [Algorithm("3", "two_proc")])
    monkeypatch.setattr(algorithms, "forced", lambda family, operation, algorithm: {"ALGORITHM": algorithm.name})
    turns = "\n".join(
        line("alltoall 8 B", variant, t) for variant, t in (("native", 3e-6), ("wherry", 2e-6), ("mesh", 4e-6))
    )
    failure: str | WherryError = WherryError(
        "bench_grid failed with code 52:\nstarting\nMPI error: unsupported\nprterun has exited"
    )
    alone = "\n".join([line("alltoall 8 B", "native", 1e-9), line("alltoall 8 B", "mesh", 1e-6)])
    launches: list[str | WherryError] = [turns, alone, turns, failure, turns]
    script = Script({"off": launches}, monkeypatch, tmp_path)
    (cell,) = grid.run(Setup(mpi=fake_mpi("openmpi"), ranks=4, launches=3, sizes=(8,)))
    assert (cell.against, cell.reached) == ("native", True)
    assert cell.baseline == pytest.approx(1.5 * cell.value)
    assert cell.excluded == {"two_proc": "MPI error: unsupported"}
    assert len(script.asked) == len(launches)
    Script({"off": [failure]}, monkeypatch, tmp_path / "default")
    with pytest.raises(WherryError, match="unsupported"):
        grid.run(Setup(mpi=fake_mpi("openmpi"), ranks=4, launches=1, sizes=(8,)))


def test_grid_keeps_numbers_of_ranks_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(grid, "OPERATIONS", ("bcast",))
    launches = [
        "\n".join(line(f"bcast {size} B", variant, t) for size in (8, 64) for variant, t in times)
        for times in ((("native", 2e-6), ("wherry", 1e-6)), (("native", 1e-6), ("wherry", 5e-6)))
    ]
    script = Script({"off": launches}, monkeypatch, tmp_path)
    results = grid.run(Setup(mpi=fake_mpi(), quick=True, sizes=(8, 64)))
    assert [ranks for ranks, _, _ in script.asked] == [2, 8]
    found = [(row.ranks, row.size, row.ratio) for row in results]
    assert found == [(2, 8, 2.0), (2, 64, 2.0), (8, 8, pytest.approx(0.2)), (8, 64, pytest.approx(0.2))]


def test_the_picture_of_a_grid_names_the_best_of_every_cell(tmp_path: Path) -> None:
    def cell(operation: str, ranks: int, size: int, against: str, ratio: float) -> frame.Result:
        place: dict[str, Any] = {"operation": operation, "size": size, "against": against, "network": "net"}
        return frame.Result("grid", "a case", "time", "s", 1.0, ratio, ratio, "mpich", ranks, [], **place)

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
