# pyright: reportInvalidTypeForm=false
"""Starting and cancelling a job."""

from dataclasses import replace
from pathlib import Path

import bpy
from bpy.props import StringProperty

from atop_backend.contracts import JointMotion
from atop_backend.errors import AtopError
from atop_backend.prompt_amount import prompt_amount

from ..core import request as requests
from ..core.keyframes import seconds_to_frames
from ..scene import pick, read
from . import monitor, preferences, props
from .outcome import explain, finish_in_background


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
        tasks: list[monitor.Task] = []
        progress = context.window_manager
        progress.progress_begin(0, 1)
        try:
            jobs = chosen_parts(context)
            for done, parts in enumerate(jobs):
                progress.progress_update(done / len(jobs))
                tasks.append(make_task(context, parts))
        except AtopError as error:
            return explain(self, error)
        finally:
            progress.progress_end()
        for task in tasks:
            monitor.enqueue(task)
        return finish_in_background(self, context)


def chosen_parts(context: bpy.types.Context) -> list[list]:
    """The parts of each job that the panel's choices make."""
    settings = context.scene.atop
    parts = pick.pick_parts(context, settings.source, props.name_of_faces(settings), settings.way)
    return [parts] if settings.together else [[part] for part in parts]


def make_task(context: bpy.types.Context, parts: list[pick.Part]) -> monitor.Task:
    """Write the scene copy of one job and describe the job."""
    settings, options = context.scene.atop, preferences.get(context)
    folder, picked = write_job(context, parts, props.choices(settings, context))
    render = context.scene.render
    seconds = prompt_amount(settings.prompt).seconds or settings.seconds
    placement = monitor.Placement(
        picked,
        settings.prompt,
        settings.frame_start,
        seconds_to_frames(seconds, render.fps, render.fps_base),
        settings.easing,
        settings.physics,
    )
    return monitor.Task(
        picked.name, arguments_for(folder), folder, options.python, options.time_limit_s, placement
    )


def write_job(
    context: bpy.types.Context,
    parts: list[pick.Part],
    choices: requests.Choices,
    initial: JointMotion | None = None,
) -> tuple[Path, read.PickedPart]:
    """A new job folder with scene copy and request in it, and the parts by name.

    Args:
        initial: A joint for the backend to start from, in the world as it is now.
    """
    options = preferences.get(context)
    requests.backend_command(options.python)
    folder = new_folder(preferences.cache_folder(context), pick.owner(parts[0]).name)
    requests.build_request(choices, folder, ("?",), folder)  # refuse before the work
    asset, selectors, picked = read.write_scene_copy(context, parts, folder)
    request = requests.build_request(choices, asset, selectors, folder / "job")
    requests.write_request(replace(request, initial=initial), folder / "request.json")
    return folder, picked


def arguments_for(folder: Path) -> tuple[str, ...]:
    """The command that carries out the request in a job folder."""
    return ("articulate", "--request", str(folder / "request.json"))


def new_folder(cache: Path, name: str) -> Path:
    """A folder for a job that is not there yet."""
    plain = "".join(c if c.isalnum() else "_" for c in name)[:40].strip("_") or "part"
    number = 1
    while (cache / f"{plain}-{number:03d}").exists():
        number += 1
    return cache / f"{plain}-{number:03d}"


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


class ATOP_OT_example(bpy.types.Operator):
    """Use this prompt"""

    bl_idname = "atop.example"
    bl_label = "Example"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    prompt: StringProperty(name="Prompt", options={"SKIP_SAVE"})

    def execute(self, context):
        context.scene.atop.prompt = self.prompt
        return {"FINISHED"}


CLASSES = (ATOP_OT_articulate, ATOP_OT_cancel, ATOP_OT_example)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
