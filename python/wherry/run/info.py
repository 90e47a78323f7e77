"""`wherry info`: what is on this machine and which settings hold, as data and as text."""

from __future__ import annotations

import os
import platform
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from wherry import __version__, paths
from wherry.provenance import commit, machine
from wherry.run import levers
from wherry.run.mpis import Mpi, find_mpis
from wherry.run.settings import VARIABLES, problems, settings, unknown_values

_INTERESTING = ("sse4_2", "avx2", "avx512f", "asimd", "sve")

_NAME_WIDTH = max(map(len, VARIABLES))


def gather() -> dict[str, Any]:
    return {
        "wherry": {"version": __version__, "commit": commit(), "python": platform.python_version()},
        "machine": {
            "cpu": machine(),
            "features": cpu_features(),
            "system": f"{platform.system()} {platform.release()}",
            "cores": levers.cores(),
            "memory": levers.memory(),
        },
        "mpis": [_mpi(mpi) for mpi in find_mpis()],
        "files": [{"what": what, "path": str(path), "exists": path.exists()} for what, path in _files()],
        "settings": [asdict(setting) for setting in settings()],
        "problems": [*problems(), *unknown_values()],
    }


def cpu_features() -> list[str]:
    """Instruction sets that Wherry's kernels could use."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    line = next((line for line in text.splitlines() if line.startswith(("flags", "Features"))), "")
    present = set(line.partition(":")[2].split())
    return [name for name in _INTERESTING if name in present]


def _mpi(mpi: Mpi) -> dict[str, Any]:
    return {
        "name": mpi.name,
        "family": mpi.family,
        "version": mpi.version,
        "abi": mpi.abi,
        "library": str(mpi.libmpi),
        "launcher": " ".join(map(str, mpi.mpiexec)),
        "mpi4py": str(mpi.python) if mpi.python else "",
    }


def _files() -> list[tuple[str, Path]]:
    found = [("preload", paths.preload_library())]
    found += [(f"backend {path.stem.removeprefix('libwherry-')}", path) for path in paths.backends()]
    found.append(("schedules", paths.plan_program()))
    tuning = paths.tuning_file()
    return [*found, ("tuning file", tuning)] if tuning is not None else found


def show(console: Console, found: dict[str, Any]) -> None:
    about, host = found["wherry"], found["machine"]
    console.print(f"[bold]Wherry {about['version']}[/] ({about['commit']}), Python {about['python']}", highlight=False)
    features = " ".join(host["features"])
    console.print(f"{escape(host['cpu'])}; {features}; {host['system']}", highlight=False)
    console.print(f"cores: {escape(host['cores'])}", highlight=False)
    console.print(f"memory: {escape(host['memory'])}", highlight=False)
    console.print()
    _print_mpis(console, found["mpis"])
    for row in found["files"]:
        missing = (
            "" if row["exists"] else ("not written yet" if row["what"] == "tuning file" else "missing: make build")
        )
        console.print(f"{row['what']:<17} {escape(row['path'])} [yellow]{missing}[/]", highlight=False, soft_wrap=True)
    console.print()
    _print_settings(console, found["settings"])
    for problem in found["problems"]:
        console.print(f"[yellow]warning: {escape(problem)}[/]", highlight=False, soft_wrap=True)


def _print_mpis(console: Console, mpis: list[dict[str, Any]]) -> None:
    if not mpis:
        console.print(
            "[yellow]no MPI found[/]: run `make setup`, or `pip install mpich` or `apt-get install openmpi-bin`",
            highlight=False,
        )
    table = _table("MPI", "version", "ABI", "launcher and library")
    for mpi in mpis:
        paths_ = f"{_short(mpi['launcher'])}\n{_short(mpi['library'])}"
        table.add_row(mpi["name"], mpi["version"], mpi["abi"], escape(paths_))
    console.print(table)
    console.print()


def _print_settings(console: Console, rows: list[dict[str, Any]]) -> None:
    """One line per setting, which a narrow terminal wraps: nothing is cut."""
    console.print(_line("setting", "value", "from", "meaning"), style="dim", soft_wrap=True)
    for row in rows:
        style = "bold" if row["source"] == "environment" else ""
        line = _line(row["name"], _short(row["value"]), row["source"], row["meaning"])
        console.print(line, style=style, soft_wrap=True)


def _line(name: str, value: str, source: str, meaning: str) -> Text:
    return Text(f"{name:<{_NAME_WIDTH}}  {value:<8}  {source:<11}  {meaning}")


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=column != "launcher and library")
    return table


def _short(path: str) -> str:
    """Below the current directory and the home directory as people write it."""
    home = os.environ.get("HOME")
    for base, sign in ((f"{Path.cwd()}/", ""), *([(f"{home}/", "~/")] if home else [])):
        if path.startswith(base):
            return sign + path[len(base) :]
    return path
