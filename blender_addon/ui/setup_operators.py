"""Looking after the installation: the backend's health and the cache of jobs."""

import shutil
import subprocess

import bpy

from atop_backend.errors import AtopError

from ..core import request as requests
from . import monitor, preferences
from .outcome import explain

CHECK_LIMIT_S = 120


class ATOP_OT_check_backend(bpy.types.Operator):
    """Ask the backend for its versions, device, weights and Blender, and what is missing"""

    bl_idname = "atop.check_backend"
    bl_label = "Check Backend"

    def execute(self, context):
        options = preferences.get(context)
        try:
            ok, options.report = examine(options.python, options.device)
        except AtopError as error:
            options.report = f"BAD {error.message}\n -> {error.hint}"
            return explain(self, error)
        self.report({"INFO" if ok else "WARNING"}, options.report.splitlines()[-1].strip())
        return {"FINISHED"}


def examine(python: str, device: str) -> tuple[bool, str]:
    """Whether the backend has all it needs, and its findings line by line."""
    command = requests.backend_command(python, "doctor", "--device", device or "auto")
    if bpy.app.binary_path:
        command += ["--blender", bpy.app.binary_path]
    try:
        answer = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=CHECK_LIMIT_S,
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise AtopError(f"the backend does not answer ({error})", "run scripts/setup.sh") from error
    if "No module named" in answer.stderr:
        raise AtopError(f"{python} has no atop-backend", "run scripts/setup.sh and use its Python")
    findings = answer.stdout.strip() or answer.stderr.strip() or "no answer"
    return answer.returncode == 0, findings


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
