"""The parts of the study of caches: what they launch, how they validate, tabulate and draw. Nothing is measured."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from scripted import fake_mpi, texts_of

from wherry import paths, study
from wherry.errors import UsageError, WherryError
from wherry.measure.harness import Setup
from wherry.measure.record import Measurement
from wherry.simulate import application, smpi
from wherry.study import applications
from wherry.study.cache import eviction, node, replay, scaling, sizes
from wherry.study.cache.programs import ADAPTIVE, BLOCKS, FIXED, VARIANTS
from wherry.study.parts import measured


def launch_row(variant: str, seconds: Sequence[float], hits: int) -> Measurement:
    """As the applications write them."""
    samples = [{"launch": 0, "native": [4.0, 8.0, 4.0], "wherry": list(seconds)}]
    return Measurement.from_json({
        "bench": "lcc", "case": "x", "metric": "counting", "unit": "s", "value": 0, "baseline": 0, "ratio": 0,
        "mpi": "Some MPI", "ranks": 2, "machine": "host", "version": "1", "statistic": "", "samples": samples,
        "strategies": [variant], "gets": 100, "hits": hits, "moves": 100 - hits,
    })  # fmt: skip


def test_launches_are_joined_by_the_least_median() -> None:
    slow, fast = launch_row(FIXED, [9.0, 9.0, 1.0], 50), launch_row(FIXED, [2.0, 2.0, 7.0], 50)
    (row,) = applications.joined([[slow], [fast]], "a network")
    assert (row["value"], row["baseline"], row["ratio"]) == (2.0, 4.0, 2.0)
    assert [sample["launch"] for sample in row["samples"]] == [0, 1]
    assert (row["network"], row["hits"]) == ("a network", 50)


class Launches:
    """Stands in for the applications: adaptive caches hit as asked, others half of the time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, adaptive_hits: int = 96) -> None:
        self.hits = {BLOCKS: 60, FIXED: 50, ADAPTIVE: adaptive_hits}
        self.asked: list[tuple[int, str, list[str]]] = []
        monkeypatch.setattr(applications, "launched", self.launched)
        monkeypatch.setattr(replay, "ask", self.ask)

    def launched(self, place: object, ranks: int, name: str, words: Sequence[str]) -> list[Measurement]:
        self.asked.append((ranks, name, list(words)))
        if "--trace" in words:
            Path(words[list(words).index("--trace") + 1]).write_text("1 0 8 2.000\n1 8 16 4.000\n")
        size = 1 if "4096" in words else 0  # more hits with more memory, whatever else
        return [launch_row(variant, [2.0] * 3, self.hits[variant] + size) for variant in VARIANTS]

    def ask(self, words: Sequence[str]) -> list[dict[str, Any]]:
        if "--shares" in words:
            share = {"references": 200, "bytes": 10, "working_set": 100, "hits": 100, "lru": 80, "constant": 104.0}
            return [share | {"share": s, "foresight": 150.0} for s in eviction.VALIDATED]
        storages, entries = (words[list(words).index(name) + 1].split(",") for name in ("--storages", "--entries"))
        ends = dict.fromkeys(("evictions", "conflicts", "refused", "adjustments"), 0)
        ends |= dict.fromkeys(("storage_bytes_at_end", "entries_at_end", "index_slots_at_end", "bytes_at_end"), 1)
        return [
            {"storage_bytes": int(s) << 10, "index_entries": int(e), "adaptive": a, "references": 100, "hits": h} | ends
            for s in storages
            for e in entries
            for a, h in ((False, 50), (True, 80))
        ]


def quick() -> Setup:
    return Setup(mpi=fake_mpi(), quick=True)


def once() -> Setup:
    return Setup(mpi=fake_mpi(), launches=1)


