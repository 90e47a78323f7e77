"""The application on simulated Gigabit nodes: times beside the model's, and beside what computing and wire allow.

Computing takes so many pairs a second (PAIRS_PER_S) and is not done, so that times are exact. Plain MPI's exchanges are
SMPI's, by the rules of Open MPI; only of `overlapped` they are Wherry's, because SMPI's own non-blocking allreduce
sends everything to everybody, as no library does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from wherry import figures
from wherry.bench.frame import Setup
from wherry.simulate import application, platforms, smpi
from wherry.study import nbody_runs as runs
from wherry.study.frame import Part, Record, Table, record
from wherry.study.nbody_schemes import SCHEMES as SCHEME_NAMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLATFORM = "gigabit"
#: A core with AVX-512, about as `nbody_kernels` measures it.
PAIRS_PER_S = 1.5e9
#: The platform's wire, and the time of a short message: two links and the overhead at both ends.
BYTES_PER_S, MESSAGE_S = 125e6, 48e-6
LIMIT_S = 600.0
STEPS = "4"  # ranks come out of step in the first of them
CORES = 4  # of a node, where threads and ranks share it
AUTO = "auto"
#: Nodes on which Wherry's plans are simulated: all ranks look after them every microsecond, which takes minutes.
MOST_OVERLAPPING = 16


def why_not(setup: Setup) -> str:
    return application.why_missing("nbody")


def machine(ranks: int, per_node: int) -> smpi.Machine:
    return smpi.Machine(platforms.find(PLATFORM), ranks, per_node)


def schemes(setup: Setup) -> list[Record]:
    nodes = (4,) if setup.quick else (16, 32, 64)
    bodies = (1024,) if setup.quick else (4096, 16384, 65536)
    names = (*SCHEME_NAMES, AUTO)
    cases = [(machine(count, 1), n, name, 1) for count in nodes for n in bodies for name in names]
    return _measure(setup, [case for case in cases if case[2] != "overlapped" or case[0].nodes <= MOST_OVERLAPPING])


def hybrid(setup: Setup) -> list[Record]:
    """As many cores in all, with 1, 2 and 4 ranks on a node."""
    nodes, bodies = (4, (1024,)) if setup.quick else (16, (4096, 16384, 65536))
    names = ("replicated", "allgather", "ring", "grid")
    return _measure(
        setup,
        [
            (machine(nodes * each, each), n, name, CORES // each)
            for n in bodies
            for each in (1, 2, CORES)
            for name in names
        ],
    )


def _measure(setup: Setup, cases: Sequence[tuple[smpi.Machine, int, str, int]]) -> list[Record]:
    rows = []
    for number, (where, bodies, scheme, threads) in enumerate(cases):
        setup.progress(f"{where.ranks} ranks, {bodies} bodies, {scheme}", number, len(cases))
        rows.append(simulated(where, bodies, scheme, threads))
    return rows


def simulated(where: smpi.Machine, bodies: int, scheme: str, threads: int = 1) -> Record:
    """A timestep. threads: of a rank, that share its pairs without loss."""
    rate = PAIRS_PER_S * threads
    side = "wherry" if scheme == "overlapped" else "native"
    (row, *_) = application.run(
        application.Request("nbody", where, (_words(bodies, scheme, rate, side),), LIMIT_S)
    ).records
    ran = str(row["case"]).partition(", ")[2]
    costs = {name: float(row[name]) for name in runs.COSTS}
    return record(
        case=f"{bodies} bodies, {scheme}, {where.nodes} nodes of {where.per_node} ranks of {threads} threads",
        metric="timestep",
        unit="s",
        value=row["mean_step_s"],
        mpi=row["mpi"],
        ranks=where.ranks,
        network=row["network"],
        statistic=f"mean of {STEPS} simulated steps; exact",
        samples=row["samples"],
        nodes=where.nodes,
        per_node=where.per_node,
        threads=threads,
        bodies=bodies,
        scheme=scheme,
        ran=ran,
        expected_s=expected_s(costs, rate),
        bound_s=bound_s(costs, rate, where.per_node),
        **costs,
    )


def _words(bodies: int, scheme: str, pairs_per_s: float, side: str) -> tuple[str, ...]:
    computing = ("--pretend", "--pairs-per-s", f"{pairs_per_s:g}")
    with_side = ("--with", "wherry" if side == "wherry" else "mpi")
    return ("--bodies", str(bodies), "--scheme", scheme, "--steps", STEPS, *computing, *with_side)


def expected_s(costs: dict[str, float], pairs_per_s: float) -> float:
    """The model of `--scheme auto` with the platform's own figures (apps/nbody/automatic.cpp)."""
    hidden_s = costs["sent_while_computing_bytes"] / BYTES_PER_S
    computing_s = max(costs["pairs"] / pairs_per_s, hidden_s)
    return computing_s + costs["sent_bytes"] / BYTES_PER_S + costs["messages"] * MESSAGE_S


