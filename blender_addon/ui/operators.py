# pyright: reportInvalidTypeForm=false
"""Starting, cancelling and writing back a job; the set-up of the backend."""

import shutil
import subprocess
from pathlib import Path

import bpy
import numpy as np
from bpy.props import StringProperty

from atop_backend.contracts import JobResult, JointMotion
from atop_backend.errors import AtopError
from atop_backend.prompt_amount import prompt_amount

from ..core import request as requests
from ..core.keyframes import seconds_to_frames
from ..scene import convert, edit, pick, read, write
from ..scene.record import articulation_of
from . import monitor, preferences, props

CHECK_LIMIT_S = 120


def explain(operator: bpy.types.Operator, error: AtopError) -> set[str]:
    """Report what went wrong and what to do about it."""
    operator.report({"ERROR"}, str(error))
    return {"CANCELLED"}


def why_not_now(context: bpy.types.Context) -> str:
    """Why a part cannot be articulated now; empty if it can. Cheap, panels ask in every draw."""
    settings = context.scene.atop
    if not preferences.get(context).python:
        return "Set the backend's Python in the add-on's preferences first"
    active = context.view_layer.objects.active
    if settings.source == "OBJECTS":
        return "" if context.selected_objects or active else "Select the object that should move"
    if active is None or active.type != "MESH":
        return "Click the mesh object that has the part"
    if settings.source != "FACES" and not props.name_of_faces(settings):
        return f"Choose the {settings.source.replace('_', ' ').lower()} that is the part"
    return ""


class ATOP_OT_articulate(bpy.types.Operator):
    """Find the joint of the part from the prompt and animate it"""

    bl_idname = "atop.articulate"
    bl_label = "Articulate Part"
    bl_options = {"REGISTER"}

    prompt: StringProperty(
        name="Prompt", description="Instead of the one in the panel", options={"SKIP_SAVE"}
    )

    @classmethod
    def poll(cls, context):
        reason = why_not_now(context)
        cls.poll_message_set(reason)
        return not reason

    def execute(self, context):
        if self.prompt:
            context.scene.atop.prompt = self.prompt
        try:
            for parts in chosen_parts(context):
                monitor.enqueue(make_task(context, parts))
        except AtopError as error:
            return explain(self, error)
        return finish_in_background(self, context)


def chosen_parts(context: bpy.types.Context) -> list[list]:
    """The parts of each job that the panel's choices make."""
    settings = context.scene.atop
    parts = pick.pick_parts(context, settings.source, props.name_of_faces(settings), settings.way)
    return [parts] if settings.together else [[part] for part in parts]


def make_task(
    context: bpy.types.Context, parts: list, near: JointMotion | None = None
) -> monitor.Task:
    """Write the scene copy of one job and describe the job."""
    settings, options = context.scene.atop, preferences.get(context)
    requests.backend_command(options.python)
    choices = props.choices(settings, context)
    folder = new_folder(preferences.cache_folder(context), pick.owner(parts[0]).name)
    context.window_manager.progress_begin(0, 1)
    try:
        requests.build_request(choices, folder, ("?",), folder)  # refuse before the work
        asset, selectors, picked = read.write_scene_copy(context, parts, folder)
    finally:
        context.window_manager.progress_end()
    request = requests.build_request(choices, asset, selectors, folder / "job")
    requests.write_request(request, folder / "request.json")
    render = context.scene.render
    seconds = prompt_amount(settings.prompt).seconds or settings.seconds
    placement = monitor.Placement(
        picked,
        settings.prompt,
        settings.frame_start,
        seconds_to_frames(seconds, render.fps, render.fps_base),
        settings.easing,
        settings.physics,
        near,
    )
    arguments = ("articulate", "--request", str(folder / "request.json"))
    return monitor.Task(
        picked.name, arguments, folder, options.python, options.time_limit_s, placement
    )


