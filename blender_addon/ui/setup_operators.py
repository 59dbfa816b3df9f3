"""Looking after the installation: the backend's health and the cache of jobs."""

import shutil

import bpy

from . import monitor, preferences
from .outcome import finish_in_background

CHECK_LIMIT_S = 120


class ATOP_OT_check_backend(bpy.types.Operator):
    """Ask the backend for its versions, device, weights and Blender, and what is missing"""

    bl_idname = "atop.check_backend"
    bl_label = "Check Backend"

    def execute(self, context):
        options = preferences.get(context)
        arguments = ["doctor", "--device", options.device or "auto"]
        if bpy.app.binary_path:
            arguments += ["--blender", bpy.app.binary_path]
        options.report = "Asking the backend ..."
        monitor.enqueue(
            monitor.Task(
                "Backend",
                tuple(arguments),
                preferences.cache_folder(context) / "doctor",
                options.python,
                CHECK_LIMIT_S,
                on_end=show_findings,
            )
        )
        return finish_in_background(self, context)


def show_findings(good: bool, log: str) -> None:
    """Put what the backend found about itself into the preferences, line by line."""
    options, state = preferences.get(bpy.context), monitor.state()
    if "No module named" in log:
        state.message = f"{options.python} has no atop-backend"
        state.hint, log = "run scripts/setup.sh and set its Python here", ""
    if not good and "BAD" not in log:
        log = f"BAD {state.message}\n -> {state.hint}\n{log}"
    options.report = log.strip()


class ATOP_OT_copy_setup_command(bpy.types.Operator):
    """Copy the command that installs the backend; run it in a terminal in the project's folder"""

    bl_idname = "atop.copy_setup_command"
    bl_label = "Copy Set-up Command"

    def execute(self, context):
        context.window_manager.clipboard = preferences.SETUP_COMMAND
        self.report({"INFO"}, f"Copied: {preferences.SETUP_COMMAND}")
        return {"FINISHED"}


class ATOP_OT_measure_cache(bpy.types.Operator):
    """Say how much the jobs take on the disk"""

    bl_idname = "atop.measure_cache"
    bl_label = "Measure"

    def execute(self, context):
        folder = preferences.cache_folder(context)
        files, size = preferences.cache_size(folder)
        preferences.get(context).cache_note = f"{size / 1e6:.1f} MB in {files} files, {folder}"
        return {"FINISHED"}


class ATOP_OT_clear_cache(bpy.types.Operator):
    """Delete all finished jobs with their videos; joints in scenes stay"""

    bl_idname = "atop.clear_cache"
    bl_label = "Clear"

    @classmethod
    def poll(cls, context):
        cls.poll_message_set("A job is running")
        return not monitor.busy()

    def invoke(self, context, event):
        return context.window_manager.invoke_confirm(self, event)

    def execute(self, context):
        for request in preferences.cache_folder(context).glob("*/request.json"):
            shutil.rmtree(request.parent, ignore_errors=True)  # only folders that are ours
        return bpy.ops.atop.measure_cache()


CLASSES = (
    ATOP_OT_check_backend,
    ATOP_OT_copy_setup_command,
    ATOP_OT_measure_cache,
    ATOP_OT_clear_cache,
)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
