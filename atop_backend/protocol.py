"""Events of a running job and their form on the wire: one strict JSON object a line.

Every run ends in exactly one of `Finished`, `Failed` and `Cancelled`. Standard library only.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

VERSION = 1


@dataclass(frozen=True, slots=True)
class Progress:
    """Step `step` of `total` in a stage is done; `fraction` is that of the whole job."""

    stage: str
    step: int
    total: int
    fraction: float


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file that can be looked at has been written."""

    name: str
    path: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The job is done; `result` names its `result.json` (empty for a stage run alone)."""

    result: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The job failed for a reason; `code` is the exit code that goes with it."""

    message: str
    hint: str = ""
    code: int = 1


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The user stopped the job; nothing half-written is left."""


Event = Progress | Artifact | Finished | Failed | Cancelled
TERMINAL = (Finished, Failed, Cancelled)
_BY_TYPE: dict[str, type] = {
    kind.__name__.lower(): kind for kind in (Progress, Artifact, Finished, Failed, Cancelled)
}


def encode(event: Event) -> str:
    """The event as one line of strict JSON, without the line break."""
    data = {"v": VERSION, "type": type(event).__name__.lower(), **asdict(event)}
    return json.dumps(data, allow_nan=False, ensure_ascii=True)


def decode(line: str) -> Event:
    """The event on a line; `ValueError` if the line is not one."""

    def no_constant(name: str) -> Any:
        raise ValueError(f"{name} is not JSON")

    data = json.loads(line, parse_constant=no_constant)
    if not isinstance(data, dict) or data.pop("v", None) != VERSION:
        raise ValueError(f"not an event of protocol version {VERSION}: {line[:80]!r}")
    kind = _BY_TYPE.get(data.pop("type", ""))
    if kind is None:
        raise ValueError(f"unknown event type: {line[:80]!r}")
    try:
        return kind(**data)
    except TypeError as error:
        raise ValueError(f"event has the wrong fields: {line[:80]!r}") from error


def claim_stdout() -> Callable[[Event], None]:
    """Keep fd 1 for events alone: whatever else prints goes to stderr from now on."""
    wire = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return lambda event: print(encode(event), file=wire)
