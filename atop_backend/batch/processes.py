"""Ending a process with all its children, and knowing it again after a restart of the driver."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

POSIX = os.name == "posix"
# NumPy's sums depend on how many threads share them: with one, results are the same to the last
# bit on any number of cores. The environment of a worker, since it counts when NumPy is loaded.
ONE_ORDER = {"OPENBLAS_NUM_THREADS": "1"}


def birth_mark(pid: int) -> str:
    """What tells a process from a later one with the same id; "" if there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    state, *fields = stat.rpartition(")")[2].split()
    return "" if state in "ZX" else fields[18]  # start time in clock ticks since boot


def children(pid: int) -> list[int]:
    """Ids of the living children of a process (Linux; empty elsewhere)."""
    found = []
    for task in Path("/proc").glob(f"{pid}/task/*/children"):
        with contextlib.suppress(OSError):
            found += map(int, task.read_text().split())
    return found


def descendants(pid: int) -> list[int]:
    """Children, their children and so on, in any process group."""
    found = []
    for child in children(pid):
        found += [child, *descendants(child)]
    return found


def end_tree(pid: int) -> None:
    """Kill a process that leads its group, its group, and what it started in other groups."""
    if not POSIX:
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(pid)], capture_output=True, check=False)
        return
    for leader in (*descendants(pid), pid):  # itself last: it may be us
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getpgid(leader) == leader:
                os.killpg(leader, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(leader, signal.SIGKILL)


def end_stray(pid: int, born: str, patience_s: float = 10.0) -> None:
    """Kill a worker of a dead driver, if it is still that one, and wait until it is gone."""
    if not born or birth_mark(pid) != born:
        return
    end_tree(pid)
    deadline = time.monotonic() + patience_s
    while birth_mark(pid) == born and time.monotonic() < deadline:
        time.sleep(0.02)


def adopt_orphans() -> None:
    """Make this process the parent of what its dead workers leave behind (Linux)."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def memory_mb() -> float:
    """Resident memory of this process in MB; 0 where it cannot be known."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def release_memory() -> None:
    """Give freed memory back to the system, which C libraries keep after a large job."""
    gc.collect()
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(AttributeError, OSError):  # other C libraries than glibc
            ctypes.CDLL(None).malloc_trim(0)