def bound_s(costs: dict[str, float], pairs_per_s: float, per_node: int) -> float:
    """Either computing, or the wire of a node that carries what its ranks send."""
    sent = costs["sent_bytes"] + costs["sent_while_computing_bytes"]
    return max(costs["pairs"] / pairs_per_s, sent / BYTES_PER_S if per_node == 1 else 0.0)


def tabulate_schemes(records: Sequence[Record]) -> Table:
    head = ("nodes", "bodies", "best scheme", "timesteps/s", "of max(compute, wire)", "model", "auto took", "its loss")
    rows = []
    for case in _cases(records, "nodes", "bodies"):
        fixed = [row for row in case if row["scheme"] != AUTO]
        best = min(fixed, key=lambda row: row["value"])
        (auto,) = runs.only(case, scheme=AUTO)
        # A run by itself, if there is one of what the trial took.
        (taken, *_) = (*runs.only(fixed, scheme=auto["ran"]), auto)
        rows.append(
            (
                str(best["nodes"]),
                str(best["bodies"]),
                str(best["scheme"]),
                f"{1 / best['value']:.4g}",
                f"{100 * best['bound_s'] / best['value']:.0f} %",
                f"{best['expected_s'] / best['value']:.2f} x",
                str(auto["ran"]),
                f"{100 * (taken['value'] / best['value'] - 1):.1f} %",
            )
        )
    return Table(head, rows)


def tabulate_hybrid(records: Sequence[Record]) -> Table:
    head = ("bodies", "scheme", *(f"{each} x {CORES // each}" for each in runs.values(records, "per_node")), "best")
    rows = []
    for case in _cases(records, "bodies", "scheme"):
        best = min(case, key=lambda row: row["value"])
        rates = [f"{1 / row['value']:.4g}" for row in case]
        rows.append((str(best["bodies"]), str(best["scheme"]), *rates, f"{best['per_node']} ranks a node"))
    return Table(head, rows)


def _cases(records: Iterable[Record], *names: str) -> list[list[Record]]:
    """Records that are alike in these members, in their order."""
    groups: dict[tuple[object, ...], list[Record]] = {}
    for row in records:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return list(groups.values())


def draw_schemes(records: Sequence[Record]) -> str:
    """Timesteps a second over bodies; dotted: the model."""
    nodes = runs.values(records, "nodes")

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(nodes), squeeze=False, sharey=True)[0]
        for count, axes in zip(nodes, panels, strict=True):
            for number, scheme in enumerate(SCHEME_NAMES):
                rows = runs.only(records, nodes=count, scheme=scheme)
                colour, bodies = figures.COLOURS[number % 6], [row["bodies"] for row in rows]
                marker = "o" if number < len(figures.COLOURS) else "s"
                axes.plot(bodies, [1 / row["value"] for row in rows], marker + "-", color=colour, label=scheme, ms=4)
                axes.plot(bodies, [1 / row["expected_s"] for row in rows], ":", color=colour)
            ticks = runs.values(records, "bodies")
            axes.set(xscale="log", yscale="log", xlabel="bodies", title=f"{count} nodes")
            axes.set_xticks(ticks, [str(tick) for tick in ticks])
            axes.minorticks_off()
        panels[0].set_ylabel("timesteps a second (dotted: the model)")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize=8)

    return figures.svg(1.8 + 3.0 * len(nodes), 3.6, paint)


def draw_hybrid(records: Sequence[Record]) -> str:
    bodies = runs.values(records, "bodies")

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(bodies), squeeze=False)[0]
        for n, axes in zip(bodies, panels, strict=True):
            for number, scheme in enumerate(runs.values(records, "scheme")):
                rows = runs.only(records, bodies=n, scheme=scheme)
                ys = [1 / row["value"] for row in rows]
                axes.plot([row["per_node"] for row in rows], ys, "o-", color=figures.COLOURS[number], label=scheme)
            axes.set(xlabel="ranks a node", title=f"{n} bodies", ylim=(0, None))
            axes.set_xticks(runs.values(records, "per_node"))
        panels[0].set_ylabel("timesteps a second")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize=8)

    return figures.svg(1.8 + 2.6 * len(bodies), 3.2, paint)


SCHEMES = Part(
    "simulated",
    "Which scheme wins on 16 to 64 simulated Gigabit nodes, and does the automatic choice find it?",
    schemes,
    tabulate_schemes,
    draw_schemes,
    why_not,
)
HYBRID = Part(
    "hybrid",
    f"With {CORES} cores on each of 16 simulated nodes: ranks, or threads?",
    hybrid,
    tabulate_hybrid,
    draw_hybrid,
    why_not,
)
