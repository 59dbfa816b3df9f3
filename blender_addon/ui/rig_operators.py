# pyright: reportInvalidTypeForm=false
"""Animating a rig: start the job, write its motion, take it back, look at its video."""

from dataclasses import replace
from pathlib import Path

import bpy
from bpy.props import BoolProperty, StringProperty

from atop_backend.contracts import AnimateRequest
from atop_backend.errors import AtopError, InputError

from ..core import request as requests
from ..core.rig_motion import read_motion
from ..scene import rig_read, rig_write
from . import monitor, preferences, preview, rig_props
from .operators import new_folder
from .outcome import explain, finish_in_background, put_in


def why_not_now(context: bpy.types.Context) -> str:
    """Why there is no rig to animate now; empty if there is. Cheap, panels ask in every draw."""
    if not preferences.get(context).python:
        return "Set the backend's Python in the add-on's preferences first"
    armature = rig_read.rig_of(context.view_layer.objects.active)
    if armature is None and not (bpy.app.background and rig_read.rigs_in(context.scene)):
        return "Click a mesh that is bound to an armature, or the armature"
    if armature is not None and armature.library is not None:
        return "Make a library override of the linked rig first"
    return ""


class ATOP_OT_animate_rig(rig_props.RigChoices, bpy.types.Operator):
    """Find a motion of the rig for the prompt or the video, and write its keyframes"""

    bl_idname = "atop.animate_rig"
    bl_label = "Animate Rig"
    bl_options = {"REGISTER"}

    armature: StringProperty(
        name="Armature",
        description="Its name, instead of the active object's; without a window, the only one",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context):
        reason = why_not_now(context)
        cls.poll_message_set(reason)
        return not reason

    def execute(self, context):
        rig_props.take_over(context.scene.atop_rig, self)
        try:
            monitor.enqueue(make_task(context, self.armature))
        except AtopError as error:
            return explain(self, error)
        return finish_in_background(self, context)


def make_task(context: bpy.types.Context, name: str) -> monitor.Task:
    """Write the copy of the rig and the request, and describe the job.

    Args:
        name: Of the armature; empty for that of the active object.
    """
    settings, options = context.scene.atop_rig, preferences.get(context)
    requests.backend_command(options.python)
    armature = rig_read.require_rig(chosen_object(context, name))
    folder = new_folder(preferences.cache_folder(context), armature.name)
    request = build_request(context, armature, folder)  # refuse before the work
    if settings.use_camera and request.videos:
        camera = rig_read.write_camera(context.scene, request.videos[0], folder / "cameras.json")
        request = replace(request, cameras=camera)
    _, picked = rig_read.write_rig_copy(context, armature, folder)
    requests.write_request(request, folder / "request.json")
    placement = monitor.MotionPlacement(
        picked, settings.prompt, settings.frame_start, settings.root, settings.target
    )
    arguments = ("animate", "--request", str(folder / "request.json"))
    return monitor.Task(
        armature.name, arguments, folder, options.python, options.time_limit_s, placement
    )


def chosen_object(context: bpy.types.Context, name: str) -> bpy.types.Object | None:
    """The object of that name, else the active one; without a window, else the only rig.

    Raises:
        InputError: There is no such object, or several rigs to choose from.
    """
    objects = context.view_layer.objects
    if name and name not in objects:
        raise InputError(f"there is no object {name!r}", hint="name an armature of this scene")
    if name or rig_read.rig_of(objects.active) is not None:
        return objects[name] if name else objects.active
    rigs = rig_read.rigs_in(context.scene) if bpy.app.background else []
    if len(rigs) > 1:
        listed = ", ".join(ob.name for ob in rigs)
        raise InputError(f"there are {len(rigs)} rigs: {listed}", hint="name the armature")
    return rigs[0] if rigs else objects.active


