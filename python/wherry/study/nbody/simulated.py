"""The application on simulated Gigabit nodes: times beside the model's, and beside what computing and wire allow.

Computing takes so many pairs a second (PAIRS_PER_S) and is not done, so that times are exact. Plain MPI's exchanges are
SMPI's, by the rules of Open MPI; only of `overlapped` they are Wherry's, because SMPI's own nonblocking allreduce
sends everything to everybody, as no library does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wherry import units
from wherry.draw import figures
from wherry.measure.harness import Setup
from wherry.measure.record import Measurement, only, values
from wherry.simulate import application, platforms, smpi
from wherry.study.nbody import runs
from wherry.study.nbody.schemes import SCHEMES as SCHEME_NAMES
from wherry.study.parts import StudyPart, StudyTable, record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLATFORM = "gigabit"
#: A core with AVX-512, about as `nbody_kernels` measures it.
PAIRS_PER_S = 1.5e9
#: The time of a short message on the platform: two links and the overhead at both ends.
MESSAGE_S = 48e-6
LIMIT_S = 600.0
STEPS = "4"  # ranks come out of step in the first of them
CORES = 4  # of a node, where threads and ranks share it
AUTO, OVERLAPPED = "auto", "overlapped"
#: Nodes on which Wherry's plans are simulated.
MOST_OVERLAPPING = 16


@dataclass(frozen=True)
class SimulatedCase:
    """threads: of a rank, that share its pairs without loss."""

    where: smpi.Machine
    bodies: int
    scheme: str
    threads: int = 1

    @property
    def label(self) -> str:
        ranks, threads = units.plural(self.where.per_node, "rank"), units.plural(self.threads, "thread")
        return f"{self.bodies} bodies, {self.scheme}, {units.plural(self.where.nodes, 'node')} of {ranks} of {threads}"

    @property
    def takes_minutes(self) -> bool:
        """All ranks look after Wherry's plans every microsecond."""
        return self.scheme == OVERLAPPED and self.where.nodes > MOST_OVERLAPPING


def why_not(setup: Setup) -> str:
    return application.why_missing("nbody")


def machine(ranks: int, per_node: int) -> smpi.Machine:
    return smpi.Machine(platforms.find(PLATFORM), ranks, per_node)


def schemes(setup: Setup) -> list[Measurement]:
    nodes = (4,) if setup.quick else (16, 32, 64)
    bodies = (1024,) if setup.quick else (4096, 16384, 65536)
    names = (*SCHEME_NAMES, AUTO)
    cases = [SimulatedCase(machine(count, 1), n, name) for count in nodes for n in bodies for name in names]
    return _measure(setup, [case for case in cases if not case.takes_minutes])


