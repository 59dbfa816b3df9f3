"""How operators end: an error with its remedy, or a wait where there is no event loop."""

import bpy

from atop_backend.errors import AtopError

from . import monitor


def explain(operator: bpy.types.Operator, error: AtopError) -> set[str]:
    """Report what went wrong and what to do about it."""
    operator.report({"ERROR"}, str(error))
    return {"CANCELLED"}


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
