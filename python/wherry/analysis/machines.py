"""How many ranks shared the cores of a machine; known for the one that looks at the records."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from wherry.analysis.record import Record
from wherry.analysis.rows import Analysis, BindingRow, MachineRow


def fill_machines(result: Analysis, ranks: Sequence[Record]) -> None:
    """Emulated hosts are one machine: they have one kernel, and share its cores."""
    here, cores = this_machine()
    by_boot: dict[str, MachineRow] = {}
    for record in ranks:
        row = by_boot.setdefault(record.boot_id, MachineRow([], 0, cores if record.boot_id == here else None))
        row.ranks += 1
        if record.host not in row.hosts:
            row.hosts.append(record.host)
    result.machines = list(by_boot.values())


def fill_bindings(result: Analysis, ranks: Sequence[Record]) -> None:
    """Cores that the launcher keeps from a rank, not those that the machine has not got."""
    here, cores = this_machine()
    narrow = Counter(
        (record.threads, record.processors)
        for record in ranks
        if 0 < record.processors < record.threads and (record.boot_id != here or record.processors < cores)
    )
    mpi = ranks[0].mpi_version if ranks else ""
    result.bindings = [BindingRow(count, threads, own, mpi) for (threads, own), count in narrow.items()]


def this_machine() -> tuple[str, int]:
    """Its boot_id, as records have it, and the cores that programs started here may use."""
    try:
        boot_id = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        boot_id = "unknown"
    return boot_id, len(os.sched_getaffinity(0))