def hybrid(setup: Setup) -> list[Measurement]:
    """As many cores in all, with 1, 2 and 4 ranks on a node."""
    nodes, bodies = (4, (1024,)) if setup.quick else (16, (4096, 16384, 65536))
    names = ("replicated", "allgather", "ring", "quorum", "grid")
    places = [(n, each) for n in bodies for each in (1, 2, CORES)]
    return _measure(
        setup,
        [SimulatedCase(machine(nodes * each, each), n, name, CORES // each) for n, each in places for name in names],
    )


def _measure(setup: Setup, cases: Sequence[SimulatedCase]) -> list[Measurement]:
    rows = []
    for number, case in enumerate(cases):
        setup.progress(case.label, number, len(cases))
        rows.append(timestep(case))
    return rows


def timestep(case: SimulatedCase) -> Measurement:
    where, rate = case.where, PAIRS_PER_S * case.threads
    (row, *_) = application.run(application.ApplicationRequest("nbody", where, (_words(case, rate),), LIMIT_S)).records
    costs = {name: float(row[name]) for name in runs.COSTS}
    return record(
        case=case.label,
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
        threads=case.threads,
        bodies=case.bodies,
        scheme=case.scheme,
        ran=str(row["case"]).partition(", ")[2],
        expected_s=expected_s(costs, rate),
        bound_s=bound_s(costs, rate, where.per_node),
        **costs,
    )


def _words(case: SimulatedCase, pairs_per_s: float) -> tuple[str, ...]:
    asked = ("--bodies", str(case.bodies), "--scheme", case.scheme, "--steps", STEPS)
    computing = ("--pretend", "--pairs-per-s", f"{pairs_per_s:g}")
    return (*asked, *computing, "--with", "wherry" if case.scheme == OVERLAPPED else "mpi")


def expected_s(costs: dict[str, float], pairs_per_s: float) -> float:
    """The model of `--scheme auto` with the platform's own figures (apps/nbody/automatic.cpp)."""
    hidden_s = costs["sent_while_computing_bytes"] / runs.WIRE_BYTES_PER_S
    computing_s = max(costs["pairs"] / pairs_per_s, hidden_s)
    return computing_s + costs["sent_bytes"] / runs.WIRE_BYTES_PER_S + costs["messages"] * MESSAGE_S


def bound_s(costs: dict[str, float], pairs_per_s: float, per_node: int) -> float:
    """Nothing is faster: computing, or the wire. Of several ranks a node, nobody knows what crosses the wire."""
    sent = costs["sent_bytes"] + costs["sent_while_computing_bytes"] if per_node == 1 else 0.0
    return max(costs["pairs"] / pairs_per_s, sent / runs.WIRE_BYTES_PER_S)


def tabulate_schemes(records: Sequence[Measurement]) -> StudyTable:
    head = ("nodes", "bodies", "best scheme", "timesteps/s", "of max(compute, wire)", "model", "auto took", "its loss")
    return StudyTable(head, [_validated(case) for case in _cases(records, "nodes", "bodies")])


def _validated(case: Sequence[Measurement]) -> tuple[str, ...]:
    """The best scheme, beside what would be possible, what the model expects, and what the automatic choice took."""
    fixed = [row for row in case if row["scheme"] != AUTO]
    best = min(fixed, key=lambda row: row["value"])
    (auto,) = only(case, scheme=AUTO)
    # A run by itself, if there is one of what the trial took.
    (taken, *_) = (*only(fixed, scheme=auto["ran"]), auto)
    return (
        str(best["nodes"]),
        str(best["bodies"]),
        str(best["scheme"]),
        f"{1 / best['value']:.4g}",
        f"{100 * best['bound_s'] / best['value']:.0f} %",
        f"{best['expected_s'] / best['value']:.2f} x",
        str(auto["ran"]),
        f"{100 * (taken['value'] / best['value'] - 1):.1f} %",
    )


def tabulate_hybrid(records: Sequence[Measurement]) -> StudyTable:
    """Timesteps a second, for ranks a node x threads a rank."""
    places = [f"{each} x {CORES // each}" for each in values(records, "per_node")]
    rows = []
    for case in _cases(records, "bodies", "scheme"):
        best = min(case, key=lambda row: row["value"])
        rates = [f"{1 / row['value']:.4g}" for row in case]
        rows.append((str(best["bodies"]), str(best["scheme"]), *rates, f"{best['per_node']} x {best['threads']}"))
    return StudyTable(("bodies", "scheme", *places, "best"), rows)


def _cases(records: Iterable[Measurement], *names: str) -> list[list[Measurement]]:
    """Records that are alike in these members, in their order."""
    groups: dict[tuple[object, ...], list[Measurement]] = {}
    for row in records:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return list(groups.values())


def draw_schemes(records: Sequence[Measurement]) -> str:
    """Timesteps a second over bodies; dotted: the model."""
    nodes = values(records, "nodes")

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(nodes), squeeze=False, sharey=True)[0]
        for count, axes in zip(nodes, panels, strict=True):
            for number, scheme in enumerate(SCHEME_NAMES):
                rows = only(records, nodes=count, scheme=scheme)
                bodies, style = [row["bodies"] for row in rows], figures.style(number)
                axes.plot(bodies, [1 / row["value"] for row in rows], label=scheme, **style)
                axes.plot(bodies, [1 / row["expected_s"] for row in rows], ":", color=style["color"])
            axes.set(yscale="log", xlabel="bodies", title=f"{count} nodes")
            figures.scale_logarithmically(axes, values(records, "bodies"))
        panels[0].set_ylabel("timesteps a second (dotted: the model)")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize=8)

    return figures.svg(1.8 + 3.0 * len(nodes), 3.6, paint)


def draw_hybrid(records: Sequence[Measurement]) -> str:
    bodies = values(records, "bodies")

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(bodies), squeeze=False)[0]
        for n, axes in zip(bodies, panels, strict=True):
            for number, scheme in enumerate(values(records, "scheme")):
                rows = only(records, bodies=n, scheme=scheme)
                ys = [1 / row["value"] for row in rows]
                axes.plot([row["per_node"] for row in rows], ys, "o-", color=figures.COLOURS[number], label=scheme)
            axes.set(xlabel="ranks a node", title=f"{n} bodies", ylim=(0, None))
            axes.set_xticks(values(records, "per_node"))
        panels[0].set_ylabel("timesteps a second")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize=8)

    return figures.svg(1.8 + 2.6 * len(bodies), 3.2, paint)


SCHEMES = StudyPart(
    "simulated",
    "Which scheme wins on 16 to 64 simulated Gigabit nodes, and does the automatic choice find it?",
    schemes,
    tabulate_schemes,
    draw_schemes,
    why_not,
)
HYBRID = StudyPart(
    "hybrid",
    f"With {CORES} cores on each of 16 simulated nodes: ranks, or threads?",
    hybrid,
    tabulate_hybrid,
    draw_hybrid,
    why_not,
)
