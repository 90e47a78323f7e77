"""The commit that results carry: that of the sources and of what was built, or the version."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from wherry import __version__, provenance


def git(folder: Path, *words: str) -> str:
    named = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    done = subprocess.run(["git", "-C", folder, *named, *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit_of(folder: Path, file: str, text: str) -> str:
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", text)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With a module of its own, and nothing built."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    commit_of(folder, "provenance.py", "first")
    monkeypatch.setattr(provenance, "__file__", str(folder / "provenance.py"))
    monkeypatch.setattr(provenance, "_BUILT", tmp_path / "built")
    return folder


def test_what_another_commit_built_is_dirty(repository: Path, tmp_path: Path) -> None:
    built = commit_of(repository, "source.c", "second")
    assert built.startswith(provenance.commit())
    (tmp_path / "built").write_text(f"{built}\n")
    assert built.startswith(provenance.commit())
    documented = commit_of(repository, "docs/page.md", "third")
    assert documented.startswith(provenance.commit())
    changed = commit_of(repository, "source.c", "fourth")
    name = provenance.commit()
    assert name.endswith("-dirty") and changed.startswith(name.removesuffix("-dirty"))


def test_a_repository_of_the_users_own_is_not_wherrys(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = repository / "site-packages"
    installed.mkdir()
    (installed / "provenance.py").touch()
    monkeypatch.setattr(provenance, "__file__", str(installed / "provenance.py"))
    assert provenance.commit() == __version__
