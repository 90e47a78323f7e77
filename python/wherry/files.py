"""Reading JSON, writing files whole or not at all, and folders to write them to."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from wherry.errors import UsageError

#: What is made of the records in a folder, beside them.
DATA_FILE = "report-data.json"
REPORT_FILES = ("summary.json", "report.html", DATA_FILE)

#: What is raised by code that uses the values of JSON, where one is missing or is of another kind.
DAMAGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def check_picture(path: Path) -> None:
    """Raises UsageError where an SVG would replace a file that is something else."""
    if path.is_file() and not _is_svg(path):
        raise UsageError(f"{path} exists and is no SVG picture; it is left alone: name another file or remove it")


def _is_svg(path: Path) -> bool:
    with path.open("rb") as file:
        return b"<svg" in file.read(1024)


def stays(path: Path) -> bool:
    """Whether text goes into what is there, a device or a pipe: a file in its place would be the end of it.

    A folder stays, too.
    """
    if path.exists() and _descriptor(path) is not None:
        return True
    # A symbolic link that leads round in a circle is still one when it is followed; opening it says so.
    return followed(path).is_symlink() or (path.exists() and not path.is_file())


def _descriptor(path: Path) -> int | None:
    """Of what a path names that this process has open: /dev/stdout and the like, which may lead to a file."""
    name = os.path.abspath(path)  # noqa: PTH100 - Path.absolute() leaves .. in it
    number = re.fullmatch(r"(?:/dev/fd|/proc/self/fd)/(\d+)", name)
    return int(number[1]) if number else {"/dev/stdout": 1, "/dev/stderr": 2}.get(name)


def followed(path: Path) -> Path:
    """The file that symbolic links lead to, be it there or not."""
    return Path(os.path.realpath(path))


def write_whole(path: Path, text: str) -> None:
    """Replaces path, or what it is a symbolic link to, by a file with this text.

    On any failure the file is what it was and nothing is left behind. A device or a pipe stays, and gets the text; so
    does /dev/stdout where it is a file, behind what was printed.
    """
    if stays(path):
        _write_into(path, text)
    else:
        _replace(followed(path), text)


def _write_into(path: Path, text: str) -> None:
    descriptor = _descriptor(path)
    if descriptor is None:
        path.write_text(text, encoding="utf-8", errors="replace")
        return
    sys.stdout.flush()
    with open(descriptor, "w", encoding="utf-8", errors="replace", closefd=False) as file:
        file.write(text)


def _replace(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def read_json(path: Path) -> Any:
    """What a file of JSON holds. Raises OSError, or ValueError that says from where on it is none: "it ..."."""
    try:
        text = path.read_text(encoding="utf-8")
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(_why_no_json(text, error)) from error
    except UnicodeDecodeError as error:
        raise ValueError(f"it is no JSON: byte {error.start} is not UTF-8") from error
    except RecursionError as error:
        raise ValueError("it is JSON of too many levels") from error


def _why_no_json(text: str, error: json.JSONDecodeError) -> str:
    where, words = f"line {error.lineno}, column {error.colno}", text.strip()
    if not words:
        return "it is empty"
    # Of a text without its closing quote the parser tells the beginning, and so it does of half a number or name.
    left = text[error.pos :].strip()
    half_a_word = re.fullmatch(r"[\w.+-]*", left) and not error.msg.startswith("Extra data")
    if half_a_word or error.msg.startswith("Unterminated string"):
        return f"it is not whole JSON but breaks off in {where}"
    return f"it is no JSON from {where} on"


def write_json(path: Path, value: Any) -> None:
    write_whole(path, json.dumps(value, indent=1, allow_nan=False) + "\n")


def write_records(path: Path, records: Sequence[Any]) -> None:
    """JSON too, a record a line: those with thousands of samples stay legible and small."""
    lines = ",\n".join(json.dumps(record, allow_nan=False) for record in records)
    write_whole(path, f"[\n{lines}\n]\n")


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def make_folder(path: Path, option: str) -> None:
    """Makes a folder with its parents, and tries it. Raises UsageError if files cannot be written to it."""
    with writing_to(path, option):
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path, prefix=".wherry-"):
            pass


@contextlib.contextmanager
def writing_to(path: Path, option: str) -> Iterator[None]:
    """Makes an OSError inside a UsageError about the folder that the option names."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(
            f"cannot write to {option} {path}: {reason}; name a directory that you can write to"
        ) from error


def record_files(directory: Path) -> list[Path]:
    """Those that the preload left there, one for each rank (wherry.analysis.record reads them)."""
    return sorted([*directory.glob("rank-*.wrec"), *directory.glob("pid-*.wrec")])
