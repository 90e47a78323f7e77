"""`wherry export`: the fastest algorithms of a library as that library's own settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wherry.errors import UsageError, unknown
from wherry.export import intel, mpich, openmpi
from wherry.export.selection import Rules, select
from wherry.files import write_whole
from wherry.run.mpis import Family
from wherry.tune.results import Results, load


@dataclass(frozen=True)
class Format:
    name: str
    family: Family
    text: Callable[[Results, Sequence[Rules]], str]
    variables: Callable[[Sequence[Rules], Path], dict[str, str]]


def _openmpi_variables(rules: Sequence[Rules], file: Path) -> dict[str, str]:
    return openmpi.variables(file)


def _mpich_variables(rules: Sequence[Rules], file: Path) -> dict[str, str]:
    return mpich.variables([row.operation for row in rules], file)


def _none(rules: Sequence[Rules], file: Path) -> dict[str, str]:
    return {}


FORMATS = (
    Format("openmpi", "openmpi", openmpi.text, _openmpi_variables),
    Format("openmpi-json", "openmpi", openmpi.as_json, _openmpi_variables),
    Format("mpich", "mpich", mpich.text, _mpich_variables),
    Format("intel", "intel", intel.text, _none),
)


@dataclass(frozen=True)
class Exported:
    """What was written. settings: a shell file with the variables that make the library read `file`, or None."""

    file: Path
    settings: Path | None
    rules: list[Rules]


def find(name: str) -> Format:
    for form in FORMATS:
        if form.name == name:
            return form
    raise unknown("format", name, [form.name for form in FORMATS])


def export(source: Path, form: Format, target: Path, ranks: int | None = None) -> Exported:
    """Writes target and, where the library needs variables to read it, target with .env added. Raises UsageError."""
    results = load(source)
    if results.family != form.family:
        fitting = " or ".join(other.name for other in FORMATS if other.family == results.family)
        raise UsageError(f"{source} was measured with {results.mpi}, which cannot read {form.name}; write {fitting}")
    rules = [row for row in select(results) if ranks in (None, row.ranks)]
    if not rules:
        raise UsageError(f"nothing to export: {_why_nothing(results, ranks)}")
    content = form.text(results, rules)
    variables = form.variables(rules, target.absolute())
    settings = target.with_name(f"{target.name}.env") if variables else None
    if settings is not None and settings.is_dir():
        raise UsageError(f"cannot write {settings}: it is a directory; name another file")
    try:
        write_whole(target, content)
        if settings is not None:
            write_whole(settings, _shell(results, variables))
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}; name a file where you can write") from error
    return Exported(target, settings, rules)


def _why_nothing(results: Results, ranks: int | None) -> str:
    measured = sorted({row.ranks for row in results.measurements})
    if ranks is not None and ranks not in measured:
        return f"{ranks} ranks were not measured (have: {', '.join(map(str, measured)) or 'none'})"
    return "no algorithm is clearly faster than the library's own choice"


def _shell(results: Results, variables: dict[str, str]) -> str:
    lines = [f"# For the file beside this one, {results.provenance()}"]
    return "\n".join([*lines, *(f"export {name}={_quoted(value)}" for name, value in variables.items())]) + "\n"


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "'\\''") + "'"
