"""Applications on simulated machines: they check their results themselves; their times are exact."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Invoke

from wherry import paths
from wherry.errors import UsageError, WherryError
from wherry.simulate import application, smpi

pytest_plugins = ["simulator"]

LIMIT_S = 120.0

#: Simulated seconds on 8 ranks by application, platform, case and what was timed: plain MPI and Wherry.
TIMES = {
    ("radix_sort", "gigabit", "2048 B", "counts"): (0.00011628800000001993, 0.00011628800000001993),
    ("radix_sort", "gigabit", "2048 B", "keys"): (0.0002140301348918655, 0.0002140301348918655),
    ("radix_sort", "gigabit", "2048 B", "whole sort"): (0.007130461660910664, 0.007130461660910664),
    ("radix_sort", "lemieux", "2048 B", "counts"): (2.1170666666688043e-05, 2.1049333333349185e-05),
    ("radix_sort", "lemieux", "2048 B", "keys"): (0.00012558394625091993, 0.00012558394625091993),
    ("radix_sort", "lemieux", "2048 B", "whole sort"): (0.0027157702295873415, 0.002672292896253786),
    ("pme", "gigabit", "8 x 6 x 110", "x slabs to y slabs"): (0.00013525847622724955, 0.0001352584762272513),
    ("pme", "gigabit", "8 x 6 x 110", "y slabs to x slabs"): (0.00013308935597986307, 0.00013308935597986654),
    ("pme", "gigabit", "8 x 6 x 110", "whole step"): (0.00048485983220712594, 0.000484859832207132),
    ("pme", "lemieux", "8 x 6 x 110", "x slabs to y slabs"): (4.989806053281795e-05, 4.989806053281795e-05),
    ("pme", "lemieux", "8 x 6 x 110", "y slabs to x slabs"): (4.8172432785994514e-05, 4.8172432785994514e-05),
    ("pme", "lemieux", "8 x 6 x 110", "whole step"): (0.0001326184933188165, 0.0001326184933188165),
}


def simulated(name: str, platform: str, ranks: int, sizes: tuple[int, ...] = ()) -> application.ApplicationOutcome:
    if why := application.why_missing(name):
        pytest.skip(why)
    return application.run(application.request(name, platform, ranks, None, sizes, LIMIT_S))


def times(outcome: application.ApplicationOutcome) -> dict[tuple[str, str], tuple[float, float]]:
    return {(row["case"], row["metric"]): (row["baseline"], row["value"]) for row in outcome.records}


#: Of applications that read remote memory, on 4 ranks: simulated seconds of plain MPI, the block cache, and Wherry.
READING_TIMES = {
    ("lcc", 7, "gigabit"): (0.010444114666666619, 0.0005148586666666784, 0.0005148586666666784),
    ("lcc", 7, "lemieux"): (0.0029948160000001314, 4.438400000000538e-05, 4.1668000000004684e-05),
    ("barnes_hut", 600, "gigabit"): (0.004991740370454187, 0.0008396763808493184, 0.0008217164253968307),
    ("barnes_hut", 600, "lemieux"): (0.0013586079999999843, 0.00011317600000000541, 0.00010476400000001239),
}
#: Gets, and how many of them went out through each.
READ = {"lcc": (2774, 38, 36), "barnes_hut": (1275, 101, 86)}


@pytest.mark.parametrize("platform", ["gigabit", "lemieux"])
@pytest.mark.parametrize(("name", "sizes"), [("radix_sort", (2048,)), ("pme", ())])
def test_times_are_exact(simgrid: None, name: str, platform: str, sizes: tuple[int, ...]) -> None:
    outcome = simulated(name, platform, 8, sizes)
    assert "checked: " in outcome.text
    expected = {key[2:]: seconds for key, seconds in TIMES.items() if key[:2] == (name, platform)}
    assert times(outcome) == {key: pytest.approx(seconds, rel=1e-9) for key, seconds in expected.items()}


@pytest.mark.parametrize(("name", "size", "platform"), READING_TIMES)
def test_times_of_reading_are_exact(simgrid: None, name: str, size: int, platform: str) -> None:
    """Nothing but messages takes time: hits take none."""
    outcome = simulated(name, platform, 4, (size,))
    assert "checked: " in outcome.text
    blocks, fixed, adaptive = outcome.records
    assert [row["strategies"] for row in outcome.records] == [["block cache"], ["Wherry, fixed"], ["Wherry, adaptive"]]
    assert (blocks["baseline"], blocks["value"], fixed["value"]) == pytest.approx(
        READING_TIMES[name, size, platform], rel=1e-9
    )
    # Memory is ample, so nothing has to be adapted.
    assert adaptive["value"] == pytest.approx(fixed["value"], rel=1e-9)
    assert (blocks["gets"], blocks["moves"], fixed["moves"]) == READ[name]


def test_forces_that_take_no_time_have_no_speed(simgrid: None) -> None:
    """One rank sends nothing, and computing takes no simulated time."""
    text = simulated("barnes_hut", "gigabit", 1, (300,)).text
    assert "plain MPI: forces took no time with kernel " in text
    assert "inf" not in text


def test_strategies_are_those_of_the_environment(simgrid: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for collective in ("ALLTOALL", "ALLTOALLV"):
        monkeypatch.setenv(f"WHERRY_{collective}", "mesh")
    rows = simulated("radix_sort", "gigabit", 8, (512,)).records
    assert {row["metric"]: row["strategies"] for row in rows if row["message_bytes"]} == {
        "counts": ["mesh"],
        "keys": ["mesh"],
    }


def test_keys_take_at_least_their_bytes(simgrid: None) -> None:
    """An adapter of 125 MB/s that sends seven blocks of 8 KiB needs half a millisecond, whoever sends them."""
    outcome = simulated("radix_sort", "gigabit", 8, (8192,))
    for seconds in times(outcome)[("8192 B", "keys")]:
        assert 7 * 8192 / 125e6 < seconds < 10e-3
    (row,) = (row for row in outcome.records if row["metric"] == "keys")
    assert row["ranks"] == 8
    assert row["bench"] == "simulate radix_sort"
    assert row["network"].startswith("gigabit: ")


def test_wherry_learns_there(simgrid: None) -> None:
    """Small blocks on 16 ranks: combining saves messages, and the simulated clock has no noise."""
    plain, ours = times(simulated("radix_sort", "gigabit", 16, (512,)))[("512 B", "counts")]
    assert ours < 0.8 * plain


def test_the_command(simgrid: None, simulation: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    done = simulation("radix_sort", "--platform", "gigabit", "-n", "2,4", "--sizes", "512", "--json", file)
    assert done.code == 0, done.err
    assert done.out.count("radix sort of 64-bit keys") == 2
    assert [row["ranks"] for row in json.loads(file.read_text())] == [2, 2, 2, 4, 4, 4]


def test_the_case_that_takes_too_long_is_named(simgrid: None, simulation: Invoke) -> None:
    words = ("--platform", "gigabit", "-n", "16", "--sizes", "1024", "--strategies", "ring", "--limit", "0.05")
    done = simulation("nbody", *words)
    assert done.code == 1
    case = "nbody --bodies 1024 --scheme ring --steps 64 on 16 ranks of gigabit"
    assert f"{case}: stopped after 0.05 s of computing; --limit allows more" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["pme", "--sizes", "900"], "leave out --sizes"),
        (["lcc", "--sizes", "6,7"], "lcc takes one size, its scale; simulate it once for each"),
        (["barnes_hut", "--sizes", "0"], "--sizes: '0' is not a whole number from 1"),
        (["nbody", "--strategies", "rings"], "--strategies: 'rings' is none of auto"),
        (["radix_sort", "--strategies", "mesh"], "leave out --strategies"),
        (["radix_sort", "--plot", "x.svg"], "--plot"),
        (["radix_sort", "--sizes", "12"], "12 bytes are no whole number of keys"),
        (["radix_short"], "did you mean 'radix_sort'"),
    ],
)
def test_wrong_usage_says_what_to_write(simgrid: None, simulation: Invoke, words: list[str], said: str) -> None:
    done = simulation(*words, "--platform", "gigabit", "-n", "4")
    assert done.code == 2
    assert said in done.err


def test_without_its_program_the_message_says_how_to_get_it(
    build: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    packages = {one.name: one.needs for one in application.APPLICATIONS}
    assert packages == {
        "radix_sort": "libsimgrid-dev",
        "pme": "libfftw3-dev",
        "lcc": "libsimgrid-dev",
        "barnes_hut": "libhwy-dev",
        "nbody": "libhwy-dev",
    }
    found = {"collective": tmp_path, "pme": tmp_path / "pme"}
    monkeypatch.setattr(smpi, "_smpimain", lambda: "/bin/true")
    monkeypatch.setattr(paths, "simulation_program", lambda name: found[name])
    with pytest.raises(WherryError, match="apt-get install libfftw3-dev"):
        application.request("pme", "gigabit", 4, None, None, LIMIT_S)
    with pytest.raises(UsageError, match="follow from its grid"):
        application.request("pme", "gigabit", 4, None, (900,), LIMIT_S)
