"""Local workers: they may hang, crash or be killed; every job still gets exactly one outcome."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from atop_backend.batch.manifest import JobRow, Manifest
from atop_backend.batch.outcomes import Outcomes, PoolConfig, log_path, reduced
from atop_backend.batch.processes import (
    ONE_ORDER,
    POSIX,
    adopt_orphans,
    birth_mark,
    children,
    end_stray,
    end_tree,
)
from atop_backend.errors import SetupError
from atop_backend.reporting import Emit

WORKER = (sys.executable, "-m", "atop_backend.batch.worker")
_TICK_S = 0.2


class _Worker:
    """One child process and the job it is at."""

    def __init__(self, command: Sequence[str], cores: Sequence[int], answers: queue.Queue) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=POSIX,
            env=_environment(len(cores)),
        )
        if cores and hasattr(os, "sched_setaffinity"):  # Blender children inherit it
            os.sched_setaffinity(self.process.pid, cores)
        self.born = birth_mark(self.process.pid)
        self.cores = cores
        self.job: JobRow | None = None
        self.begun = 0.0
        self.jobs_done = 0
        self.timed_out = False
        self.ready = False
        threading.Thread(target=self._read, args=(answers,), daemon=True).start()

    def _read(self, answers: queue.Queue) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            answers.put((self, line))
        answers.put((self, ""))  # the end

    def send(self, message: dict[str, Any]) -> bool:
        """Whether the worker could be told."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()
        except OSError:
            return False  # it has died; its end of the pipe will say so too
        return True


class Pool:
    """Runs the waiting jobs of a manifest on local workers.

    Args:
        command: Starts a worker; tests put a scripted one here.
    """

    def __init__(
        self,
        manifest: Manifest,
        config: PoolConfig,
        emit: Emit,
        command: Sequence[str] = WORKER,
    ) -> None:
        self._manifest = manifest
        self._config = config
        self._outcomes = Outcomes(manifest, config, emit)
        self._command = command
        self._answers: queue.Queue[tuple[_Worker, str]] = queue.Queue()
        self._workers: list[_Worker] = []
        self._not_ours: set[int] = set()

    def run(self) -> None:
        """Return when no job waits; on any exception the workers are ended first.

        Raises:
            SetupError: The disk is full, or every job fails for the same reason of set-up; the
                jobs it hit wait for the next run.
        """
        adopt_orphans()
        self._not_ours = set(children(os.getpid()))
        for pid, born in self._manifest.workers():
            end_stray(pid, born)
            self._manifest.forget_worker(pid)
        try:
            self._outcomes.tell()
            while self._assign():
                self._collect()
                self._end_late_workers()  # after their answers, which may have waited for us
            self._outcomes.end()
        finally:
            self._end_all()

    def _assign(self) -> bool:
        """Give idle workers jobs, start and renew workers as needed; whether any is at work."""
        for worker in [w for w in self._workers if w.job is None]:
            if worker.jobs_done >= self._config.renew_after:
                self._dismiss(worker)
                continue
            row = self._manifest.next_waiting()
            if row is not None:
                self._hand_out(worker, row)
        while len(self._workers) < self._config.workers:
            row = self._manifest.next_waiting()
            if row is None:
                break
            worker = _Worker(self._command, self._free_cores(), self._answers)
            self._manifest.note_worker(worker.process.pid, worker.born)
            self._workers.append(worker)
            self._hand_out(worker, row)
        return any(worker.job is not None for worker in self._workers)

    def _hand_out(self, worker: _Worker, row: JobRow) -> None:
        self._manifest.begin(row.key, worker.process.pid)
        worker.job, worker.begun = row, time.monotonic()
        request = reduced(row.request, row.reduction)
        message = {
            "key": row.key,
            "request": request.to_dict(),
            "log": str(log_path(self._manifest.out, row.key)),
        }
        worker.send(message)

    def _free_cores(self) -> list[int]:
        """The cores of the next worker: an equal share of this process's."""
        if not hasattr(os, "sched_getaffinity"):
            return []
        cores = sorted(os.sched_getaffinity(0))
        share = max(1, len(cores) // self._config.workers)
        if self._config.workers > len(cores):
            return cores
        taken = {core for worker in self._workers for core in worker.cores}
        free = [core for core in cores if core not in taken]
        spare = self._config.workers - len(self._workers) == 1
        return free if spare else free[:share]

    def _collect(self) -> None:
        """Wait a little for answers and take all in that are there."""
        with contextlib.suppress(queue.Empty):
            self._hear(*self._answers.get(timeout=_TICK_S))
            while True:
                self._hear(*self._answers.get_nowait())

    def _hear(self, worker: _Worker, line: str) -> None:
        """Take in one line of a worker; an empty one is its end."""
        if not line:
            self._bury(worker)
            return
        answer = json.loads(line)
        if "ready" in answer:
            worker.ready, worker.begun = True, time.monotonic()  # loading is not the job's time
        elif worker.job is not None and worker.job.key == answer["key"]:
            self._take(worker, worker.job, answer)

    def _take(self, worker: _Worker, row: JobRow, answer: dict[str, Any]) -> None:
        worker.job = None
        worker.jobs_done += 1
        if answer["error"] == "OutOfMemory":
            worker.jobs_done = self._config.renew_after  # its memory is in pieces
        self._outcomes.answered(row, answer)

    def _bury(self, worker: _Worker) -> None:
        """A worker has ended: settle its job, and end what it left behind."""
        if worker not in self._workers:
            return  # it was let go
        self._workers.remove(worker)
        end_tree(worker.process.pid)  # its group may have outlived it
        code = worker.process.wait()
        self._manifest.forget_worker(worker.process.pid)
        known = {other.process.pid for other in self._workers}
        for pid in set(children(os.getpid())) - known - self._not_ours:
            end_tree(pid)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
        row = worker.job
        if not worker.ready and code > 0:
            raise SetupError(
                f"a worker ended at its start with exit code {code}",
                hint="what it printed says why; `atop doctor` checks the set-up",
            )
        if row is None:
            return
        seconds = time.monotonic() - worker.begun
        if worker.timed_out:
            self._outcomes.timed_out(row, seconds)
        else:
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            # Linux ends what needs too much memory with signal 9, and so do people.
            smaller = code == -9 and row.faults > 0
            self._outcomes.died(row, f"the worker ended with {how}", seconds, smaller)

    def _end_late_workers(self) -> None:
        for worker in self._workers:
            late = time.monotonic() - worker.begun > self._config.time_limit_s
            if worker.job is not None and late and not worker.timed_out:
                worker.timed_out = True
                end_tree(worker.process.pid)

    def _dismiss(self, worker: _Worker) -> None:
        """Let an idle worker go."""
        worker.send({"stop": True})
        try:
            worker.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            end_tree(worker.process.pid)
        worker.process.wait()
        self._workers.remove(worker)
        self._manifest.forget_worker(worker.process.pid)

    def _end_all(self) -> None:
        for worker in self._workers:
            end_tree(worker.process.pid)
            worker.process.wait()
            self._manifest.forget_worker(worker.process.pid)
        self._workers.clear()
        self._manifest.recover()  # puts back what they were at


def _environment(cores: int) -> dict[str, str]:
    """For a worker that finds this package also when it runs from a clone."""
    paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "OMP_NUM_THREADS": str(max(1, cores)),
        **ONE_ORDER,
    }
