"""What an answer, a death or a delay means for a job: the same rules for every engine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from atop_backend.batch.manifest import JobRow, Manifest, clear_leftovers
from atop_backend.contracts import JobRequest
from atop_backend.errors import SetupError
from atop_backend.protocol import Progress
from atop_backend.reporting import Emit

TAIL_CHARACTERS = 2000
# What a retry after running out of memory gives up, step by step; the last one is on the CPU.
REDUCTIONS = (
    (),
    ("generate.samples=2", "generate.videos=false"),
    ("generate.samples=1", "generate.videos=false", "generate.frames=[0.5, 1.0]"),
)


@dataclass(frozen=True, slots=True)
class PoolConfig:
    """How jobs are spread over workers."""

    workers: int = 1
    time_limit_s: float = 600.0  # a job; 10 times what a default one takes on two busy cores
    renew_after: int = 100  # jobs; a fresh process gives back what leaked
    faults: int = 3  # deaths or memory errors before a job counts as failed
    setup_errors: int = 5  # before any other outcome: then the set-up is broken, not the jobs


def reduced(request: JobRequest, steps: int) -> JobRequest:
    """The request with fewer samples and frames, and in the end on the CPU."""
    level = min(steps, len(REDUCTIONS) - 1)
    if level == 0:
        return request
    last = level == len(REDUCTIONS) - 1
    return replace(
        request,
        overrides=(*request.overrides, *REDUCTIONS[level]),
        device="cpu" if last else request.device,
    )


class Outcomes:
    """Notes in the manifest how each attempt ended, and tells how far the batch is."""

    def __init__(self, manifest: Manifest, config: PoolConfig, emit: Emit) -> None:
        self._manifest = manifest
        self._config = config
        self._emit = emit
        self._setup_errors: list[str] = []  # keys of jobs, while no other outcome is known
        self._others = False

    def answered(self, row: JobRow, answer: dict[str, Any]) -> None:
        """A worker answered, as `worker.carry_out` does.

        Raises:
            SetupError: The disk is full, or every job so far fails by set-up; no job is blamed.
        """
        error, message = answer["error"], answer.get("message", "")
        if not error:
            self._others = True
            self._manifest.finish(row.key, answer["seconds"], answer["memory_mb"])
        elif error == "DiskFull":
            self._manifest.put_back([row.key])
            raise full_disk(self._manifest.out)
        elif error == "OutOfMemory":
            self._fault(row, error, message, smaller=True, seconds=answer["seconds"])
        elif error == "BlenderKilled":
            self._fault(row, error, message, smaller=row.faults > 0, seconds=answer["seconds"])
        else:
            self._fail(row, error, message, answer["seconds"])
            if error != "SetupError":
                self._others = True
            elif not self._others:
                self._setup_errors.append(row.key)
                if len(self._setup_errors) >= self._config.setup_errors:
                    self._blame_setup(message)
        self.tell()

    def died(self, row: JobRow, how: str, seconds: float, smaller: bool) -> None:
        """The worker died over a job; perhaps after the job was done."""
        if not self._done_after_all(row, seconds):
            self._fault(row, "WorkerDied", how, smaller, seconds)
        self.tell()

    def timed_out(self, row: JobRow, seconds: float) -> None:
        """The job took too long and was ended; perhaps after it was done."""
        if not self._done_after_all(row, seconds):
            limit = self._config.time_limit_s
            self._fail(row, "TimeLimit", f"it took longer than {limit:g} s", seconds)
        self.tell()

    def _done_after_all(self, row: JobRow, seconds: float) -> bool:
        """Whether a job whose worker was ended had put its folder in place; clears what is left."""
        clear_leftovers(row.request.out)
        found = (row.request.out / "result.json").is_file()
        if found:
            self._manifest.finish(row.key, seconds, 0.0)
        return found

    def tell(self) -> None:
        """Emit how many jobs have their outcome."""
        counts = self._manifest.counts()
        settled = counts["done"] + counts["failed"]
        total = max(counts["all"], 1)
        self._emit(Progress("batch", settled, total, settled / total))

    def end(self) -> None:
        """No job waits any more.

        Raises:
            SetupError: No job had any other outcome than an error of set-up; they wait again.
        """
        if self._setup_errors and not self._others:
            failed = {row.key: row.message for row in self._manifest.rows("failed")}
            self._blame_setup(failed[self._setup_errors[-1]])

    def _blame_setup(self, message: str) -> NoReturn:
        self._manifest.put_back(self._setup_errors)
        raise SetupError(message, hint="mend the set-up and start the batch again with --resume")

    def _fault(self, row: JobRow, error: str, message: str, smaller: bool, seconds: float) -> None:
        if row.faults + 1 >= self._config.faults:
            self._fail(row, error, message, seconds)
            return
        smallest = len(REDUCTIONS) - 1
        if not smaller:
            level = row.reduction
        elif row.faults + 2 >= self._config.faults:  # the last try
            level = smallest
        else:
            level = min(row.reduction + 1, smallest)
        self._manifest.try_again(row.key, error, message, level)

    def _fail(self, row: JobRow, error: str, message: str, seconds: float) -> None:
        tail = log_tail(log_path(self._manifest.out, row.key))
        self._manifest.fail(row.key, error, message, tail, seconds)


def full_disk(out: Path) -> SetupError:
    """The error of a disk without space, which is no job's fault."""
    return SetupError(
        f"the disk that holds {out} is full",
        hint="free space and start the batch again with --resume; nothing is lost",
    )


def log_path(out: Path, key: str) -> Path:
    """Where all output of a job's attempts goes."""
    return out / "logs" / key[:2] / f"{key}.log"


def log_tail(path: Path) -> str:
    """The end of a log; empty if there is none."""
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, path.stat().st_size - TAIL_CHARACTERS))
            return stream.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
