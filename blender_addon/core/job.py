"""One backend process: its events come out of a queue, closing its stdin cancels it."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from atop_backend import protocol
from atop_backend.errors import SetupError

GRACE_S = 10.0  # a cancelled process that still runs after this is killed
_HIDDEN_VARIABLES = ("PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "LD_PRELOAD")
_TAIL_CHARACTERS = 400


class Job:
    """A running command of the backend.

    Exactly one terminal event comes out of `drain`, the last one; after `cancel` it is
    `Cancelled`, whatever the process still had to say.
    """

    def __init__(self, command: Sequence[str], log: Path, *, grace_s: float = GRACE_S) -> None:
        """Start the process.

        Args:
            log: Gets what it prints to stderr.

        Raises:
            SetupError: It cannot be started.
        """
        # Blender's own Python must not shape the backend's
        environment = {k: v for k, v in os.environ.items() if k not in _HIDDEN_VARIABLES}
        self._log = log
        self._grace_s = grace_s
        self._events: queue.SimpleQueue[protocol.Event] = queue.SimpleQueue()
        self._cancelled = threading.Event()
        self._ended = False
        self.started = time.monotonic()
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("wb") as stderr:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    env=environment | {"PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"},
                    cwd=log.parent,
                    text=True,
                    encoding="utf-8",
                    errors="replace",
                    start_new_session=os.name == "posix",
                    creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
                )
        except OSError as error:
            raise SetupError(
                f"the backend {command[0]} cannot be started ({error.strerror})",
                hint="check its interpreter in the add-on's preferences",
            ) from error
        self._reader = threading.Thread(target=self._read, name="atop reader", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """Process id, for messages and tests."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the process is still there."""
        return self._process.poll() is None

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.monotonic() - self.started

    def drain(self) -> list[protocol.Event]:
        """Events since the last call; a terminal one is the last of all."""
        events: list[protocol.Event] = []
        while not self._ended:
            try:
                event = self._events.get_nowait()
            except queue.Empty:
                break
            self._ended = isinstance(event, protocol.TERMINAL)
            if self._cancelled.is_set():
                if not self._ended:
                    continue  # too late to be of interest
                event = protocol.Cancelled()
            events.append(event)
        return events

    def cancel(self) -> None:
        """Ask the process to stop; it is killed if it does not within the grace."""
        if self._cancelled.is_set():
            return
        self._cancelled.set()
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        killer = threading.Timer(self._grace_s, self.kill)
        killer.daemon = True
        killer.start()

    def kill(self) -> None:
        """End the process and what it started, now."""
        if not self.running:
            return
        with suppress(ProcessLookupError, PermissionError):
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until the process is gone and all is read; False if it takes longer."""
        self._reader.join(timeout_s)
        return not self._reader.is_alive()

    def log_tail(self) -> str:
        """The end of what the process printed to stderr."""
        with suppress(OSError):
            text = self._log.read_text(encoding="utf-8", errors="replace")
            return text.strip()[-_TAIL_CHARACTERS:]
        return ""

    def _read(self) -> None:
        last: protocol.Event | None = None
        assert self._process.stdout is not None
        try:
            for line in self._process.stdout:
                if not line.strip() or isinstance(last, protocol.TERMINAL):
                    continue
                last = protocol.decode(line)
                if not isinstance(last, protocol.TERMINAL):
                    self._events.put(last)
        except ValueError as error:
            self.kill()
            last = protocol.Failed(
                f"the backend broke the protocol ({error})",
                "check that add-on and backend have the same version",
            )
        code = self._process.wait()
        if not isinstance(last, protocol.TERMINAL):
            tail = self.log_tail().splitlines()
            why = f"; it last said: {tail[-1]}" if tail else ""
            last = protocol.Failed(
                f"the backend stopped early (exit code {code}){why}", f"see {self._log}"
            )
        self._events.put(last)  # only now, so that no process is left when the job counts as over
