"""The applications that read remote memory: right results on any MPI and number of ranks, against others' software."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess

import launching
import pytest
from conftest import ROOT, Launcher
from launching import check_refused, on_every, on_one, on_quick, on_two, output

RANKS = (1, 2, 3, 5)
ONCE = ("--turns", "1")
#: The most that a cache may be asked to take; no machine that runs the tests has it.
TEBIBYTE = str(1 << 30)
LCC_RIGHT = "checked: all runs found the same coefficients, and so does one rank alone"
BODIES_RIGHT = "checked: all runs came to the same, bit by bit; forces differ from direct sums by "


def launch(mpi: Launcher, program: Path, n: int, words: Sequence[str | Path] = ()) -> CompletedProcess[str]:
    if mpi.name == "debian-mpich":
        pytest.skip("MPICH 4.0.2 over UCX brings wrong bytes when some dozens of gets are under way")
    return launching.launch(mpi, program, n, words)


def run(mpi: Launcher, build: Path, name: str, n: int, words: Sequence[str | Path]) -> CompletedProcess[str]:
    return launch(mpi, launching.application(mpi, build, name), n, words)


def oracle(script: str, *words: str | Path) -> str:
    # To compile pytreegrav takes a minute; a hundred bodies it gets done without that in seconds.
    return launching.oracle("oracles", ROOT / "tests/apps/oracles" / script, *words, NUMBA_DISABLE_JIT="1")


def table_of(text: str, heading: str) -> dict[str, list[str]]:
    """The rows below a heading, by their first column."""
    lines = text.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith(heading))
    rows = [re.split(r"  +", line) for line in lines[begin + 1 :]]
    return {row[0]: row[1:] for row in rows if len(row) > 1}


def numbers(path: Path) -> list[float]:
    return [float(line) for line in path.read_text().splitlines()]


def write_edges(path: Path, seed: int = 4, vertices: int = 300) -> None:
    """A graph with hubs, loops and repetitions, from a linear congruential generator."""
    state, lines = seed, []
    for _ in range(vertices * 6):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        a = int(vertices * ((state >> 40) / 2**24) ** 2)
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        lines.append(f"{a} {(state >> 33) % vertices}")
    lines.append(f"0 {vertices - 1}")
    path.write_text("\n".join(lines) + "\n")


@on_every
@pytest.mark.parametrize("n", RANKS)
def test_coefficients_are_right(mpi: Launcher, build: Path, n: int) -> None:
    text = output(run(mpi, build, "lcc", n, ["--scale", "6", "--cache-kib", "1", *ONCE]))
    assert LCC_RIGHT in text
    # The same graph on any number of ranks.
    assert "R-MAT 6: 64 vertices, 365 edges, 1097 triangles, mean 0.628403" in text


@on_two
def test_gets_are_counted(mpi: Launcher, build: Path) -> None:
    """Two gets for every edge between ranks; a cache that holds all asks for each block once."""
    text = output(run(mpi, build, "lcc", 2, ["--scale", "8", *ONCE]))
    rows = table_of(text, "read with")
    plain, blocks = rows["plain MPI"], rows["block cache"]
    assert plain[0] == blocks[0]
    assert plain[2] == "0.0%"
    assert plain[3] == plain[0]
    # Of 1 KiB: 129 offsets of 8 bytes on each rank are 2 blocks, 2112 edges both ways of 4 bytes on two ranks 17 or 18.
    assert int(blocks[3]) in (2 * 2 + 17, 2 * 2 + 18)


@on_one
@pytest.mark.parametrize("name", ["lcc", "barnes_hut"])
def test_plain_mpi_may_be_left_out(mpi: Launcher, build: Path, name: str, tmp_path: Path) -> None:
    """The caches come to what they come to beside plain MPI; records have no baseline."""
    usual, alone = tmp_path / "usual.json", tmp_path / "alone.json"
    size = {"lcc": ["--scale", "6"], "barnes_hut": ["--bodies", "300"]}[name]
    output(run(mpi, build, name, 2, [*size, "--no-bypass", "--json", usual, *ONCE]))
    text = output(run(mpi, build, name, 2, [*size, "--no-bypass", "--no-plain", "--json", alone, *ONCE]))
    assert list(table_of(text, "read with")) == ["block cache", "Wherry, fixed", "Wherry, adaptive"]
    rows = json.loads(alone.read_text())
    assert [(row["baseline"], row["ratio"]) for row in rows] == [(None, None)] * 3
    assert [row["samples"][0]["native"] for row in rows] == [[]] * 3
    assert [row["moves"] for row in rows] == [row["moves"] for row in json.loads(usual.read_text())]


@on_one
def test_ranks_of_a_node_read_for_each_other(mpi: Launcher, build: Path) -> None:
    """Three ranks: what two of them read of the third, one of them may read for both.

    Nothing is fetched ahead: blocks are so few that ranks in step may each ask for all of them at the same time.
    """
    moved, size = [], ["--scale", "8", "--no-bypass", "--ahead-bytes", "0"]
    for words in ([], ["--node-kib", "1024"]):
        text = output(run(mpi, build, "lcc", 3, [*size, *words, *ONCE]))
        assert LCC_RIGHT in text
        moved.append(int(table_of(text, "read with")["Wherry, fixed"][3]))
    assert 0 < moved[1] < moved[0]


@on_one
@pytest.mark.parametrize("batch", ["1", "1000"])
def test_coefficients_agree_with_networkit(mpi: Launcher, build: Path, tmp_path: Path, batch: str) -> None:
    graph, found = tmp_path / "graph.txt", tmp_path / "found.txt"
    write_edges(graph)
    output(run(mpi, build, "lcc", 3, ["--graph", graph, "--output", found, "--batch", batch, *ONCE]))
    mine = numbers(found)
    right = [float(line) for line in oracle("lcc_networkit.py", graph, str(len(mine))).split()]
    assert len(mine) == len(right) == 300
    assert max(abs(a - b) for a, b in zip(mine, right, strict=True)) <= 1e-12
    assert max(right) > 0


@on_one
def test_formats_of_graphs_are_the_same_graph(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_text("0 1\n1 2\n2 0\n2 3\n")
    (tmp_path / "g.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n4 4 4\n1 2\n2 3\n3 1\n3 4\n")
    (tmp_path / "g.graph").write_text("4 4\n2 3\n1 3\n1 2 4\n3\n")
    for name in ("g.txt", "g.mtx", "g.graph"):
        found = tmp_path / "found.txt"
        text = output(run(mpi, build, "lcc", 3, ["--graph", tmp_path / name, "--output", found, *ONCE]))
        assert f"{name}: 4 vertices, 4 edges, 1 triangle," in text
        assert numbers(found) == pytest.approx([1, 1, 1 / 3, 0], abs=1e-15)


@on_every
@pytest.mark.parametrize("n", RANKS)
def test_forces_are_right(mpi: Launcher, build: Path, n: int) -> None:
    words = ["--bodies", "400", "--softening", "0.01", "--steps", "1", "--cache-kib", "4", *ONCE]
    text = output(run(mpi, build, "barnes_hut", n, words))
    assert BODIES_RIGHT in text
    error = float(text.split(BODIES_RIGHT)[1].split()[0])
    assert 1e-5 < error < 1e-3


@on_two
def test_cells_are_read_again_in_every_step(mpi: Launcher, build: Path) -> None:
    """A cache that kept the cells of an earlier step would move the bodies elsewhere: all variants agree bit by bit."""
    words = ["--bodies", "1000", "--steps", "3", "--time-step", "0.05", "--softening", "0.05", "--turns", "2"]
    text = output(run(mpi, build, "barnes_hut", 3, words))
    assert BODIES_RIGHT in text
    rows = table_of(text, "read with")
    assert rows["plain MPI"][0] == rows["block cache"][0]
    assert float(rows["block cache"][2].rstrip("%")) > 80


def columns(path: Path) -> list[list[float]]:
    return [[float(word) for word in line.split()] for line in path.read_text().splitlines()[1:]]


@on_two
def test_any_number_of_ranks_gives_the_same_forces(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    rows = {}
    for n in (1, 2, 5):
        path = tmp_path / f"{n}.txt"
        output(run(mpi, build, "barnes_hut", n, ["--bodies", "1000", "--steps", "0", "--output", path, *ONCE]))
        rows[n] = columns(path)
    for n in (2, 5):
        assert [row[:7] for row in rows[n]] == [row[:7] for row in rows[1]]
        for mine, alone in zip(rows[n], rows[1], strict=True):
            size = math.hypot(*alone[7:10])
            assert math.dist(mine[7:10], alone[7:10]) <= 1e-12 * size
            assert mine[10] == pytest.approx(alone[10], rel=1e-13)


@on_one
def test_energy_and_momentum_are_kept(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    path = tmp_path / "end.txt"
    words = ["--bodies", "400", "--steps", "20", "--softening", "0.05", "--theta", "0", "--output", path, *ONCE]
    text = output(run(mpi, build, "barnes_hut", 3, words))
    change = float(re.search(r"energy changed by (\S+)", text)[1])  # type: ignore[index]
    assert 0 < abs(change) < 1e-3
    assert "direct sums by" in text
    begin = tmp_path / "begin.txt"
    words = ["--bodies", "400", "--steps", "0", "--output", begin, *ONCE]
    output(run(mpi, build, "barnes_hut", 1, words))
    for axis in (4, 5, 6):
        momenta = [sum(row[0] * row[axis] for row in columns(p)) for p in (begin, path)]
        assert momenta[1] == pytest.approx(momenta[0], abs=1e-14)


@on_one
def test_forces_are_as_good_as_pytreegravs(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    """At the same opening angle; group by group the tree is opened further, so they are better."""
    path = tmp_path / "forces.txt"
    words = ["--bodies", "1000", "--steps", "0", "--theta", "0.6", "--output", path, *ONCE]
    output(run(mpi, build, "barnes_hut", 2, words))
    errors = json.loads(oracle("barnes_hut_pytreegrav.py", path, "0.6", "0"))
    assert 0 < errors["ours"] < errors["quadrupole"] < errors["monopole"] < 0.05


@on_one
def test_bodies_from_a_file(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    """Two bodies on a circle come back after one turn: period 2 pi at distance 1 and total mass 1."""
    path, end = tmp_path / "two.txt", tmp_path / "end.txt"
    path.write_text("# two\n0.5 0.5 0 0 0 0.5 0\n0.5 -0.5 0 0 0 -0.5 0\n")
    words = ["--file", path, "--steps", "300", f"--time-step={2 * math.pi / 300}", "--output", end, *ONCE]
    assert BODIES_RIGHT in output(run(mpi, build, "barnes_hut", 2, words))
    first, second = columns(end)
    assert math.dist(first[1:4], (0.5, 0, 0)) < 1e-3
    assert math.dist(second[1:4], (-0.5, 0, 0)) < 1e-3


@on_two
@pytest.mark.parametrize("name", ["lcc", "barnes_hut"])
def test_wrong_results_are_found(mpi: Launcher, build: Path, name: str) -> None:
    output(launch(mpi, build / "tests" / "apps" / mpi.name / f"check_{name}", 3))


@on_one
@pytest.mark.parametrize("name", ["lcc", "barnes_hut"])
def test_records(mpi: Launcher, build: Path, name: str, tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    size = {"lcc": ["--scale", "6"], "barnes_hut": ["--bodies", "500"]}[name]
    output(run(mpi, build, name, 3, [*size, "--turns", "2", "--json", path]))
    assert list(tmp_path.iterdir()) == [path]
    records = json.loads(path.read_text())
    assert records[0]["strategies"] == ["block cache"]
    for record in records:
        assert record["bench"] == name
        assert record["ranks"] == 3
        assert record["hits"] + record["moves"] >= record["gets"] > 0
        (samples,) = record["samples"]
        # Forces are computed before the first of two steps and in each.
        assert len(samples["native"]) == len(samples["wherry"]) == {"lcc": 2, "barnes_hut": 6}[name]


@on_quick
def test_bodies_at_one_place_do_not_pull_each_other(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    path, result = tmp_path / "two.txt", tmp_path / "result"
    path.write_text("1 0.5 0 0 0 0 0\n" * 2)
    text = output(run(mpi, build, "barnes_hut", 2, ["--file", path, "--output", result, "--steps", "1", *ONCE]))
    assert "Barnes-Hut, 2 bodies, theta 0.5, 1 step; energy changed by 0 from 0\n" in text
    assert [line.split() for line in result.read_text().splitlines()[1:]] == [["1", "0.5", *["0"] * 9]] * 2


@on_quick
@pytest.mark.parametrize(
    ("name", "words", "message"),
    [
        ("lcc", ["--scale", "31"], "--scale: '31' is not a whole number from 0 to 30"),
        ("lcc", ["--format", "gml"], "--format: 'gml' is none of matrix-market, metis, edge-list"),
        ("lcc", ["--graph", "/no/such/graph"], "cannot read '/no/such/graph': No such file or directory"),
        ("lcc", ["--output", "/no/such/folder/x"], "cannot write '/no/such/folder/x': No such file or directory"),
        ("lcc", ["--output", "x", "--trace", "x"], "--output and --trace name the same file; name two"),
        ("lcc", ["--output", "x", "--json", "./x"], "--output and --json name the same file; name two"),
        ("lcc", ["--train", "3"], "unknown option '--train'"),
        ("lcc", ["--ahead-bytes", "1000"], "--ahead-bytes: '1000' is no power of two from 64 to 1048576; write one"),
        ("lcc", ["--graph", "x", "--scale", "4"], "--scale is for input that is drawn, and --graph names a file"),
        ("lcc", ["--format", "metis"], "--format says what kind of file to read, but not which; add --graph FILE"),
        ("lcc", ["--cache-kib", TEBIBYTE], f"--cache-kib: {TEBIBYTE} KiB would take 2"),
        ("lcc", ["--edge-facto", "4"], "unknown option '--edge-facto' (have: --scale, "),
        ("barnes_hut", ["--ahead-bytes=32"], "--ahead-bytes: '32' is no power of two from 64 to 1048576; write one"),
        ("barnes_hut", ["--ceiling-kib", "8191"], "--ceiling-kib: 8191 is less than twice the 4096 of --cache-kib"),
        ("barnes_hut", ["--file", "x", "--seed", "4"], "--seed is for input that is drawn, and --file names a file"),
        ("barnes_hut", ["--cache-kib", TEBIBYTE], f"--cache-kib: {TEBIBYTE} KiB would take 2"),
        ("barnes_hut", ["--node-kib", TEBIBYTE], f"--node-kib: {TEBIBYTE} KiB would take 2199.02 GB of memory"),
        ("barnes_hut", ["--ceiling-kib", TEBIBYTE], f"--ceiling-kib: {TEBIBYTE} KiB would take 1099.51 GB of memory"),
        ("barnes_hut", ["--theta", "3"], "--theta: '3' is not a number from 0 to 2"),
        ("barnes_hut", ["--output", "x", "--json", "x"], "--output and --json name the same file; name two"),
        ("barnes_hut", ["--group", "8"], "--group: 8 is less than a leaf's 16 bodies; write --leaf 8"),
        ("barnes_hut", ["--file", "/"], "cannot read '/': Is a directory"),
    ],
)
def test_wrong_usage_ends_all_ranks(mpi: Launcher, build: Path, name: str, words: list[str], message: str) -> None:
    check_refused(run(mpi, build, name, 3, words), f"{name}: {message}")


@on_quick
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3 1\n2\n3\n\n", "line 2: vertex 1 has the neighbor 2, but vertex 2 lacks the neighbor 1"),
        ("2 1\n2\n1\n1\n", "line 4: there are more lines than the 2 vertices that the file announces"),
    ],
)
def test_damaged_metis_files_end_all_ranks(mpi: Launcher, build: Path, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "damaged.graph"
    path.write_text(text)
    check_refused(run(mpi, build, "lcc", 3, ["--graph", path]), message)


@on_one
def test_too_little_memory_is_named(mpi: Launcher, build: Path) -> None:
    """Where more is asked for than the system gives: all ranks end, and say what to do."""
    program = launching.application(mpi, build, "barnes_hut")
    limited = ["bash", "-c", 'ulimit -v 4000000 && exec "$@"', "-", program, "--bodies", "200000000"]
    done = mpi.run(limited, 2, launching.hermetic({}), timeout=180)
    assert done.returncode != 0
    assert "barnes_hut: there is not enough memory for what was asked for; ask for less" in done.stdout + done.stderr


@on_quick
@pytest.mark.parametrize(
    ("name", "option", "text", "message"),
    [
        ("lcc", "--graph", "0 1\n1 two\n", "line 2: the second vertex 'two' is not a whole number"),
        ("lcc", "--graph", "# none\n", "there are no vertices in it"),
        ("lcc", "--graph", "0 \x01\n", r"line 1: the second vertex '\x01' is not a whole number"),
        ("barnes_hut", "--file", "1 0 0 0 0 0\n", "line 1: the velocity is missing"),
        ("barnes_hut", "--file", "# none\n", "there are no bodies in it"),
        (
            "barnes_hut",
            "--file",
            "1 0 0 0 0 0 0\n1 1e151 0 0 0 0 0\n",
            "line 2: the coordinate 1e+151 is beyond 1e+100",
        ),
    ],
)
def test_damaged_files_end_all_ranks(
    mpi: Launcher, build: Path, tmp_path: Path, name: str, option: str, text: str, message: str
) -> None:
    path, result = tmp_path / "damaged.txt", tmp_path / "result"
    path.write_text(text)
    check_refused(run(mpi, build, name, 3, [option, path, "--output", result]), message)
    assert list(tmp_path.iterdir()) == [path]


@on_quick
@pytest.mark.parametrize(
    ("name", "source", "option", "text"),
    [
        ("lcc", "--graph", "--output", "0 1\n"),
        ("lcc", "--graph", "--trace", "0 1\n"),
        ("lcc", "--graph", "--json", "0 1\n"),
        ("barnes_hut", "--file", "--output", "1 0 0 0 0 0 0\n"),
        ("barnes_hut", "--file", "--json", "1 0 0 0 0 0 0\n"),
    ],
)
def test_what_is_read_is_not_written(
    mpi: Launcher, build: Path, tmp_path: Path, name: str, source: str, option: str, text: str
) -> None:
    path, link = tmp_path / "in", tmp_path / "link"
    path.write_text(text)
    link.symlink_to(path)
    message = f"{name}: {option} names the file that {source} reads, which would be lost; name another"
    for other in (path, link):
        check_refused(run(mpi, build, name, 3, [source, path, option, other, *ONCE]), message)
    assert path.read_text() == text
    assert link.is_symlink()


@on_two
@pytest.mark.parametrize(
    "words",
    [
        ["--steps", "3", "--time-step", "1e100"],
        ["--steps", "1", "--time-step", "1e100", "--turns", "2", "--softening", "1e100"],
    ],
)
def test_numbers_that_overflow_are_named(mpi: Launcher, build: Path, tmp_path: Path, words: list[str]) -> None:
    path = tmp_path / "end.txt"
    done = run(mpi, build, "barnes_hut", 3, ["--bodies", "500", *ONCE, "--output", path, *words])
    text = done.stdout + done.stderr
    assert done.returncode == 1, text
    assert text.count("barnes_hut: wrong result: the numbers overflowed: ") == 1
    assert "choose a smaller --time-step, or other units" in text
    assert "nan" not in text
    assert not path.exists()


@on_quick
@pytest.mark.parametrize("name", ["lcc", "barnes_hut"])
def test_help_has_examples(mpi: Launcher, build: Path, name: str) -> None:
    text = output(run(mpi, build, name, 2, ["--help"]))
    assert text.count(f"Usage: {name} [OPTION]...") == 1
    assert f"mpiexec -n 8 {name} --" in text
    assert "--train" not in text
