"""The application nbody on every MPI: every scheme's motion, files, records, refusals."""

from __future__ import annotations

import itertools
import json
import math
import re
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess

import launching
import pytest
from conftest import ROOT, Launcher
from launching import check_of, check_refused, on_one, on_quick, on_two
from PIL import Image

from wherry import trace

RANKS = (1, 2, 3, 4, 5)
SCHEMES = ("equal", "balanced", "replicated", "overlapped", "node", "allgather", "ring", "grid")
CHECKED = "checked: accelerations agree with the scalar kernel's, and ranks that move all bodies with each other"
HEADER = "m,x,y,z,vx,vy,vz\n"

# More threads than cores must not wait in a loop for each other.
PATIENT = {"OMP_WAIT_POLICY": "passive"}


def run(mpi: Launcher, build: Path, n: int, words: Sequence[str | Path]) -> CompletedProcess[str]:
    return launching.run(mpi, build, "nbody", n, words, PATIENT)


def bodies_of(path: Path) -> list[list[float]]:
    """The rows of a file: m, x, y, z, vx, vy, vz."""
    lines = [line for line in path.read_text().splitlines() if line[:1] not in ("#", "m")]
    return [[float(field) for field in line.split(",")] for line in lines]


def output(done: CompletedProcess[str]) -> str:
    assert CHECKED in launching.output(done)
    return done.stdout


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
        assert {span.kind for span in spans} >= {trace.COMPUTE, trace.MPI}
        assert all(a.end_s <= b.begin_s + 1e-8 for a, b in itertools.pairwise(spans))
        assert all(0 <= span.begin_s <= span.end_s for span in spans)


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
    assert whole.read_text().startswith("# nbody step=12 dt=0.003 eps=0.1 integrator=yoshida4\n")
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
def test_a_snapshot_in_gadgets_format(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    """What struct reads by the format's description is what the text has; and it can be begun from."""
    text, binary, again = tmp_path / "stars.csv", tmp_path / "stars.gadget", tmp_path / "again.csv"
    start = ["--scheme", "replicated", "--with", "mpi", "--bodies", "30", "--steps", "2", "--output"]
    output(run(mpi, build, 2, [*start, text]))
    output(run(mpi, build, 2, [*start, binary]))
    rows = bodies_of(text)
    data = binary.read_bytes()
    records = []
    while data:
        (size,) = struct.unpack_from("<I", data)
        assert struct.unpack_from("<I", data, 4 + size) == (size,)
        records.append(data[4 : 4 + size])
        data = data[8 + size :]
    header, places, velocities, identifiers, masses = records
    assert struct.unpack_from("<6i", header) == (0, 30, 0, 0, 0, 0)
    assert struct.unpack_from("<d", header, 72) == (0.002,)
    assert list(struct.unpack("<30d", masses)) == [row[0] for row in rows]
    assert list(struct.unpack("<90d", places)) == [value for row in rows for value in row[1:4]]
    assert list(struct.unpack("<90d", velocities)) == [value for row in rows for value in row[4:]]
    assert list(struct.unpack("<30I", identifiers)) == list(range(1, 31))
    output(run(mpi, build, 2, ["--input", binary, "--steps", "0", "--output", again]))
    assert bodies_of(again) == rows


@on_one
def test_a_run_is_filmed(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    """Three bodies that nothing pulls, each where it should be in each frame."""
    stars, film = tmp_path / "stars.csv", tmp_path / "film.gif"
    # In view is a square of side 5 around the centre, 80 pixels to a unit.
    stars.write_text(HEADER + "0,-2,0,0,0,0,0\n0,2,0,0,0,0,0\n0,0,0,0,1,-0.5,0\n")
    words = ["--input", stars, "--dt", "0.5", "--steps", "3", "--every", "2", "--film", film]
    output(run(mpi, build, 2, words))
    assert sorted(tmp_path.iterdir()) == [film, stars]
    frames = []
    with Image.open(film) as picture:
        assert (picture.format, picture.size) == ("GIF", (400, 400))
        for number in range(picture.n_frames):
            picture.seek(number)
            frames.append(picture.convert("L"))
    assert len(frames) == 3  # the start, after two steps, the end
    for frame, (x, y) in zip(frames, [(0.0, 0.0), (1.0, -0.5), (1.5, -0.75)], strict=True):
        lit = {(i % 400, i // 400) for i, grey in enumerate(frame.tobytes()) if grey > 0}
        expected = set()
        for px, py in [(-2.0, 0.0), (2.0, 0.0), (x, y)]:
            column, row = math.floor((px / 2.5 + 1) / 2 * 400), 399 - math.floor((py / 2.5 + 1) / 2 * 400)
            expected |= {(column + i, row + j) for i in (0, 1) for j in (0, 1)}
        assert lit == expected


@on_one
def test_a_film_of_many_bodies_is_whole(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    """So many shades that the code's table overflows: every pixel is decoded, and the brightest are in the middle."""
    film = tmp_path / "film.gif"
    output(
        run(mpi, build, 2, ["--bodies", "20000", "--kernel", "single", "--steps", "1", "--every", "1", "--film", film])
    )
    with Image.open(film) as picture:
        picture.seek(1)
        grey = list(picture.convert("L").tobytes())
    assert len(grey) == 400 * 400
    assert sum(shade > 0 for shade in grey) > 20000
    middle = [grey[row * 400 + column] for row in range(190, 210) for column in range(190, 210)]
    assert sum(middle) / len(middle) > 3 * sum(grey) / len(grey)


@on_one
def test_threads_are_bound_if_that_is_asked_for(mpi: Launcher, build: Path) -> None:
    done = run(mpi, build, 1, ["--bodies", "100", "--steps", "1", "--bind"])
    if "built without hwloc" in done.stderr + done.stdout:
        pytest.skip("nbody is built without hwloc (as root: apt-get install libhwloc-dev)")
    assert re.search(r"the first rank's threads bound to the cores \d+, NUMA node \d+\n", output(done))
    text = output(run(mpi, build, 1, ["--bodies", "100", "--steps", "1", "--bind", "--threads", "4000"]))
    assert re.search(r"threads not bound: 1 rank of this node with 4000 each, and this one may use \d+ core", text)


def oracle(script: Path, *words: str | Path) -> str:
    python = ROOT / ".cache" / "astronomy" / "bin" / "python"
    if not python.is_file():
        pytest.skip("the software to compare with is not there; run: make setup")
    done = subprocess.run(
        [str(python), str(script), *(str(word) for word in words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def largest_difference(a: list[list[float]], b: list[list[float]]) -> float:
    return max(abs(x - y) for row, other in zip(a, b, strict=True) for x, y in zip(row, other, strict=True))


@on_one
@pytest.mark.parametrize(
    ("ours", "theirs", "steps", "tolerance"),
    [
        # From rest, one step of either is the acceleration.
        (["--integrator", "euler", "--dt", "1"], ["leapfrog", "1"], 1, 1e-13),
        (["--integrator", "yoshida6", "--dt", "0.005"], ["ias15", "0.005"], 200, 1e-9),
    ],
)
def test_rebound_finds_the_same(
    mpi: Launcher, build: Path, ours: list[str], theirs: list[str], steps: int, tolerance: float, tmp_path: Path
) -> None:
    start, end = tmp_path / "start.csv", tmp_path / "end.csv"
    output(run(mpi, build, 1, ["--model", "sphere", "--bodies", "200", "--steps", "0", "--output", start]))
    rows = bodies_of(start)
    start.write_text(HEADER + "".join(",".join(repr(value) for value in row) + "\n" for row in rows))
    words = ["--input", start, "--eps", "0.1", *ours, "--steps", str(steps), "--output", end]
    output(run(mpi, build, 2, words))
    integrator, dt = theirs
    text = oracle(ROOT / "tests/apps/oracles/nbody_rebound.py", start, "0.1", integrator, dt, str(steps))
    right = [[float(field) for field in line.split(",")] for line in text.splitlines()]
    velocities = [row[4:] for row in right]
    assert max(abs(value) for row in velocities for value in row) > 0.1
    assert largest_difference([row[4:] for row in bodies_of(end)], velocities) < tolerance


PLANETS = ("mercury", "venus", "earth", "moon", "mars", "jupiter", "saturn", "uranus", "neptune", "pluto")
SOLAR_SYSTEM = ROOT / "apps" / "nbody" / "data" / "solar_system.csv"

#: Sidereal periods in days: D. R. Williams, NASA Space Science Data Coordinated Archive, Planetary Fact Sheet.
PERIODS = {
    "mercury": 87.969,
    "venus": 224.701,
    "mars": 686.980,
    "jupiter": 4332.589,
    "saturn": 10759.22,
    "uranus": 30685.4,
    "neptune": 60189.0,
}


def days_of(path: Path) -> float:
    return float(path.read_text().splitlines()[0].split("times in ")[1].split()[0])


def test_the_planets_of_the_file_have_their_periods() -> None:
    """Kepler's third law from one moment's places and velocities; others move the outer ones by a hundredth."""
    sun, *others = bodies_of(SOLAR_SYSTEM)
    for name, body in zip(PLANETS, others, strict=True):
        if name not in PERIODS:
            continue
        place = [a - b for a, b in zip(body[1:4], sun[1:4], strict=True)]
        velocity = [a - b for a, b in zip(body[4:], sun[4:], strict=True)]
        mass = body[0] + sun[0]
        semi_major_axis = 1 / (2 / math.hypot(*place) - math.hypot(*velocity) ** 2 / mass)
        period = 2 * math.pi * math.sqrt(semi_major_axis**3 / mass) * days_of(SOLAR_SYSTEM)
        assert period == pytest.approx(PERIODS[name], rel=1e-3 if PERIODS[name] < 1000 else 0.02), name


def test_the_file_of_the_solar_system_is_what_its_tool_writes() -> None:
    assert oracle(ROOT / "tools/solar_system.py") == SOLAR_SYSTEM.read_text()


@on_one
def test_300_days_take_the_planets_where_the_ephemeris_has_them(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    """Without relativity and asteroids; the moon, whose earth is a point here, is the least exact."""
    days, later = 300.0, tmp_path / "later.csv"
    steps = 1200
    dt = days / days_of(SOLAR_SYSTEM) / steps
    way = ["--eps", "0", "--integrator", "yoshida6", "--dt", repr(dt), "--steps", str(steps)]
    text = output(run(mpi, build, 2, ["--input", SOLAR_SYSTEM, *way, "--scheme", "replicated", "--output", later]))
    (changes,) = re.findall(r"changes: energy (\S+), momentum (\S+), angular momentum (\S+)", text)
    assert all(float(change.rstrip(",")) < 1e-12 for change in changes)
    moved, still = bodies_of(later), bodies_of(SOLAR_SYSTEM)
    right = tmp_path / "right.csv"
    right.write_text(oracle(ROOT / "tools/solar_system.py", str(2451545.0 + days)))
    for name, body, then, expected in zip(("sun", *PLANETS), moved, still, bodies_of(right), strict=True):
        off = math.dist(body[1:4], expected[1:4])
        assert off < (3e-5 if name == "moon" else 3e-6), f"{name} is off by {off} astronomical units"
        if name != "sun":
            assert math.dist(then[1:4], expected[1:4]) > 0.01


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
        ("", ["--trace", "{file}", "--output", "{file}"], "--trace: '{file}' is another option's file too"),
        ("", ["--trace", "{file}", "--steps", "0"], "--trace: without a step there is nothing to trace"),
        ("", ["--pretend"], "unknown option '--pretend'"),
        ("", ["--every", "3"], "--every says when to write, but not where; add --output FILE or --film FILE"),
        ("", ["--film", "x.gif"], "--film needs to know how often; add --every N"),
        ("", ["--film", "x", "--output", "x", "--every", "1"], "--output and --film name the same file; name two"),
        ("", ["--film", "/no/such/folder/x", "--every", "1"], "cannot write '/no/such/folder/x': No such file"),
        ("\0\1\0\0GADG", ["--input", "{file}"], "{file}: ends within the header; it was not copied or written whole"),
        ("", ["--output", "/no/such/folder/x"], "cannot write '/no/such/folder/x': No such file or directory"),
        ("", ["--model", "kepler", "--bodies", "9"], "--bodies: the model kepler has 2 bodies"),
        ("", ["--restart", "{file}", "--input", "{file}"], "--input and --restart are both given; write one of them"),
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
    assert (fused, added) == (15, 11)
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
        assert (record["share_of_port_bound"] is None) == ("autovectorised" in record["case"])


@on_two
def test_help_names_schemes_kernels_and_examples(mpi: Launcher, build: Path) -> None:
    done = run(mpi, build, 2, ["--help"])
    assert done.returncode == 0
    assert done.stdout.count("Usage: nbody [OPTION]...") == 1
    for name in (*SCHEMES, "simd", "reduced", "leapfrog", "plummer"):
        assert f"\n      {name}: " in done.stdout
    assert "mpiexec -n 2 nbody --restart stars.csv" in done.stdout
    assert "--turns" not in done.stdout


@on_one
def test_progress_tells_the_rate(mpi: Launcher, build: Path) -> None:
    shown = run(mpi, build, 2, ["--bodies", "64", "--steps", "3", "--progress"])
    assert "\rnbody: timesteps: 0 of 3" in (shown.stdout + shown.stderr).replace("\n", "\r")
