"""How operators end: an error with its remedy, or a wait where there is no event loop."""

from collections.abc import Callable
from pathlib import Path

import bpy

from atop_backend.errors import AtopError

from . import monitor


def explain(operator: bpy.types.Operator, error: AtopError) -> set[str]:
    """Report what went wrong and what to do about it."""
    operator.report({"ERROR"}, str(error))
    return {"CANCELLED"}


def put_in(
    operator: bpy.types.Operator, result: str, write: Callable[[], tuple[str, str]]
) -> set[str]:
    """Put a finished job's result into the scene, and say in the panel what came of it.

    Args:
        result: Path of the result; its folder is named where writing fails.
        write: Returns the sentence for the artist, and what else is good to know.
    """
    try:
        message, hint = write()
    except AtopError as error:
        where = f"the result stays in {Path(result).parent}"
        monitor.note_failure(error.message, f"{error.hint}; {where}")
        return explain(operator, error)
    monitor.note_result(message, hint)
    operator.report({"INFO"}, message)
    return {"FINISHED"}


def finish_in_background(operator: bpy.types.Operator, context) -> set[str]:
    """Without a window there is no event loop, so wait for the jobs here."""
    if not bpy.app.background:
        return {"FINISHED"}
    monitor.run_to_end()
    state = context.window_manager.atop_job
    if state.failed:
        operator.report({"ERROR"}, f"{state.message}: {state.hint}")
        return {"CANCELLED"}
    return {"FINISHED"}
