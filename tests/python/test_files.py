"""Files are replaced as a whole; links, pipes and devices stay what they are."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from wherry.cli.common import check_writable
from wherry.errors import UsageError
from wherry.files import write_whole


def test_a_file_is_replaced_with_nothing_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    for text in ("long text\n", "short\n"):
        check_writable(path)
        write_whole(path, text)
        assert path.read_text() == text
    assert list(tmp_path.iterdir()) == [path]


def test_a_symbolic_link_stays_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    there, link = tmp_path / "there", tmp_path / "link"
    there.mkdir()
    link.symlink_to(Path("there") / "second")
    (there / "second").symlink_to("r.json")
    for text in ("new", "again"):
        check_writable(link)
        write_whole(link, text)
        assert link.is_symlink()
        assert (there / "second").is_symlink()
        assert (there / "r.json").read_text() == text
    assert len(list(there.iterdir())) == 2


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    link = tmp_path / "round"
    link.symlink_to("round")
    with pytest.raises(UsageError, match="it is nothing that you can write to; name another file"):
        check_writable(link)
    with pytest.raises(OSError, match="Too many levels of symbolic links"):
        write_whole(link, "text")
    assert link.is_symlink()


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="it is a folder; name a file in it"):
        check_writable(tmp_path)


def test_what_is_open_as_a_file_gets_the_text_by_its_number_and_stays_open(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with path.open("w") as file:
        file.write("before\n")
        file.flush()
        name = Path(f"/dev/fd/{file.fileno()}")
        check_writable(name)
        write_whole(name, "text\n")
        write_whole(Path(f"/dev/../proc/self/fd/{file.fileno()}"), "more\n")
        file.write("behind\n")
    assert path.read_text() == "before\ntext\nmore\nbehind\n"


def test_a_pipe_stays_and_gets_the_text(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to("pipe")
    for name in (pipe, link):
        check_writable(name)
        read: list[str] = []
        reader = threading.Thread(target=lambda read=read: read.append(pipe.read_text()), daemon=True)
        reader.start()
        write_whole(name, "text\n")
        reader.join(timeout=20)
        assert read == ["text\n"]
        assert pipe.is_fifo()
    assert sorted(tmp_path.iterdir()) == [link, pipe]