def new_folder(cache: Path, name: str) -> Path:
    """A folder for a job that is not there yet."""
    plain = "".join(c if c.isalnum() else "_" for c in name)[:40].strip("_") or "part"
    number = 1
    while (cache / f"{plain}-{number:03d}").exists():
        number += 1
    return cache / f"{plain}-{number:03d}"


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


class ATOP_OT_write_result(bpy.types.Operator):
    """Give the part the joint that a finished job found"""

    bl_idname = "atop.write_result"
    bl_label = "Articulate Part"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    result: StringProperty(name="Result", subtype="FILE_PATH", options={"SKIP_SAVE"})

    def execute(self, context):
        try:
            message = write_back(context, self.result)
        except AtopError as error:
            return explain(self, error)
        monitor.note_result(message)
        self.report({"INFO"}, message)
        return {"FINISHED"}


def write_back(context: bpy.types.Context, result_path: str) -> str:
    """Write the joint of a result into the scene; returns the sentence for the artist."""
    placement = monitor.placement_of(result_path)
    result = JobResult.from_dict(monitor.read_result(result_path))
    parts = read.find_parts(placement.picked)
    moved = read.moved_since(context, parts, placement.picked)
    answers = [result.best, *result.alternatives]
    answers = [
        type(a)(convert.transform_joint(a.joint, moved), a.confidence, a.sentence) for a in answers
    ]
    if placement.near is not None:
        near = np.array(placement.near.axis)
        answers.sort(key=lambda a: -float(np.dot(a.joint.axis, near)))
    body = edit.physics_body(context, parts) if placement.physics else None
    articulation = write.write_joint(
        context,
        parts,
        answers[0].joint,
        frame_start=placement.frame_start,
        duration_frames=placement.duration_frames,
        easing=placement.easing,
        physics_body=body,
    )
    folder = str(Path(result_path).parent)
    edit.keep_answers(articulation, answers, folder, placement.prompt)
    return answers[0].sentence


class ATOP_OT_cancel(bpy.types.Operator):
    """Stop the running job and drop those that wait; nothing in the scene changes"""

    bl_idname = "atop.cancel"
    bl_label = "Cancel"

    @classmethod
    def poll(cls, context):
        cls.poll_message_set("Nothing is running")
        return monitor.busy()

    def execute(self, context):
        monitor.cancel()
        return {"FINISHED"}


class ATOP_OT_refit(bpy.types.Operator):
    """Search again with another seed and keep the answer that is nearest to the present axis"""

    bl_idname = "atop.refit"
    bl_label = "Re-fit From Here"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context):
        found = articulation_of(context.view_layer.objects.active)
        cls.poll_message_set("Select a part that has been articulated")
        return found is not None and "job" in found.data

    def execute(self, context):
        found = articulation_of(context.view_layer.objects.active)
        settings = context.scene.atop
        kept = settings.prompt, settings.motion, settings.seed
        joint = edit.joint_now(found)  # type: ignore[arg-type]
        settings.prompt = found.data["prompt"]
        settings.motion = "hinge" if joint.kind == "revolute" else "slider"
        settings.seed += 1
        try:
            parts = edit.parts_again(found)  # type: ignore[arg-type]
            monitor.enqueue(make_task(context, parts, near=joint))
        except AtopError as error:
            return explain(self, error)
        finally:
            settings.prompt, settings.motion = kept[:2]
        return finish_in_background(self, context)


class ATOP_OT_example(bpy.types.Operator):
    """Use this prompt"""

    bl_idname = "atop.example"
    bl_label = "Example"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    prompt: StringProperty(name="Prompt", options={"SKIP_SAVE"})

    def execute(self, context):
        context.scene.atop.prompt = self.prompt
        return {"FINISHED"}


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
    ATOP_OT_articulate,
    ATOP_OT_write_result,
    ATOP_OT_cancel,
    ATOP_OT_refit,
    ATOP_OT_example,
    ATOP_OT_check_backend,
    ATOP_OT_copy_setup_command,
    ATOP_OT_measure_cache,
    ATOP_OT_clear_cache,
)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
