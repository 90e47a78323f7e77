"""Runs a command and writes what it and all that it started have used, as JSON: measured.py FILE COMMAND...

A program of its own, one for each run: the kernel adds up what a process's descendants have used when they are waited
for. Launchers may end before they have waited for their ranks (Open MPI 4.1 does), and daemons on emulated hosts
leave the launcher; as their subreaper this process waits for them all. Peak memory is that of the largest process.
"""

import ctypes
import json
import os
import resource
import signal
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
STRAGGLERS_S = 2.0  # for what is left when the launcher has ended


def main(file: str, command: list[str]) -> int:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # Who ends the run asks all of it; the launcher then takes its ranks along.
    signal.signal(signal.SIGTERM, lambda *_: None)
    begin = time.monotonic()
    status = run(command)
    wall_s = time.monotonic() - begin
    wait_for_stragglers()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = {
        "code": os.waitstatus_to_exitcode(status),
        "wall_s": wall_s,
        "user_s": used.ru_utime,
        "system_s": used.ru_stime,
        "faults": used.ru_minflt + used.ru_majflt,
        "waits": used.ru_nvcsw,
        "preemptions": used.ru_nivcsw,
        "peak_bytes": used.ru_maxrss * 1024,
    }
    with open(file, "w") as out:
        json.dump(result, out)
    return 0


def run(command: list[str]) -> int:
    try:
        return wait_for(os.posix_spawnp(command[0], command, os.environ, setsigdef=[signal.SIGPIPE]))
    except OSError as error:
        print(f"{command[0]} cannot be started: {error.strerror}", file=sys.stderr)
        return 127 << 8  # as a shell says


def wait_for(child: int) -> int:
    while True:
        pid, status = os.wait()
        if pid == child:
            return status


def wait_for_stragglers() -> None:
    """What other descendants that stay longer have used is not counted."""
    deadline = time.monotonic() + STRAGGLERS_S
    while time.monotonic() < deadline:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.002)
        except ChildProcessError:
            return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
