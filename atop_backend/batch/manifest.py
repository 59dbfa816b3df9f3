"""The manifest: one SQLite file that knows the state of every job, whatever dies when.

Only the driver writes it. A job's key is a hash of the asset's content and of all settings that
can change the result; its folder bears the key and appears complete or not at all, so a result
that a killed driver could not note any more is found again and not made twice.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

from atop_backend.batch.jobs import BatchJob, input_files
from atop_backend.contracts import JobRequest
from atop_backend.errors import InputError
from atop_backend.rendering.selectors import parse

State = Literal["waiting", "running", "done", "failed"]

VERSION = 1
KEY_LENGTH = 16  # hex digits; 100,000 jobs collide with a chance of 3e-10
_NOT_IN_KEY = ("asset", "out", "device", "blender", "weights", "finetuned")  # where, not what
_SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
    key TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    wanted INTEGER NOT NULL,
    name TEXT NOT NULL,
    request TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    faults INTEGER NOT NULL DEFAULT 0,
    reduction INTEGER NOT NULL DEFAULT 0,
    error TEXT NOT NULL DEFAULT '',
    message TEXT NOT NULL DEFAULT '',
    log_tail TEXT NOT NULL DEFAULT '',
    seconds REAL NOT NULL DEFAULT 0,
    result TEXT NOT NULL DEFAULT '',
    worker INTEGER NOT NULL DEFAULT 0,
    memory_mb REAL NOT NULL DEFAULT 0,
    updated REAL NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS jobs_by_state ON jobs (wanted, state, faults, position);
CREATE TABLE IF NOT EXISTS files (
    path TEXT PRIMARY KEY, size INTEGER, changed_ns INTEGER, digest TEXT
);
CREATE TABLE IF NOT EXISTS workers (pid INTEGER PRIMARY KEY, born TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS left_out (asset TEXT PRIMARY KEY, reason TEXT NOT NULL);
"""


class JobRow(NamedTuple):
    """One job as the manifest has it."""

    key: str
    name: str
    request: JobRequest  # `out` is the job's own folder
    state: State
    attempts: int  # times it was begun
    faults: int  # workers that died over it, and memory that ran out
    reduction: int  # how much smaller it was made, see `outcomes.reduced`
    error: str  # class of the error that ended it
    message: str
    log_tail: str
    seconds: float  # of the last attempt
    result: str  # path of its folder relative to the batch's
    worker: int  # process id
    memory_mb: float  # resident memory of the worker afterwards
    updated: float  # seconds since 1970


_COLUMNS = ", ".join(JobRow._fields)


