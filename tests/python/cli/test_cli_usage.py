"""Help and mistakes on the command line: what is refused, with which code, and what the message says to write."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from scripted import fake_mpi

from wherry import paths
from wherry.cli import commands
from wherry.errors import WherryError
from wherry.measure import harness
from wherry.run import mpis

if TYPE_CHECKING:
    from command_line import Invoke

pytest_plugins = ["commanding"]


@pytest.mark.parametrize("command", commands.COMMANDS)
def test_every_command_has_help_with_an_example(wherry: Invoke, command: str) -> None:
    answer = wherry(command, "--help")
    assert answer.code == 0
    assert "Examples:" in answer.out
    assert f"wherry {command}" in answer.out


def test_help_names_the_commands(wherry: Invoke) -> None:
    answer = wherry("--help")
    assert answer.code == 0
    for command in ("run", "info", "explain", "draw", "bench", "report"):
        assert command in answer.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rnu"], "unknown command 'rnu'"),
        (["rnu"], "did you mean 'run'?"),
        (["run"], "write for example: wherry run -- mpiexec"),
        (["run", "--", "./no such app"], "program './no such app' not found"),
        (["run", "--repot", "out", "--", "true"], "no such option '--repot'"),
        (["explain", "altoall", "-n", "4", "-m", "8"], "did you mean 'alltoall'?"),
        (["explain", "alltoall", "-n", "0", "-m", "8"], "-n"),
        (["explain", "alltoall", "-n", "4", "-m", "1K"], "'1K' is not a valid number of bytes"),
        (["explain", "alltoall", "-n", "4"], "wherry: missing option '-m' (see `wherry explain --help`)"),
        (["explain", "alltoall", "-n", "4", "-m", "8", "--nodes", "9"], "more than the 4 ranks"),
        (["explain", "alltoall", "-n", "4", "-m", "8", "--node-of", "0,1"], "names 2 nodes for 4 ranks"),
        (["explain", "alltoall", "-n", "2", "-m", "8", "--node-of", "0,x"], "no list of node numbers"),
        (["explain", "alltoall", "-n", "2", "-m", "8", "--node-of", "0,1", "--nodes", "2"], "give one of them"),
        (["explain", "bcast", "-n", "4", "-m", "8", "--root", "-1"], "--root"),
        (["draw", "mehs", "-n", "4"], "wherry: unknown name; did you mean 'mesh'?"),
        (["draw", "-n", "4"], "missing argument '[OPERATION] STRATEGY'"),
        (["draw", "bcast", "chain", "-n", "4", "--depth", "0"], "--depth"),
        (["draw", "mesh", "-n", "129"], "129 is not in the range 1<=x<=128"),
        (["tune", "--hosts", "2"], "--hosts is a number of emulated hosts; give --netlab too"),
        (["bench"], "--list"),
        (["bench", "prelod"], "did you mean 'preload'?"),
        (["bench", "alltoall", "--mpi", "opnmpi"], "unknown MPI 'opnmpi'"),
        (["bench", "alltoall", "--sizes", "1,x"], "write numbers with commas"),
        (["bench", "alltoall", "--strategies", "wherry,brucks"], "unknown strategy 'brucks'"),
        (["bench", "alltoall", "--strategies", "nbx"], "unknown strategy 'nbx' (have: wherry, native, direct"),
        (["bench", "sparse", "--strategies", "wherry"], "unknown strategy 'wherry' (have: auto, nbx, census, native"),
        (["bench", "sparse", "--strategies", "ring"], "unknown strategy 'ring'"),
        (["bench", "verify", "--netlab"], "benchmark 'verify' does not use --netlab; leave it out (it takes"),
        (["bench", "verify", "--plot", "a.svg"], "does not use --plot"),
        (["bench", "alltoall", "--hosts", "2"], "give --netlab too"),
        (["bench", "alltoall", "--json", "/no/such/folder/a.json"], "cannot write"),
        (["report", "/no/such/folder"], "is not a directory"),
        (["info", "--jsn"], "--json"),
    ],
)
def test_wrong_usage_is_2_and_says_what_to_write(wherry: Invoke, words: list[str], message: str) -> None:
    answer = wherry(*words)
    assert answer.code == 2
    assert message in " ".join(answer.err.split())
    assert answer.out == ""


def test_bench_compares_algorithms_of_sparse_exchanges(
    wherry: Invoke, prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = prefix / "libexec/wherry/fake/bench_sparse"
    program.parent.mkdir(parents=True)
    program.touch()
    asked: list[str] = []

    def run(place: harness.Testbed, ranks: int, args: Sequence[str], env: Mapping[str, str]) -> str:
        asked.append(args[args.index("--algorithms") + 1])
        rows = [{"case": "degree 1, 64 B", "variant": v, "unit": "s", "samples": [1e-6]} for v in ("library", "nbx")]
        return "\n".join(map(json.dumps, rows))

    monkeypatch.setattr(mpis, "find_mpis", lambda: [fake_mpi()])
    monkeypatch.setattr(harness.Testbed, "run", run)
    answer = wherry("bench", "sparse", "--launches", "1", "--strategies", "nbx,census,native,mesh")
    assert answer.code == 0, answer.err
    assert asked == ["nbx,census,native,mesh"]
    assert "degree 1, 64 B, nbx" in answer.out


def test_not_built_is_1_and_says_how_to_build(wherry: Invoke, prefix: Path) -> None:
    (prefix / "bin/wherry-plan").unlink()
    answer = wherry("draw", "mesh", "-n", "4")
    assert answer.code == 1
    assert "run `make " in answer.err


def test_a_benchmark_that_is_not_built_says_how_to_build_it(prefix: Path) -> None:
    with pytest.raises(WherryError, match="a benchmark or an application, which is not built here; run `make all`"):
        paths.built(paths.bench_program("openmpi", "alltoall"))
