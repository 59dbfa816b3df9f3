"""A worker: one process that keeps the model in memory and does one job after another.

It reads jobs as JSON lines from stdin and answers on a private stdout; all that a job prints goes
into the job's own log. When stdin closes the driver is gone, and the worker ends itself with
everything it started.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from atop_backend.batch.processes import end_tree, memory_mb, release_memory
from atop_backend.contracts import JobRequest
from atop_backend.protocol import Event

Articulate = Callable[[JobRequest, Callable[[Event], None]], object]

# as torch, CUDA and its libraries (CUBLAS_STATUS_ALLOC_FAILED) say it
_MEMORY_WORDS = (
    "out of memory",
    "can't allocate memory",
    "cannot allocate memory",
    "status_alloc_failed",
)


def serve(articulate: Articulate) -> int:
    """Do jobs until told to stop; the exit code."""
    wire = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)
    jobs: queue.Queue[dict[str, Any]] = queue.Queue()
    threading.Thread(target=_read, args=(jobs,), daemon=True).start()
    with contextlib.suppress(BrokenPipeError):  # the driver is gone; `_read` sees it too
        print(json.dumps({"ready": True}), file=wire)
        while (job := jobs.get()).get("stop") is not True:
            print(json.dumps(carry_out(articulate, job)), file=wire)
    return 0


def _read(jobs: queue.Queue[dict[str, Any]]) -> None:
    """Fill the queue from stdin; at its end nobody waits for this worker any more."""
    for line in sys.stdin:
        job = json.loads(line)
        jobs.put(job)
        if job.get("stop"):
            return
    end_tree(os.getpid())
    os._exit(1)


def carry_out(articulate: Articulate, job: dict[str, Any]) -> dict[str, Any]:
    """Do one job, its output going to its log; how it ended.

    Args:
        job: `key`, `request` (as a dictionary) and `log`, the path of a file.

    Returns:
        `key`, `error` (a class, empty for success), `message`, `seconds` and `memory_mb`.
    """
    request = JobRequest.from_dict(job["request"])
    begun = time.monotonic()
    answer: dict[str, Any] = {"key": job["key"], "error": ""}
    with _logging_to(Path(job["log"])):
        try:
            articulate(request, lambda event: None)
        except Exception as error:
            traceback.print_exc()
            answer |= describe(error)
    release_memory()
    return answer | {"seconds": time.monotonic() - begun, "memory_mb": memory_mb()}


def describe(error: BaseException) -> dict[str, str]:
    """What the driver has to know of an error: its class and its message."""
    causes, cause = [], error
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    text, kind = str(error), type(error).__name__
    numbers = {getattr(cause, "errno", None) for cause in causes}
    said = " ".join(map(str, causes)).lower()
    if (
        any(isinstance(cause, MemoryError) for cause in causes)
        or errno.ENOMEM in numbers
        or any(words in said for words in _MEMORY_WORDS)
    ):
        kind = "OutOfMemory"
    elif numbers & {errno.ENOSPC, errno.EDQUOT}:
        kind = "DiskFull"
    elif "was killed by signal 9" in text:  # somebody, or Linux for want of memory
        kind = "BlenderKilled"
    return {"error": kind, "message": text}


@contextlib.contextmanager
def _logging_to(path: Path):
    """Sends file descriptors 1 and 2, and so all child processes, into one file."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
    kept = os.dup(1), os.dup(2)
    try:
        log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError:  # a log is no reason to fail
        log = os.open(os.devnull, os.O_WRONLY)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        for number, copy in enumerate(kept, 1):
            os.dup2(copy, number)
            os.close(copy)


def main() -> int:
    """A worker of the product."""
    from atop_backend import stages
    from atop_backend.batch.steps import with_readable_asset

    return serve(lambda request, emit: stages.articulate(with_readable_asset(request), emit))


if __name__ == "__main__":
    sys.exit(main())