def build_request(
    context: bpy.types.Context, armature: bpy.types.Object, folder: Path
) -> AnimateRequest:
    """What the panel says, as the backend takes it.

    Raises:
        InputError: There is neither prompt nor video, or no bone is selected.
    """
    settings, options = context.scene.atop_rig, preferences.get(context)
    render = context.scene.render
    video = Path(bpy.path.abspath(settings.video)) if settings.video else None
    if video is not None and not video.exists():
        raise InputError(f"there is no video {video}", hint="choose another file or none")
    bones = rig_read.selected_bones(armature) if settings.only_selected else ()
    if settings.only_selected and not bones:
        raise InputError(
            f"no bone of {armature.name!r} is selected",
            hint="select bones in pose mode, or switch Only Selected Bones off",
        )
    return AnimateRequest(
        asset=folder / "scene.blend",
        prompt=settings.prompt,
        out=folder / "job",
        armature=armature.name,
        bones=bones,
        videos=(video,) if video is not None else (),
        weights=Path(bpy.path.abspath(settings.weights)) if settings.weights else None,
        frames=settings.frames,
        fps=settings.fps or render.fps / render.fps_base,
        cyclic=settings.loop,
        seed=settings.seed,
        device=options.device or "auto",
        blender=bpy.app.binary_path,
        overrides=(
            "animate.scene=false",  # the add-on writes the keyframes into the scene itself
            f"animate.time_limit_s={options.time_limit_s:d}",
        ),
    )


class ATOP_OT_write_motion(bpy.types.Operator):
    """Give the rig the motion that a finished job found"""

    bl_idname = "atop.write_motion"
    bl_label = "Animate Rig"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    result: StringProperty(name="Result", subtype="FILE_PATH", options={"SKIP_SAVE"})

    def execute(self, context):
        return put_in(self, self.result, lambda: write_back(context, self.result))


def write_back(context: bpy.types.Context, result_path: str) -> tuple[str, str]:
    """Write the motion of a result; returns its sentence, and what else the artist should know."""
    placement: monitor.MotionPlacement = monitor.placement_of(result_path)
    result, job = monitor.read_result(result_path), Path(result_path).parent
    armature = rig_read.find_rig(placement.picked)
    motion = read_motion(job / result["files"]["motion"])
    world, moved = rig_read.world_now(armature, placement.picked)
    said = rig_write.write_motion(
        context,
        armature,
        motion,
        frame_start=float(placement.frame_start),
        root=placement.root,
        target=placement.target,
        world=world,
        moved=moved,
        notes={"job": str(job), "prompt": placement.prompt, "sentence": result["sentence"]},
    )
    return result["sentence"], "; ".join([*result.get("notes", ()), *([said] if said else [])])


class MotionOperator:
    """An operator on the latest motion of the active rig; greyed where there is none."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        cls.poll_message_set("Select a rig that has been animated from here")
        return rig_write.has_motion(rig_read.rig_of(context.view_layer.objects.active))

    def execute(self, context):
        armature = rig_read.rig_of(context.view_layer.objects.active)
        try:
            message = self.change(context, armature)
        except AtopError as error:
            return explain(self, error)
        self.report({"INFO"}, message)
        return {"FINISHED"}


class ATOP_OT_revert_motion(MotionOperator, bpy.types.Operator):
    """Take back the latest motion: its keyframes go, what was there before plays again"""

    bl_idname = "atop.revert_motion"
    bl_label = "Revert Motion"

    def change(self, context, armature):
        rig_write.revert(context, armature)
        return f"{armature.name} is as it was"


class ATOP_OT_show_motion(MotionOperator, bpy.types.Operator):
    """Play the video of the motion beside the viewport, in step with the timeline"""

    bl_idname = "atop.show_motion"
    bl_label = "Show Preview"
    bl_options = {"REGISTER"}

    new_window: BoolProperty(
        name="New Window", description="Instead of the largest other area", default=True
    )

    def change(self, context, armature):
        job = Path(rig_write.layers_of(armature)[-1]["notes"].get("job", ""))
        movie = preview.beside_blend(preview_of(job), armature.name, "motion")
        area = preview.open_area(context, self.new_window)
        preview.show(area, preview.load_movie(movie), context.scene.atop_rig.frame_start)
        return f"Playing {movie.name} with the timeline" if area else f"Saved {movie}"


def preview_of(job: Path) -> Path:
    """The video that a job made.

    Raises:
        InputError: It made none, or its folder has been cleared.
    """
    result = job / "result.json"
    if not result.is_file():
        raise InputError(f"the videos in {job} have been cleared", hint="animate the rig again")
    movie = monitor.read_result(str(result))["files"].get("preview", "")
    if not movie or not (job / movie).is_file():
        raise InputError("this motion has no video", hint="play the timeline instead")
    return job / movie


CLASSES = (ATOP_OT_animate_rig, ATOP_OT_write_motion, ATOP_OT_revert_motion, ATOP_OT_show_motion)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
