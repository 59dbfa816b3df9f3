"""The child's side of a script that runs inside Blender: a request file in, an outcome file out.

A script calls `run` with its commands. Blender may hang or crash when Python ends with something
still registered, so the outcome is a file, and the process leaves at once after writing it.
Standard library only.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from atop_backend.errors import AtopError, SetupError

OUTCOME = "outcome.json"
LOWEST_BLENDER = (4, 2, 0)
Command = Callable[[dict[str, Any], Path], dict[str, Any]]


def run(commands: Mapping[str, Command]) -> NoReturn:
    """Carry out the request whose path is the last argument, and end the process.

    Args:
        commands: Name -> function of (request, output folder) that returns the outcome.
    """
    path = Path(sys.argv[-1])
    request = json.loads(path.read_text(encoding="utf-8"))
    out, code = path.parent, 0
    try:
        check_blender()
        outcome = commands[request["command"]](request, out)
    except AtopError as error:
        outcome = {"error": type(error).__name__, "message": error.message, "hint": error.hint}
        code = error.exit_code
    except Exception:  # reported to the parent, which raises it as a bug with this traceback
        outcome, code = {"error": "bug", "message": traceback.format_exc()}, 1
    aside = out / f".{OUTCOME}.partial"
    aside.write_text(json.dumps(outcome), encoding="utf-8")
    aside.replace(out / OUTCOME)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def check_blender() -> None:
    """Raise `SetupError` unless this Python has a Blender that is new enough."""
    lowest = ".".join(map(str, LOWEST_BLENDER[:2]))
    try:
        import bpy
    except ImportError as error:
        raise SetupError(
            f"{sys.executable} has no Blender module ({error})",
            hint="pip install 'bpy>=4.2,<5.1', or give --blender PROGRAM",
        ) from error
    if bpy.app.version < LOWEST_BLENDER:
        raise SetupError(
            f"Blender {bpy.app.version_string} is too old", hint=f"use Blender {lowest} or newer"
        )
