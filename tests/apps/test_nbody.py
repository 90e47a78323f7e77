"""The application nbody on every MPI: every scheme's motion, files, records, refusals."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
from pathlib import Path

import launching
import pytest
from conftest import Launcher
from launching import check_of, check_refused, on_every, on_one, on_quick, on_two
from nbody_runs import HEADER, PATIENT, bodies_of, output, run

from wherry import trace

RANKS = (1, 2, 3, 4, 5)
#: Of one node; `overlapped` is for several.
SCHEMES = ("equal", "balanced", "replicated", "node", "allgather", "ring", "quorum", "grid")


@on_every
@pytest.mark.parametrize("n", RANKS)
def test_every_scheme_moves_bodies_as_one_rank_does(mpi: Launcher, build: Path, n: int) -> None:
    """With plain MPI and Wherry in turns, one thread and two; and wrong exchanges are found."""
    launching.output(launching.launch(mpi, check_of(mpi, build, "nbody"), n, env=PATIENT))


@on_two
def test_a_scheme_is_chosen_by_trial(mpi: Launcher, build: Path) -> None:
    text = output(run(mpi, build, 3, ["--bodies", "500", "--steps", "4"]))
    (trial,) = [line for line in text.splitlines() if line.startswith("of the trial: ")]
    times = {word.split()[0]: float(word.split()[1]) for word in trial.removeprefix("of the trial: ").split(", ")}
    assert len(times) == 3
    (scheme,) = [line.split()[1].rstrip(":") for line in text.splitlines() if line.startswith("scheme ")]
    assert times[scheme] == min(times.values())
    (rates,) = [line for line in text.splitlines() if line.startswith("timesteps/s: ")]
    assert rates.split()[2:4] == ["with", "plain"]


@on_one
@pytest.mark.parametrize("scheme", SCHEMES)
def test_records(mpi: Launcher, build: Path, scheme: str, tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    output(run(mpi, build, 2, ["--bodies", "100", "--scheme", scheme, "--steps", "7", f"--json={path}"]))
    assert list(tmp_path.iterdir()) == [path]
    records = json.loads(path.read_text())
    assert [record["metric"] for record in records] == ["timestep", "computing", "exchanging"]
    for record in records:
        assert record["bench"] == "nbody"
        assert record["case"] == f"100 bodies, {scheme}"
        (samples,) = record["samples"]
        assert (len(samples["native"]), len(samples["wherry"])) == (4, 3)


@on_two
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_trace_says_where_each_rank_spent_its_time(mpi: Launcher, build: Path, scheme: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    output(run(mpi, build, 3, ["--bodies", "300", "--scheme", scheme, "--steps", "20", f"--trace={path}"]))
    assert list(tmp_path.iterdir()) == [path]
    traced = trace.read(path)
    assert traced.title == f"300 bodies, {scheme}"
    assert list(traced.ranks) == [0, 1, 2]
    for spans in traced.ranks.values():
        # The last 16 steps, one acceleration each; grid's have no span without a kind of its own.
        computed = sum(span.kind == trace.COMPUTE for span in spans)
        assert computed % 16 == 0
        assert computed > 0
        # Who waits from beginning to end has no time in MPI besides.
        assert {span.kind for span in spans} & {trace.MPI, trace.WAIT}
        assert all(a.end_s <= b.begin_s + 1e-8 for a, b in itertools.pairwise(spans))
        assert all(0 <= span.begin_s <= span.end_s for span in spans)


@on_one
def test_on_one_node_nothing_is_overlapped(mpi: Launcher, build: Path) -> None:
    text = output(run(mpi, build, 2, ["--bodies", "300", "--scheme", "overlapped", "--steps", "4"]))
    (scheme,) = [line for line in text.splitlines() if line.startswith("scheme ")]
    assert scheme.startswith("scheme replicated: ")
    assert scheme.endswith(" (in place of overlapped, for all ranks are on one node)")


@on_two
def test_the_profiler_sees_the_same_collectives(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    """All allreduces of the steps, with computing between them, from the records of a preloaded run."""
    steps, out = 10, tmp_path / "out"
    out.mkdir()
    words = ["--bodies", "300", "--scheme", "replicated", "--with", "mpi", "--steps", str(steps)]
    env = {"WHERRY_OUTPUT": str(out), "WHERRY_NO_COLLECTIVES": "1"} | PATIENT
    output(mpi.run([launching.application(mpi, build, "nbody"), *words], 3, env, preload=True, timeout=180))
    traced = trace.read(out)
    assert list(traced.ranks) == [0, 1, 2]
    for spans in traced.ranks.values():
        assert all(a.end_s <= b.begin_s + 1e-9 for a, b in itertools.pairwise(spans))
        ends = [span.end_s for span in spans if span.name == "MPI_Allreduce" and span.kind == trace.MPI]
        assert len(ends) > steps
        assert sum(span.kind == trace.COMPUTE for span in spans) > steps


@on_two
def test_reproducible_runs_end_at_the_same_bits(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    texts = set()
    energies = set()
    for n, threads in [(1, 1), (2, 1), (3, 2), (5, 1)]:
        path = tmp_path / f"{n}.csv"
        words = ["--reproducible", "--bodies", "203", "--steps", "20", "--threads", str(threads), "--output", path]
        text = output(run(mpi, build, n, words))
        texts.add(path.read_text())
        energies.add(next(line for line in text.splitlines() if line.startswith("energy ")))
    assert len(texts) == 1
    assert len(energies) == 1


@on_one
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_run_goes_on_as_if_it_had_never_stopped(mpi: Launcher, build: Path, scheme: str, tmp_path: Path) -> None:
    whole, part = tmp_path / "whole.csv", tmp_path / "part.csv"
    fixed = ["--scheme", scheme, "--with", "mpi"]
    start = ["--bodies", "101", "--eps", "0.1", "--dt", "0.003", "--integrator", "yoshida4"]
    output(run(mpi, build, 3, [*fixed, *start, "--steps", "12", "--output", whole]))
    output(run(mpi, build, 3, [*fixed, *start, "--steps", "5", "--output", part]))
    output(run(mpi, build, 3, [*fixed, "--restart", part, "--steps", "7", "--output", part]))
    assert part.read_text() == whole.read_text()
    assert whole.read_text().startswith("# nbody step=12 dt=0.003 eps=0.1 integrator=yoshida4 bodies=101\n")
    assert sorted(tmp_path.iterdir()) == [part, whole]


@on_one
def test_bodies_come_from_a_file(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    stars, moved = tmp_path / "stars.csv", tmp_path / "moved.csv"
    stars.write_text(HEADER + "1,0,0,0,0,0,0\n0,1,0,0,0,1,0\n0,4,0,0,0,0.5,0\n")
    words = ["--input", stars, "--eps", "0", "--dt", "0.001", "--steps", "1000", "--output", moved, "--every", "300"]
    output(run(mpi, build, 2, words))
    rows = [[float(field) for field in line.split(",")] for line in moved.read_text().splitlines()[2:]]
    # On circles: by 1 radian at the radius 1, by 1/8 at 4. The sun, which nothing pulls, stays.
    assert rows[0] == [1, 0, 0, 0, 0, 0, 0]
    assert rows[1][1:3] == pytest.approx([0.5403023, 0.8414710], abs=1e-6)
    assert rows[2][1:3] == pytest.approx([3.9688, 0.49870], abs=1e-4)


@on_one
def test_an_absurd_time_step_is_warned_of(mpi: Launcher, build: Path) -> None:
    text = output(run(mpi, build, 2, ["--bodies", "50", "--dt", "5", "--steps", "20"]))
    assert "warning: the energy has changed by " in text
    assert "warning" not in output(run(mpi, build, 2, ["--bodies", "50", "--dt", "0.001", "--steps", "2"]))


@on_one
@pytest.mark.parametrize("every", ["1", "100"])
@pytest.mark.parametrize(
    ("rows", "words"),
    [
        pytest.param("1,0,0,0,0,0,0\n1,1,0,0,0,0,0\n", ["--dt", "1e200"], id="a step too long"),
        pytest.param("1,0,0,0,1e300,0,0\n1,1,0,0,0,0,0\n", [], id="energy of motion"),
        pytest.param("1e300,0,0,0,0,0,0\n1e300,1,0,0,0,0,0\n", [], id="energy of masses"),
        pytest.param("1,0,0,0,0,0,0\n1,1e-99,0,0,0,0,0\n", ["--eps", "0"], id="too close"),
        pytest.param("1,0,0,0,3e101,0,0\n1,1,0,0,0,0,0\n", [], id="in time too far"),
    ],
)
def test_numbers_that_overflow_are_named_and_not_written(
    mpi: Launcher, build: Path, rows: str, words: list[str], every: str, tmp_path: Path
) -> None:
    stars, moved, film = tmp_path / "stars.csv", tmp_path / "moved.csv", tmp_path / "film.gif"
    stars.write_text(HEADER + rows)
    outputs = ["--output", moved, "--film", film, "--every", every]
    done = run(mpi, build, 2, ["--input", stars, "--steps", "50", *words, *outputs])
    assert done.returncode != 0
    assert "the numbers overflowed: bodies moved too far or too fast to compute with" in done.stdout + done.stderr
    assert not film.exists()
    if moved.exists():
        assert every == "1"
        assert all(abs(number) < 1e100 for body in bodies_of(moved) for number in body[1:4])


@on_one
def test_threads_are_bound_if_that_is_asked_for(mpi: Launcher, build: Path) -> None:
    done = run(mpi, build, 1, ["--bodies", "100", "--steps", "1", "--bind"])
    if "built without hwloc" in done.stderr + done.stdout:
        pytest.skip("nbody is built without hwloc (as root: apt-get install libhwloc-dev)")
    assert re.search(r"the first rank's threads bound to the cores \d+, NUMA node \d+\n", output(done))
    text = output(run(mpi, build, 1, ["--bodies", "100", "--steps", "1", "--bind", "--threads", "4000"]))
    assert re.search(r"threads not bound: 1 rank with 4000 each for \d+ core", text)


@on_one
def test_ranks_that_share_too_few_cores_bind_nothing(mpi: Launcher, build: Path) -> None:
    """Nor do the first of them, which would find enough. Both have all processors; then both have one."""
    words = ["--bodies", "100", "--steps", "1", "--bind"]
    mine = os.sched_getaffinity(0)
    done = run(mpi, build, 2, [*words, "--threads", str(len(mine))])
    if "built without hwloc" in done.stderr + done.stdout:
        pytest.skip("nbody is built without hwloc (as root: apt-get install libhwloc-dev)")
    assert re.search(rf"threads not bound: 2 ranks with {len(mine)} each for \d+ core", output(done))
    os.sched_setaffinity(0, {min(mine)})
    try:
        text = output(run(mpi, build, 2, words))
    finally:
        os.sched_setaffinity(0, mine)
    assert "threads not bound: 2 ranks with 1 each for 1 core\n" in text


@on_quick
@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("", ["--bodies", "1"], "--bodies: '1' is not a whole number from 2 to 16777216"),
        ("", ["--bodies", "0"], "--bodies: '0' is not a whole number from 2 to 16777216"),
        ("", ["--bodies", "2"], "2 bodies for 3 ranks; start at most as many ranks as there are bodies"),
        ("", ["--dt", "0"], "--dt: 0 is not more than zero"),
        ("", ["--dt", "nan"], "--dt: 'nan' is not a number"),
        ("", ["--scheme", "star"], "--scheme: 'star' is none of auto, equal, balanced,"),
        (
            "",
            ["--kernel", "gpu"],
            "--kernel: 'gpu' is none of simd, forces, accelerations, autovectorised, reduced, single,",
        ),
        ("", ["--reproducible", "--scheme", "ring"], "--reproducible: the scheme ring adds in an order that"),
        ("", ["--trace", "/no/such/folder/x"], "cannot write '/no/such/folder/x': No such file or directory"),
        ("", ["--trace", "{file}", "--output", "{file}"], "--output and --trace name the same file; name two"),
        ("", ["--trace", "{file}", "--steps", "0"], "--trace: without a step there is nothing to trace"),
        ("", ["--pretend"], "unknown option '--pretend'"),
        ("", ["--every", "3"], "--every says when to write, but not where; add --output FILE or --film FILE"),
        ("", ["--film", "x.gif"], "--film needs to know how often; add --every N"),
        (
            "",
            ["--film", "x.png", "--every", "1"],
            "--film: a film is a GIF, and 'x.png' does not end in .gif; name the file so",
        ),
        ("", ["--film", "x", "--output", "x", "--every", "1"], "--output and --film name the same file; name two"),
        ("", ["--film", "x", "--trace", "x", "--every", "1"], "--film and --trace name the same file; name two"),
        ("", ["--film", "x", "--json", "x", "--every", "1"], "--film and --json name the same file; name two"),
        ("", ["--film", "/no/such/folder/x", "--every", "1"], "cannot write '/no/such/folder/x': No such file"),
        ("\0\1\0\0GADG", ["--input", "{file}"], "{file}: ends within the header; it was not copied or written whole"),
        (
            HEADER + "1,0,0,0,0,0,0\n" * 5,
            ["--input", "{file}", "--json", "{file}"],
            "--json names the file that --input reads, which would be lost; name another",
        ),
        ("", ["--output", "/no/such/folder/x"], "cannot write '/no/such/folder/x': No such file or directory"),
        ("", ["--model", "kepler", "--bodies", "9"], "--bodies: the model kepler has 2 bodies"),
        ("", ["--restart", "{file}", "--input", "{file}"], "--input and --restart are both given; write one of them"),
        *(
            ("", [option, text, "--input", "{file}"], f"{option} is given, but the bodies come from a file; leave it")
            for option, text in [("--model", "kepler"), ("--bodies", "9"), ("--seed", "2")]
        ),
        ("1,2\n", ["--input", "{file}"], "{file}:1: '1,2' instead of 'm,x,y,z,vx,vy,vz'"),
        (HEADER + "-1,0,0,0,0,0,0\n", ["--input", "{file}"], "{file}:2: m is -1; a mass must not be negative"),
        (HEADER + "1,nan,0,0,0,0,0\n", ["--input", "{file}"], "{file}:2: x is nan; it must be finite"),
        (HEADER + "1,0,0,0,0,0,0\n", ["--input", "{file}"], "a single body has nothing that pulls it"),
        (HEADER + "1,0,0,0,0,0,0\n", ["--restart", "{file}"], "{file}: no line '# nbody step=...'; take a file that"),
        (
            "# nbody step=3 dt=0.1 eps=0 integrator=leapfrog\n" + HEADER + "1,0,0,0,0,0,0\n" * 5,
            ["--restart", "{file}", "--dt", "0.2"],
            "--dt disagrees with '{file}', which must go on as it began; leave it out",
        ),
        (
            "# nbody step=3 dt=0.1 eps=0 integrator=hopping\n" + HEADER + "1,0,0,0,0,0,0\n" * 5,
            ["--restart", "{file}"],
            "{file}: integrator 'hopping' is none of euler, leapfrog, yoshida4, yoshida6",
        ),
    ],
)
def test_wrong_usage_ends_all_ranks(
    mpi: Launcher, build: Path, text: str, words: list[str], message: str, tmp_path: Path
) -> None:
    stars = tmp_path / "stars.csv"
    stars.write_text(text)
    done = run(mpi, build, 3, [word.format(file=stars) for word in words])
    check_refused(done, "nbody: " + message.format(file=stars))
    assert list(tmp_path.iterdir()) == [stars]
    assert stars.read_text() == text


def test_kernels_are_timed_beside_what_their_ports_could_do(build: Path, tmp_path: Path) -> None:
    program, path = launching.built(build / "apps" / "nbody_kernels", "nbody"), tmp_path / "kernels.json"
    words = ["--bodies", "64,70", "--turns", "2", "--kernel", "forces", f"--json={path}"]
    done = subprocess.run([str(program), *words], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    (counted,) = [
        line.split() for line in done.stdout.splitlines() if line.startswith("  forces  ") and "triangle" in line
    ]
    fused, added, estimate = int(counted[3]), int(counted[8]), int(counted[10])
    assert int(counted[2].rstrip(":")) == fused + added + estimate
    assert (fused, added) == (15, 10)
    records = json.loads(path.read_text())
    assert [(r["case"], r["metric"]) for r in records] == [
        (f"{bodies} bodies, {kernel}", pairs)
        for bodies in (64, 70)
        for kernel in ("forces", "autovectorised")
        for pairs in ("triangle", "full matrix")
    ]
    for record in records:
        assert record["error"] < 1e-14
        assert len(record["samples"]) == 2
        assert record["value"] == pytest.approx(sum(record["samples"]) / 2, rel=1e-12)
        assert (record["share_of_port_bound"] is None) == ("autovectorised" in record["case"])


@on_two
def test_help_names_schemes_kernels_and_examples(mpi: Launcher, build: Path) -> None:
    done = run(mpi, build, 2, ["--help"])
    assert done.returncode == 0
    assert done.stdout.count("Usage: nbody [OPTION]...") == 1
    for name in (*SCHEMES, "overlapped", "simd", "reduced", "leapfrog", "plummer"):
        assert f"\n      {name}: " in done.stdout
    assert "mpiexec -n 2 nbody --restart stars.csv" in done.stdout
    assert "--turns" not in done.stdout


@on_one
def test_progress_tells_the_rate(mpi: Launcher, build: Path) -> None:
    shown = run(mpi, build, 2, ["--bodies", "64", "--steps", "3", "--progress"])
    assert "\rnbody: timesteps: 0 of 3" in (shown.stdout + shown.stderr).replace("\n", "\r")
