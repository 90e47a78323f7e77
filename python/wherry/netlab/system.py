"""The system's own commands, through which everything about a cluster is made and removed."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess

from wherry.errors import WherryError


class NetlabError(WherryError):
    """The emulated cluster cannot be made or used: what, why and what to do."""


def must(*command: str) -> str:
    """What a command that has to succeed printed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NetlabError(f"`{shlex.join(command)}` failed: {done.stderr.strip() or done.returncode}")
    return done.stdout


def attempt(*command: str) -> str:
    """What a command that may fail printed."""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def why_unavailable() -> str | None:
    """Why no cluster can be made here, with what to do about it; None if one can."""
    if os.geteuid() != 0:
        return "the emulated cluster needs root (it makes network namespaces); run it as root"
    for command, package in (("ip", "iproute2"), ("tc", "iproute2"), ("unshare", "util-linux")):
        if shutil.which(command) is None:
            return f"the emulated cluster needs the command {command}; install {package}"
    trial = subprocess.run(["unshare", "-n", "-u", "-m", "true"], capture_output=True, text=True, check=False)
    if trial.returncode != 0:
        return f"the emulated cluster needs namespaces, which this system refuses: {trial.stderr.strip()}"
    return None