def test_sizes_are_validated_by_the_best_fixed_one(monkeypatch: pytest.MonkeyPatch) -> None:
    launches = Launches(monkeypatch)
    rows = sizes.measure(once())
    assert {row["workload"] for row in rows} == {sizes.MICRO, "lcc", "barnes_hut"}
    assert {row["reached"] for row in rows if row["variant"] == ADAPTIVE} == {True}
    assert {row["reached"] for row in rows if row["variant"] != ADAPTIVE} == {None}
    starts = {tuple(words[words.index("--cache-kib") :][:4]) for _, _, words in launches.asked}
    assert starts == {("--cache-kib", str(k), "--entries", str(e)) for k in sizes.STORAGES_KIB for e in sizes.ENTRIES}
    launches.hits[ADAPTIVE] = 47
    lost = [row["reached"] for row in sizes.measure(once()) if row["variant"] == ADAPTIVE and row["unit"] == "s"]
    assert lost == [False] * 24
    table = sizes.tabulate(rows)
    assert table.rows[0] == (sizes.MICRO, "64 KiB", "64", "50.0", "80.0", "", "", "", "", "", "yes")
    assert table.rows[12] == ("lcc", "64 KiB", "64", "50.0", "96.0", "60.0", "4 s", "2 s", "2 s", "2 s", "yes")
    words = texts_of(sizes.draw(rows))
    assert {"64 KiB", "1 MiB", "lcc", BLOCKS, f"{ADAPTIVE}, 64 entries"} <= set(words)


def test_without_its_program_a_part_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(paths, "application", lambda mpi, name: tmp_path / name)
    launched = [part for part in study.find("cache").parts if part.name in {"sizes", "strong", "weak", "node"}]
    assert len(launched) == 4
    for part in launched:
        assert part.why_not(quick()) == "barnes_hut is not built; as root: apt-get install libhwy-dev, then: make all"
    (tmp_path / "barnes_hut").touch()
    assert [part.why_not(quick()) for part in launched] == [""] * 4


def test_eviction_is_validated_at_three_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    launches = Launches(monkeypatch)
    rows = eviction.measure(once())
    assert [row["share"] for row in rows] == [*eviction.VALIDATED] * 4
    assert [row["trace"].endswith("scored") for row in rows[::3]] == [False, False, True, False]
    assert {(row["value"], row["lru"], row["constant"], row["reached"]) for row in rows} == {(50.0, 40.0, 52.0, True)}
    assert [name for _, name, _ in launches.asked] == ["lcc"]
    worse = eviction._row(
        eviction.Source("z", ()),
        {"share": 10, "references": 100, "bytes": 1, "working_set": 10, "hits": 40, "lru": 39, "constant": 46,
         "foresight": 60},
        validated=True,
    )  # fmt: skip
    assert worse["reached"] is False
    assert eviction.tabulate(rows).rows[0] == ("Zipf 0.8", "5", "50.0", "40.0", "52.0", "75.0", "yes")
    assert {"LRU", "Zipf 0.8", "memory, % of the working set"} <= set(texts_of(eviction.draw(rows)))


def test_a_quick_run_has_no_goal(monkeypatch: pytest.MonkeyPatch) -> None:
    launches = Launches(monkeypatch, adaptive_hits=47)
    for part in (sizes, eviction):
        rows = part.measure(quick())
        assert {(row["goal"], row["reached"]) for row in rows} == {("", None)}
        assert {row[-1] for row in part.tabulate(rows).rows} == {"not validated (quick)"}
    starts = {tuple(words[words.index("--cache-kib") :][:4]) for _, _, words in launches.asked if "--entries" in words}
    assert starts == {("--cache-kib", k, "--entries", e) for k in ("64", "1024") for e in ("64", "1024")}


def test_problems_stay_or_grow_with_the_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    launches = Launches(monkeypatch)
    rows = scaling.measure_strong(Setup(mpi=fake_mpi(), ranks=8, launches=2))
    assert len(launches.asked) == 2 * 2 * 3
    sizes_of = {(ranks, name): words[1] for ranks, name, words in launches.asked}
    assert {key[1]: value for key, value in sizes_of.items()} == {"lcc": "13", "barnes_hut": "20000"}
    assert len(set(sizes_of.values())) == 2
    assert scaling.tabulate(rows).rows[0] == (
        "lcc", "2", "13", "4 s", "2 s", "2 s", "2 s", "2.00", "60.0", "96.0",
    )  # fmt: skip
    launches.asked.clear()
    scaling.measure_weak(Setup(mpi=fake_mpi(), ranks=4, launches=1))
    grown = {(ranks, name): words[1] for ranks, name, words in launches.asked}
    assert grown == {(2, "lcc"): "11", (4, "lcc"): "12", (2, "barnes_hut"): "16384", (4, "barnes_hut"): "32768"}
    assert {"lcc; shared memory", "ranks", "plain MPI"} <= set(texts_of(scaling.draw(rows)))


