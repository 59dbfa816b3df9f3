"""Starts Blender on one of our scripts, watches it, and believes only the files it leaves.

Blender is a program when one is given, else a Python that has the bpy module: the one named by
`ATOP_BLENDER_PYTHON`, or this one.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from atop_backend.errors import CancelledError, InputError, SetupError
from atop_backend.rendering.child import OUTCOME

PYTHON_VARIABLE = "ATOP_BLENDER_PYTHON"
LOG = "blender.log"
_TICK_S = 0.05
_TAIL_CHARACTERS = 1500


def run_in_blender(
    script: Path,
    request: dict[str, Any],
    out: Path,
    *,
    blender: str = "",
    time_limit_s: float,
    watch: Callable[[], None] = lambda: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """What a script built on `child.run` reports as its outcome.

    The process and all that it started is dead when this returns or raises.

    Args:
        request: Its "command" names the function; the rest is that function's own. JSON.
        out: An existing folder for the files of the run, with the request, outcome and log.
        blender: A Blender program, or empty for a Python with bpy.
        watch: Called about twenty times a second while Blender runs.

    Raises:
        InputError, SetupError: As the script says; or Blender is missing, crashed or hung.
        CancelledError: `cancelled` said so.
    """
    request_path = out / "blender_request.json"
    request_path.write_text(json.dumps(request), encoding="utf-8")
    (out / OUTCOME).unlink(missing_ok=True)
    with (out / LOG).open("wb") as log, tempfile.TemporaryDirectory() as resources:
        process = _start(_command(blender, script, request_path), log, resources)
        try:
            code = _wait(process, out, time_limit_s, watch, cancelled)
        finally:
            _kill(process)
    return _outcome(out, code)


def _command(blender: str, script: Path, request: Path) -> list[str]:
    if blender:
        program = shutil.which(blender)
        if program is None:
            raise SetupError(
                f"Blender was not found at {blender}",
                hint="check --blender, or leave it out to use the bpy module",
            )
        flags = ["-b", "--factory-startup", "--python-exit-code", "3"]
        return [program, *flags, "-P", str(script), "--", str(request)]
    python = os.environ.get(PYTHON_VARIABLE, sys.executable)
    if shutil.which(python) is None:
        raise SetupError(
            f"there is no Python at {python}", hint=f"set {PYTHON_VARIABLE} to one that has bpy"
        )
    return [python, str(script), str(request)]


def _start(command: list[str], log: Any, resources: str) -> subprocess.Popen:
    # No settings and add-ons of the user: the same picture on every machine. Blender, which leaves
    # at once, would also leave its temporary folder behind wherever that is.
    own = dict.fromkeys(("BLENDER_USER_RESOURCES", "TMPDIR", "TEMP", "TMP"), resources)
    environment = {**os.environ, **own, "PYTHONUNBUFFERED": "1"}
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            start_new_session=os.name == "posix",
        )
    except OSError as error:
        raise SetupError(
            f"{command[0]} cannot be started ({error.strerror})",
            hint="check that it is Blender 4.2 or newer for this machine",
        ) from error


def _wait(
    process: subprocess.Popen,
    out: Path,
    time_limit_s: float,
    watch: Callable[[], None],
    cancelled: Callable[[], bool],
) -> int | None:
    """The exit code, or None where the outcome is there but the process does not end."""
    end = time.monotonic() + time_limit_s
    while process.poll() is None:
        if (out / OUTCOME).exists():
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=5.0)  # bpy 4.5 can hang while it ends
            return process.poll()
        if cancelled():
            raise CancelledError
        if time.monotonic() > end:
            raise SetupError(
                f"Blender did not finish within {time_limit_s:g} seconds; it last said:"
                f" {_log_tail(out)}",
                hint="raise render.time_limit_s, or give a lighter object",
            )
        watch()
        time.sleep(_TICK_S)
    watch()
    return process.returncode


def _kill(process: subprocess.Popen) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def _outcome(out: Path, code: int | None) -> dict[str, Any]:
    path = out / OUTCOME
    if not path.exists():
        how = f"was killed by signal {-code}" if code and code < 0 else f"ended with code {code}"
        raise SetupError(
            f"Blender {how} and left no result; it last said: {_log_tail(out)}",
            hint="check that the file opens in Blender, and that Blender is 4.2 or newer",
        )
    outcome = json.loads(path.read_text(encoding="utf-8"))
    if "error" not in outcome:
        return outcome
    if outcome["error"] == "bug":
        raise RuntimeError(f"the Blender script failed:\n{outcome['message']}")
    kind = {"InputError": InputError, "SetupError": SetupError}[outcome["error"]]
    raise kind(outcome["message"], outcome["hint"])


def _log_tail(out: Path) -> str:
    text = (out / LOG).read_text(encoding="utf-8", errors="replace").strip()
    return text[-_TAIL_CHARACTERS:] or "nothing"
