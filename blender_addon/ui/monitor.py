"""The queue of jobs and the timer tick that brings their events into the panel."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy

from atop_backend import protocol
from atop_backend.errors import AtopError

from ..core.job import Job
from ..core.keyframes import Easing
from ..core.request import backend_command
from ..scene.read import PickedPart
from ..scene.rig_keys import Root
from ..scene.rig_read import PickedRig
from ..scene.rig_write import Target
from . import preferences

INTERVAL_S = 0.1
KILL_AT_END_S = 2.0
LOG = "backend.log"  # in a task's folder: what the backend prints beside its events


@dataclass(frozen=True, slots=True)
class Placement:
    """What to do in the scene with the joint that comes back."""

    picked: PickedPart
    prompt: str
    frame_start: float
    duration_frames: float
    easing: Easing
    physics: bool


@dataclass(frozen=True, slots=True)
class Refit:
    """A joint that is in the scene already and is to be moved to what comes back."""

    frame_uid: int  # session id of its frame
    asset_to_rest: tuple[tuple[float, ...], ...]  # from the job's asset to the joint's rest pose


@dataclass(frozen=True, slots=True)
class MotionPlacement:
    """What to do in the scene with the motion of a rig that comes back."""

    picked: PickedRig
    prompt: str
    frame_start: float
    root: Root
    target: Target


AnyPlacement = Placement | Refit | MotionPlacement


@dataclass(frozen=True, slots=True)
class Task:
    """One command of the backend, and what it is for."""

    name: str  # for people: the part, or what is exported
    arguments: tuple[str, ...]  # of `atop`
    folder: Path  # for its log
    python: str
    time_limit_s: float
    placement: AnyPlacement | None = None  # None for a command that has nothing to write
    on_end: Callable[[bool, str], None] | None = None  # told how it went, and what it logged


_queue: deque[Task] = deque()
_task: Task | None = None
_job: Job | None = None
_overdue = False
_asked, _failures = 0, 0  # jobs since the queue was last empty, and how many of them failed
_first_failure = ""
placements: dict[str, AnyPlacement] = {}  # result file -> what to do with it


def on_rigs() -> bool:
    """Whether the latest job was about a rig, so that its section shows the run."""
    return _task is not None and isinstance(_task.placement, MotionPlacement)


def busy() -> bool:
    """Whether a job runs or waits."""
    return _job is not None or bool(_queue)


def enqueue(task: Task) -> None:
    """Start the job as soon as those before it are over."""
    global _asked, _failures
    _asked, _failures = (_asked + 1, _failures) if busy() else (1, 0)
    _queue.append(task)
    if bpy.app.background:
        return  # no event loop: the operator waits with `run_to_end`
    if not bpy.app.timers.is_registered(tick):
        bpy.app.timers.register(tick, first_interval=0.01, persistent=True)


def run_to_end(poll: Callable[[], None] = lambda: None) -> None:
    """Tick until nothing is left, for scripts and `blender -b`."""
    while tick() is not None:
        poll()
        time.sleep(INTERVAL_S / 5)


def cancel(*, all_jobs: bool = True) -> None:
    """Stop the running job, and drop those that wait."""
    if all_jobs:
        _queue.clear()
    if _job is not None:
        _job.cancel()
    elif not _queue:
        _show(running=False)


def tick() -> float | None:
    """Show new events in the panel; None ends the timer."""
    global _job
    if _job is None and _queue:
        _start(_queue.popleft())
    if _job is not None:
        _check_time()
        for event in _job.drain():
            _take(event)
            if isinstance(event, protocol.TERMINAL):
                _tell_end(isinstance(event, protocol.Finished))
    if _job is not None:
        state().seconds = _job.seconds
    state().queued = len(_queue)
    if not busy() and _failures and _asked > 1:
        _show(failed=True, message=f"{_failures} of {_asked} failed; {_first_failure}")
    redraw()
    return INTERVAL_S if busy() else None


def _start(task: Task) -> None:
    global _job, _task, _overdue
    _task, _overdue = task, False
    _show(running=True, failed=False, part=task.name, stage="start", fraction=0.0)
    _show(seconds=0.0, seconds_left=-1.0, message="", hint="")
    try:
        command = backend_command(task.python, *task.arguments, "--events", "jsonl")
        _job = Job(command, task.folder / LOG)
    except AtopError as error:
        _take(protocol.Failed(error.message, error.hint))
        _tell_end(False)


def _tell_end(good: bool) -> None:
    if _task is None or _task.on_end is None:
        return
    text = ""
    with suppress(OSError):
        text = (_task.folder / LOG).read_text(encoding="utf-8", errors="replace")
    _task.on_end(good, text.strip())


def _check_time() -> None:
    global _overdue
    assert _job is not None
    assert _task is not None
    if _job.seconds > _task.time_limit_s and not _overdue:
        _overdue = True
        _job.cancel()


def _take(event: protocol.Event) -> None:
    global _job
    match event:
        case protocol.Progress(stage, _, _, fraction):
            assert _job is not None
            left = _job.seconds * (1 - fraction) / fraction if fraction > 0.02 else -1.0
            _show(stage=stage, fraction=fraction, seconds_left=left)
        case protocol.Finished(result, sentence):
            _job = None
            _show(running=False, fraction=1.0, message=sentence)
            if _task is not None and _task.placement is not None:
                _write_back(result, _task.placement)
        case protocol.Failed(message, hint):
            _job = None
            _show(running=False)
            note_failure(message, hint)
        case protocol.Cancelled():
            _job = None
            _show(running=False, failed=False, message="cancelled", hint="")
            if _overdue and _task is not None:
                late = f"it took longer than {_task.time_limit_s:g} seconds"
                note_failure(late, "raise the time limit in the preferences")


def _write_back(result: str, placement: AnyPlacement) -> None:
    """Through an operator, so that it is one undo step."""
    placements[result] = placement
    rigs = isinstance(placement, MotionPlacement)
    write = bpy.ops.atop.write_motion if rigs else bpy.ops.atop.write_result
    try:
        write("EXEC_DEFAULT", True, result=result)
    except RuntimeError as error:  # how an operator that reports an error arrives here
        if not state().failed:  # a bug of ours: the operator explains what it expects by itself
            note_failure(str(error).strip(), f"the result stays in {Path(result).parent}")


def note_failure(message: str, hint: str) -> None:
    """Show what went wrong with the job, and remember it while others follow."""
    global _failures, _first_failure
    name = _task.name if _task is not None else ""
    _first_failure = f"{name}: {message}" if not _failures else _first_failure
    _failures += 1
    _show(message=message, hint=hint, failed=True)


def note_result(message: str, hint: str = "") -> None:
    """Show what came out."""
    _show(message=message, hint=hint, failed=False)


def state() -> bpy.types.PropertyGroup:
    """The run state of the panel, looked up anew because loading a file replaces it."""
    return bpy.context.window_manager.atop_job


def _show(**values: object) -> None:
    current = state()
    for name, value in values.items():
        setattr(current, name, value)


def redraw() -> None:
    """Redraw the sidebars that may show the panel."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in ("VIEW_3D", "PREFERENCES"):
                area.tag_redraw()


def placement_of(result: str) -> Any:
    """What to do with a result, as its task said; `AtopError` if it is of another session."""
    if result not in placements:
        raise AtopError(
            f"the job of {result} was not started in this session",
            hint="articulate the part again",
        )
    return placements[result]


def read_result(result: str) -> dict:
    """The content of a result.json."""
    try:
        return json.loads(Path(result).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise AtopError(
            f"the result {result} cannot be read ({error})", hint="articulate the part again"
        ) from error


def register():
    preferences.get(bpy.context)  # fails early where the add-on is not enabled as one


def unregister():
    """End the running job: no process and no timer outlives the add-on."""
    global _job
    _queue.clear()
    if bpy.app.timers.is_registered(tick):
        bpy.app.timers.unregister(tick)
    if _job is not None:
        _job.cancel()
        if not _job.wait(KILL_AT_END_S):
            _job.kill()
        _job = None
    placements.clear()
