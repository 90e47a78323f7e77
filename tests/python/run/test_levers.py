"""What `wherry info` says of cores and memory, by files of the tests' own."""

from __future__ import annotations

from pathlib import Path

import pytest

from wherry.run.levers import cores, memory


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def three(_: int) -> set[int]:
    return {0, 1, 5}


def glibc(_: str) -> str:
    return "glibc 2.36"


@pytest.mark.parametrize(
    ("groups", "files", "said"),
    [
        ("0::/job\n", {"job/cpu.max": "max 100000"}, "no quota"),
        ("0::/job/step\n", {"job/cpu.max": "150000 100000", "job/step/cpu.max": "400000 100000"}, "quota of 1.5 cores"),
        ("0::/gone\n", {"cpu.max": "200000 100000"}, "quota of 2 cores"),
        ("2:cpu,cpuacct:/job\n", {"cpu/job/cpu.cfs_quota_us": "-1", "cpu/job/cpu.cfs_period_us": "100000"}, "no quota"),
        ("2:cpu:/a\n", {"cpu/a/cpu.cfs_quota_us": "50000", "cpu/a/cpu.cfs_period_us": "100000"}, "quota of 0.5 cores"),
        ("0::/job\n", {"job/cpu.max": "nonsense"}, "quota unknown (not understood)"),
        ("nonsense\n", {}, "cgroup unknown (not understood)"),
    ],
)
def test_cores(tmp_path: Path, groups: str, files: dict[str, str], said: str) -> None:
    write(tmp_path, "proc/self/cgroup", groups)
    for path, text in files.items():
        write(tmp_path, f"sys/fs/cgroup/{path}", text)
    assert cores(three, tmp_path) == f"3 by affinity; {said}"


def refuse(*_: object) -> set[int]:
    raise PermissionError(13, "Permission denied")


def test_what_may_not_be_read_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cores(refuse, tmp_path) == (
        "affinity unknown (Permission denied); cgroup unknown (No such file or directory)"
    )
    write(tmp_path, "proc/self/cgroup", "0::/job\n")
    write(tmp_path, "sys/fs/cgroup/job/cpu.max", "max 100000")
    read = Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda path: refuse() if path.name == "cpu.max" else read(path))
    assert cores(three, tmp_path) == "3 by affinity; quota unknown (Permission denied)"


def no_such_name(_: str) -> str:
    raise ValueError("unrecognized configuration name")


def test_memory(tmp_path: Path) -> None:
    assert memory(glibc, tmp_path) == "glibc 2.36; vm.overcommit_memory unknown (No such file or directory)"
    write(tmp_path, "proc/sys/vm/overcommit_memory", "1\n")
    assert memory(glibc, tmp_path) == "glibc 2.36; WHERRY_MEMORY can keep what programs free"
    write(tmp_path, "proc/sys/vm/overcommit_memory", "2\n")
    assert memory(glibc, tmp_path) == "glibc 2.36; vm.overcommit_memory=2: WHERRY_MEMORY changes nothing here"


def test_another_c_library_has_no_lever(tmp_path: Path) -> None:
    """Musl knows the name of no such version."""
    assert memory(no_such_name, tmp_path) == "the C library is not glibc: WHERRY_MEMORY changes nothing here"
