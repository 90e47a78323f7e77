"""`wherry explain`, `wherry draw` and the check of settings, on what the real wherry-plan answers."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from wherry import paths
from wherry.errors import UsageError
from wherry.run import settings
from wherry.schedule import explain, plan

Tell = Callable[..., str]


@pytest.fixture(autouse=True)
def program(build: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = build / "src" / "wherry-plan"
    if not found.exists():
        pytest.skip("wherry-plan is not built yet; run: make build")
    monkeypatch.setattr(paths, "plan_program", lambda: found)
    return found


@pytest.fixture
def tell(tmp_path: Path) -> Tell:
    def told(operation: str, ranks: int, size: int | None, root: int | None = None, node_of: str | None = None) -> str:
        out = StringIO()
        answer = plan.explain(operation, plan.Placement(ranks, node_of=node_of), size, root)
        explain.show(Console(file=out, width=200), answer, tmp_path / "none")
        return out.getvalue()

    return told


def test_a_reduction_tells_which_strategies_keep_the_order(tell: Tell) -> None:
    text = tell("reduce_scatter_block", 4, 8)
    assert text.startswith("MPI_Reduce_scatter_block: 4 ranks on 4 nodes, blocks of 8 B\n")
    tried = "direct, recursive_halving, recursive_halving_ordered, bruck"
    assert f"Tried beside native: {tried}.\n" in text
    assert "If its operation does not commute: direct, recursive_halving_ordered.\n" in text
    rows = {line.split()[0]: line.split()[-1] for line in text.splitlines() if line.startswith(("direct", "ring"))}
    assert (rows["direct"], rows["ring"]) == ("kept", "changed")


def test_a_root_and_the_depth_of_pipelines(tell: Tell) -> None:
    text = tell("bcast", 8, 1 << 16, root=3)
    assert text.startswith("MPI_Bcast: 8 ranks on 8 nodes, root 3, 64 KiB in all\n")
    assert "where linear sends 7 and 7" in text
    heading, *rows = [line.split() for line in text.splitlines() if line.startswith(("strategy", "chain"))]
    assert rows[0][heading.index("depth") + 1] == "8"  # after the time's unit
    assert "rank order" not in text
    assert "does not commute" not in text


def test_a_choice_for_all_roots_need_not_be_the_cheapest_for_one(tell: Tell) -> None:
    assert "settled for all roots" not in tell("bcast", 5, 1 << 16, root=0, node_of="0,0,0,0,1")
    assert "settled for all roots" in tell("bcast", 8, 1 << 16, root=3, node_of="0,0,0,0,1,1,1,1")


def test_a_barrier_has_no_size(tell: Tell) -> None:
    text = tell("barrier", 8, None)
    assert text.startswith("MPI_Barrier: 8 ranks on 8 nodes\n")
    assert "A rank sends at most 3 messages and a node 3 to others, where binomial sends 3 and 3.\n" in text


def test_nothing_but_the_library_is_possible(tell: Tell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHERRY_STAGING_MAX", "4K")
    text = tell("allreduce", 4, 1 << 20)
    assert "The native collective runs.\n" in text
    assert "WHERRY_STAGING_MAX allows 4 KiB" in text


def test_what_was_learned_of_reductions_in_order(tell: Tell, tmp_path: Path) -> None:
    row = "row AMD Open%20MPI {} 88201fb960ff6465 MPI_Allreduce{} 7 {} 1e-05 2.5e-05 2"
    words = [row.format(4, "", "ring"), row.format(4, ":in_order", "direct"), row.format(4, "_init", "mesh")]
    told = [explain._learned(line.split(), "MPI_Allreduce", 4, "buffers") for line in words]
    assert told == [
        "buffers <= 64 B: ring (10 us, native 25 us) on Open MPI",
        "buffers <= 64 B in order: direct (10 us, native 25 us) on Open MPI",
        None,
    ]


def test_draw_an_operation_with_root_and_depth() -> None:
    text = plan.draw(["bcast", "chain"], plan.Placement(4), "text", root=2, depth=3)
    assert text.startswith("bcast chain on 4 ranks, root 2, depth 3\n")
    assert plan.draw(["mesh"], plan.Placement(4), "svg").startswith("<svg")
    with pytest.raises(UsageError, match="did you mean 'chain'"):
        plan.draw(["bcast", "chian"], plan.Placement(4), "text")


def test_explain_and_draw_a_neighborhood() -> None:
    on_a_grid = plan.Placement(16, nodes=4, grid="4x4")
    told = plan.explain("neighbor_alltoall", on_a_grid, 8)
    assert told["neighbors"] == 8
    assert told["tried"][0] == "native"
    assert plan.explain("neighbor_alltoall", plan.Placement(64, grid="8x8", reach=2), 8)["neighbors"] == 24
    assert plan.draw(["neighbor_alltoall", "direct"], on_a_grid, "text").startswith(
        "neighbor_alltoall direct on 16 ranks, 4 nodes\n"
    )
    with pytest.raises(UsageError, match="--grid 4x4 holds 16 ranks, not 8; give -n 16 or leave it out"):
        plan.explain("neighbor_alltoall", plan.Placement(8, grid="4x4"), 8)


def test_settings_name_strategies_of_their_own_collective() -> None:
    names = plan.names_by_operation()
    operations = {
        name.removeprefix("WHERRY_").lower(): variable.names.operation
        for name, variable in settings.VARIABLES.items()
        if variable.names
    }
    assert operations == {**{operation: operation for operation in names}, "sparse_exchange": "alltoall"}
    for name, operation in operations.items():
        variable = f"WHERRY_{name.upper()}"
        for strategy in ("auto", "native", *names[operation]):
            assert settings.problems({variable: strategy}) == []
        (problem,) = settings.problems({variable: "no_such_thing"})
        assert problem.startswith(f"{variable}: unknown strategy 'no_such_thing'")
    (problem,) = settings.problems({"WHERRY_ALLREDUCE": "rign"})
    assert problem.endswith("instead; did you mean 'ring'?")
    (problem,) = settings.problems({"WHERRY_BCAST": "mesh"})  # of others
    assert problem.endswith("the native collective runs instead")


def test_sparse_exchanges_have_ways_of_their_own() -> None:
    for name in ("nbx", "census", "mesh"):
        assert settings.problems({"WHERRY_SPARSE_EXCHANGE": name}) == []
    (problem,) = settings.problems({"WHERRY_SPARSE_EXCHANGE": "censsu"})
    assert problem == (
        "WHERRY_SPARSE_EXCHANGE: unknown strategy 'censsu', so the native collective runs instead;"
        " did you mean 'census'?"
    )
    (problem,) = settings.problems({"WHERRY_ALLTOALL": "nbx"})
    assert problem.startswith("WHERRY_ALLTOALL: unknown strategy 'nbx'")


def test_as_many_ranks_are_drawn_as_help_says() -> None:
    most = plan.MOST_DRAWN_RANKS
    assert plan.draw(["mesh"], plan.Placement(most), "text")
    with pytest.raises(UsageError, match=f"draw at most {most}"):
        plan.draw(["mesh"], plan.Placement(most + 1), "text")