def test_plain_gets_are_simulated_on_few_ranks_only(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def launch(machine: smpi.Machine, name: str, words: Sequence[str], *_: Any) -> subprocess.CompletedProcess[str]:
        asked.append([name, str(machine.ranks), *words])
        rows = [launch_row(variant, [2.0], 50) | {"value": 2.0} for variant in (BLOCKS, FIXED, ADAPTIVE)]
        alone = {"baseline": None, "ratio": None} if "--no-plain" in words else {"baseline": 4.0, "ratio": 2.0}
        Path(words[words.index("--json") + 1]).write_text(json.dumps([(row | alone).to_json() for row in rows]))
        return subprocess.CompletedProcess([], 0, "", "")

    monkeypatch.setattr(smpi, "launch", launch)
    monkeypatch.setattr(application, "why_missing", lambda name: "")
    rows = scaling.measure_simulated(Setup())
    assert [words[1] for words in asked if words[0] == "lcc"] == ["16", "32", "64", "128"]
    assert {words[1] for words in asked if "--no-plain" not in words} == {"16"}
    bodies = {words[1]: words[words.index("--bodies") + 1] for words in asked if words[0] == "barnes_hut"}
    assert bodies == {"16": "131072", "32": "262144", "64": "524288", "128": "1048576"}
    table = scaling.tabulate(rows).rows
    assert table[0] == ("lcc", "16", "12", "4 s", "2 s", "2 s", "2 s", "2.00", "50.0", "50.0")
    assert table[1] == ("lcc", "32", "13", "", "2 s", "2 s", "2 s", "", "50.0", "50.0")
    assert {"16", "32", "64", "128", "plain MPI"} <= set(texts_of(scaling.draw(rows)))


def test_too_few_ranks_for_a_part_are_told() -> None:
    for name, fewest, quick in (
        ("sizes", 2, 2),
        ("strong", 2, 2),
        ("weak", 2, 2),
        ("node", 4, 4),
        ("simulated", 16, 4),
    ):
        (part,) = study.find("cache").find((name,))
        for setup in (Setup(ranks=fewest), Setup(ranks=quick, quick=True), Setup()):
            assert part.why_too_few(setup) == ""
        said = f"cannot answer '{name}': -n 1 is below its fewest ranks; write -n {fewest} or more, or leave it out"
        with pytest.raises(UsageError, match=said):
            measured(study.find("cache"), part, Setup(mpi=fake_mpi(), ranks=1))
        assert f"write -n {quick} or more" in part.why_too_few(Setup(ranks=1, quick=True))


def test_ranks_of_a_node_share_or_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    launches = Launches(monkeypatch)
    rows = node.measure(Setup(mpi=fake_mpi(), ranks=8, launches=2))
    assert [(row["workload"], row["ranks"], row["caches"]) for row in rows[:4]] == [
        ("lcc", 4, node.OWN), ("lcc", 4, node.SHARED), ("lcc", 8, node.OWN), ("lcc", 8, node.SHARED),
    ]  # fmt: skip
    assert {row["strategies"][0] for row in rows} == {ADAPTIVE}
    sharing = ["--node-kib" in words for _, _, words in launches.asked]
    assert sharing == [False, True] * 8
    assert node.tabulate(rows).rows[0] == ("lcc", "4", "4 s", "2 s", "2 s", "1.00", "4", "4")
    assert {"lcc; shared memory", node.OWN, node.SHARED, "plain MPI"} <= set(texts_of(node.draw(rows)))


def test_what_the_replay_says_is_wrong_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "replay"
    program.write_text("#!/bin/sh\necho 'bench_cache_replay: no gets' >&2\nexit 2\n")
    program.chmod(0o755)
    monkeypatch.setattr(replay.paths, "replay_program", lambda: program)
    with pytest.raises(WherryError, match="bench_cache_replay: no gets"):
        replay.ask(["--shares", "5"])