class Manifest:
    """The jobs of one batch folder.

    Args:
        out: The batch folder; the file is `manifest.sqlite` in it.

    Raises:
        InputError: The file is not a manifest of this version.
    """

    def __init__(self, out: Path) -> None:
        self.out = out
        path = out / "manifest.sqlite"
        try:
            self._db = sqlite3.connect(path, isolation_level=None, timeout=30)
            # No write-ahead log: it needs shared memory, which network storage lacks.
            self._db.execute("PRAGMA synchronous = FULL")
            found = self._db.execute("PRAGMA user_version").fetchone()[0]
            self._db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
        except sqlite3.DatabaseError as error:
            raise InputError(
                f"{path} is not a manifest ({error})", hint="choose another folder with --out"
            ) from error
        if found not in (0, VERSION):
            raise InputError(
                f"{path} is of version {found}, expected {VERSION}",
                hint="finish it with the version that began it, or choose another folder",
            )

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def want(self, jobs: Iterable[BatchJob], left_out: Mapping[str, str] | None = None) -> int:
        """Take in the jobs of this run; what is known keeps its state. The number of jobs.

        Jobs of earlier runs that are not among them stay in the file but are left alone.

        Args:
            left_out: Assets that were looked at and gave no job, with the reason.
        """
        with self._db:
            self._db.execute("BEGIN")
            self._db.execute("DELETE FROM left_out")
            entries = (left_out or {}).items()
            self._db.executemany("INSERT INTO left_out VALUES (?, ?)", entries)
            self._db.execute("UPDATE jobs SET wanted = 0")
            for position, job in enumerate(jobs):
                key = self.key(job)
                folder = Path("jobs") / key[:2] / f"{job.name}-{key}"
                request = replace(job.request, out=self.out / folder)
                self._db.execute(
                    "INSERT INTO jobs (key, position, wanted, name, request, state, result)"
                    " VALUES (?, ?, 1, ?, ?, 'waiting', ?) ON CONFLICT (key) DO UPDATE SET"
                    " wanted = 1, position = excluded.position, request = excluded.request",
                    (key, position, job.name, json.dumps(request.to_dict()), str(folder)),
                )
        return self.counts()["all"]

    def key(self, job: BatchJob) -> str:
        """Hash of the content of all that the job reads, its name, and the settings of the result.

        Settings that have their default are left out, so that a setting which a later version
        adds does not make old jobs new.
        """
        fields = JobRequest.__dataclass_fields__
        settings = {
            name: value
            for name, value in job.request.to_dict().items()
            if name not in _NOT_IN_KEY and getattr(job.request, name) != fields[name].default
        }
        selectors = map(parse, job.request.parts)
        settings["parts"] = [each._replace(file=Path(each.file).name).text for each in selectors]
        content = [self._digest(path) for path in input_files(job.request)]
        text = json.dumps([job.label, content, settings], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:KEY_LENGTH]

    def _digest(self, path: Path) -> str:
        """SHA-256 of a file, remembered by size and time of change; "missing" if there is none."""
        try:
            stat = path.stat()
            mark = (stat.st_size, stat.st_mtime_ns)
            row = self._db.execute(
                "SELECT size, changed_ns, digest FROM files WHERE path = ?", (str(path),)
            ).fetchone()
            if row is not None and row[:2] == mark:
                return row[2]
            with path.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError:
            return "missing"
        self._db.execute(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)", (str(path), *mark, digest)
        )
        return digest

    def recover(self, retry_failed: bool = False) -> int:
        """Settle what a dead driver left running; the number of results found and kept."""
        found = 0
        with self._db:
            self._db.execute("BEGIN")
            for row in self.rows("running"):
                clear_leftovers(row.request.out)
                if (row.request.out / "result.json").is_file():
                    self._set(row.key, state="done", error="", message="")
                    found += 1
                else:
                    self._set(row.key, state="waiting")
            if retry_failed:
                self._db.execute(
                    "UPDATE jobs SET state = 'waiting', faults = 0, reduction = 0"
                    " WHERE state = 'failed' AND wanted"
                )
        return found

    def next_waiting(self) -> JobRow | None:
        """The next job to begin: in the order given, those that failed before at the end."""
        row = self._db.execute(
            f"SELECT {_COLUMNS} FROM jobs WHERE wanted AND state = 'waiting'"
            " ORDER BY faults, position LIMIT 1"
        ).fetchone()
        return None if row is None else _row(row)

    def begin(self, key: str, worker: int) -> None:
        """Note that a worker begins a job, before it does."""
        self._db.execute(
            "UPDATE jobs SET state = 'running', attempts = attempts + 1, worker = ?, updated = ?"
            " WHERE key = ?",
            (worker, time.time(), key),
        )

    def finish(self, key: str, seconds: float, memory_mb: float) -> None:
        """Note that a job's folder is complete."""
        self._set(
            key, state="done", seconds=seconds, memory_mb=memory_mb, error="", message="",
            log_tail="",
        )  # fmt: skip

    def fail(self, key: str, error: str, message: str, log_tail: str, seconds: float) -> None:
        """Note the final failure of a job."""
        self._set(
            key, state="failed", error=error, message=message, log_tail=log_tail, seconds=seconds
        )

    def try_again(self, key: str, error: str, message: str, reduction: int) -> None:
        """Put a job back after a fault, made so much smaller."""
        with self._db:
            self._set(key, state="waiting", error=error, message=message, reduction=reduction)
            self._db.execute("UPDATE jobs SET faults = faults + 1 WHERE key = ?", (key,))

    def put_back(self, keys: Sequence[str]) -> None:
        """Put jobs back that are not to blame for their end."""
        for key in keys:
            self._set(key, state="waiting")

    def _set(self, key: str, **values: object) -> None:
        values["updated"] = time.time()
        names = ", ".join(f"{name} = ?" for name in values)
        self._db.execute(f"UPDATE jobs SET {names} WHERE key = ?", (*values.values(), key))

    def counts(self) -> dict[str, int]:
        """Number of wanted jobs by state, and of `all`."""
        counts = dict.fromkeys(("waiting", "running", "done", "failed"), 0)
        query = "SELECT state, count(*) FROM jobs WHERE wanted GROUP BY state"
        counts.update(self._db.execute(query).fetchall())
        return counts | {"all": sum(counts.values())}

    def rows(self, *states: State) -> Iterator[JobRow]:
        """The wanted jobs of these states (all states if none is named), in the order given."""
        chosen = states or ("waiting", "running", "done", "failed")
        marks = ", ".join("?" * len(chosen))
        query = f"SELECT {_COLUMNS} FROM jobs WHERE wanted AND state IN ({marks}) ORDER BY position"
        return map(_row, self._db.execute(query, chosen).fetchall())

    def left_out(self) -> list[tuple[str, str]]:
        """Assets that gave no job, with the reason."""
        return self._db.execute("SELECT asset, reason FROM left_out ORDER BY asset").fetchall()

    def note_worker(self, pid: int, born: str) -> None:
        """Remember a worker, so that the next driver can end it if this one is killed."""
        self._db.execute("INSERT OR REPLACE INTO workers VALUES (?, ?)", (pid, born))

    def forget_worker(self, pid: int) -> None:
        """A worker has ended."""
        self._db.execute("DELETE FROM workers WHERE pid = ?", (pid,))

    def workers(self) -> list[tuple[int, str]]:
        """Process ids and birth marks of workers that nobody saw end."""
        return self._db.execute("SELECT pid, born FROM workers").fetchall()


def clear_leftovers(folder: Path) -> None:
    """Remove what a killed worker left beside a job's folder."""
    for kind in ("partial", "old"):
        for path in folder.parent.glob(f".{folder.name}.{kind}-*"):
            shutil.rmtree(path, ignore_errors=True)


def _row(values: Sequence) -> JobRow:
    row = JobRow(*values)
    return row._replace(request=JobRequest.from_dict(json.loads(values[2])))
