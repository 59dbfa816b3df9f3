# pyright: reportInvalidTypeForm=false
"""What the artist does with a joint that is there: choose, flip, bake, revert, copy, export."""

from pathlib import Path

import bpy
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    StringProperty,
)

from atop_backend.errors import AtopError

from ..core.keyframes import seconds_to_frames
from ..scene import answers, edit, export, pick, similar, write
from ..scene.record import articulation_of, require_articulation
from . import monitor, preferences, props
from .outcome import explain, finish_in_background


class JointOperator:
    """An operator on the joint of the active object; greyed where there is none."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        cls.poll_message_set("Select a part that has been articulated, or its pivot")
        return articulation_of(context.view_layer.objects.active) is not None

    def execute(self, context):
        try:
            found = require_articulation(context.view_layer.objects.active)
            message = self.change(context, found)
        except AtopError as error:
            return explain(self, error)
        context.view_layer.update()
        if message:
            self.report({"INFO"}, message)
        return {"FINISHED"}


class ATOP_OT_choose_answer(JointOperator, bpy.types.Operator):
    """Use this answer: the joint moves at once, the keyframes stay"""

    bl_idname = "atop.choose_answer"
    bl_label = "Choose Answer"

    index: IntProperty(
        name="Answer", description="0 is the best one, -1 the joint as corrected by hand", min=-1
    )

    def change(self, context, found):
        return answers.choose_answer(found, self.index)


class ATOP_OT_step_answer(JointOperator, bpy.types.Operator):
    """Step through the answers, best first"""

    bl_idname = "atop.step_answer"
    bl_label = "Next Answer"

    step: IntProperty(name="Step", default=1)

    @classmethod
    def poll(cls, context):
        found = articulation_of(context.view_layer.objects.active)
        cls.poll_message_set("Select a part with more than one answer")
        return found is not None and len(found.data.get("answers", ())) > 1

    def change(self, context, found):
        return answers.step_answer(found, self.step)


class ATOP_OT_flip(JointOperator, bpy.types.Operator):
    """Let the part move the other way"""

    bl_idname = "atop.flip"
    bl_label = "Flip Direction"

    def change(self, context, found):
        edit.flip(found)


class ATOP_OT_set_limits(JointOperator, bpy.types.Operator):
    """Set how far the joint may go, in radians or scene units"""

    bl_idname = "atop.set_limits"
    bl_label = "Set Limits"

    lower: FloatProperty(name="Lower")
    upper: FloatProperty(name="Upper", default=1.0)

    def change(self, context, found):
        edit.set_limit(found, "lower", self.lower)
        edit.set_limit(found, "upper", self.upper)


class ATOP_OT_set_axis(JointOperator, bpy.types.Operator):
    """Lay the axis on a line of the world as it is now; the part stays where it is"""

    bl_idname = "atop.set_axis"
    bl_label = "Set Axis"

    origin: FloatVectorProperty(name="Origin", description="A point on the axis", size=3)
    axis: FloatVectorProperty(
        name="Axis",
        description="Its direction; the right-hand rule gives the sense of a turn",
        size=3,
        default=(0.0, 0.0, 1.0),
    )

    def change(self, context, found):
        edit.set_line(found, self.origin, self.axis)


class ATOP_OT_set_open(JointOperator, bpy.types.Operator):
    """Show the part at rest (0), open (1) or in between"""

    bl_idname = "atop.set_open"
    bl_label = "Open"

    amount: FloatProperty(name="Open", min=0.0, max=1.0, default=1.0)

    def change(self, context, found):
        found.pivot["open"] = self.amount
        found.pivot.update_tag()


class ATOP_OT_bake(JointOperator, bpy.types.Operator):
    """Key the motion in every frame and remove the driver, for programs that know no drivers"""

    bl_idname = "atop.bake"
    bl_label = "Bake"

    def change(self, context, found):
        return f"Keyed {edit.bake(context, found)} frames"


class ATOP_OT_revert(JointOperator, bpy.types.Operator):
    """Take back the latest articulation of this part: all that it added, nothing else"""

    bl_idname = "atop.revert"
    bl_label = "Revert"

    def change(self, context, found):
        write.revert(context, found)


class ATOP_OT_add_physics(JointOperator, bpy.types.Operator):
    """Add a rigid body constraint with the joint's limits, so that the simulation moves the part"""

    bl_idname = "atop.add_physics"
    bl_label = "Physics"

    @classmethod
    def poll(cls, context):
        found = articulation_of(context.view_layer.objects.active)
        cls.poll_message_set("Select an articulated part that has no rigid body constraint yet")
        return found is not None and "physics" not in found.data

    def change(self, context, found):
        edit.add_physics(context, found)


class ATOP_OT_articulate_similar(JointOperator, bpy.types.Operator):
    """Give the other selected parts the joint of the active one as it is now"""

    bl_idname = "atop.articulate_similar"
    bl_label = "Apply to Similar"

    mirror: BoolProperty(
        name="Mirror", description="Mirror the joint, as for the other door of a pair"
    )

    @classmethod
    def poll(cls, context):
        active = context.view_layer.objects.active
        cls.poll_message_set("Select the similar parts, then the articulated part last")
        several = len(context.selected_objects) > 1 or context.scene.atop.source != "OBJECTS"
        return several and articulation_of(active) is not None

    def change(self, context, found):
        settings, render = context.scene.atop, context.scene.render
        others = context.selected_objects
        if settings.source != "OBJECTS":
            name = props.name_of_faces(settings)
            others = pick.pick_parts(context, settings.source, name, settings.way)
        made = similar.articulate_like(
            context,
            found,
            others,
            mirror=self.mirror,
            frame_start=settings.frame_start,
            duration_frames=seconds_to_frames(settings.seconds, render.fps, render.fps_base),
            easing=settings.easing,
        )
        return f"Articulated {len(made)} more"


class ATOP_OT_select_joint(JointOperator, bpy.types.Operator):
    """Select the pivot of this joint, which carries Open and its keyframes"""

    bl_idname = "atop.select_joint"
    bl_label = "Select Pivot"

    def change(self, context, found):
        for ob in context.selected_objects:
            ob.select_set(False)
        found.pivot.select_set(True)
        context.view_layer.objects.active = found.pivot


class ATOP_OT_export(JointOperator, bpy.types.Operator):
    """Write the object with all its joints for simulators and game engines"""

    bl_idname = "atop.export"
    bl_label = "Export Joints"
    bl_options = {"REGISTER"}

    format: EnumProperty(
        name="Format",
        items=(
            ("urdf", "URDF", "For ROS and most simulators"),
            ("mjcf", "MJCF", "For MuJoCo"),
            ("usd", "USD", "With physics joints, for Omniverse and others"),
            ("gltf", "glTF", "Animated, for engines and the web"),
        ),
    )
    directory: StringProperty(name="Folder", subtype="DIR_PATH", options={"SKIP_SAVE"})

    def invoke(self, context, event):
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context):
        try:
            monitor.enqueue(export_task(context, self.format, self.directory))
        except AtopError as error:
            return explain(self, error)
        return finish_in_background(self, context)


def export_task(context: bpy.types.Context, file_format: str, directory: str) -> monitor.Task:
    """Describe the object of the active joint, and how the backend exports it."""
    found = require_articulation(context.view_layer.objects.active)
    options = preferences.get(context)
    out = Path(bpy.path.abspath(directory or "//")).absolute()
    folder = preferences.cache_folder(context) / "export"
    path = export.write_description(context, found, folder)
    arguments = ("export", "--object", str(path), "--out", str(out), "--format", file_format)
    return monitor.Task(
        f"{found.tag} as {file_format}", arguments, folder, options.python, options.time_limit_s
    )


CLASSES = (
    ATOP_OT_choose_answer,
    ATOP_OT_step_answer,
    ATOP_OT_flip,
    ATOP_OT_set_limits,
    ATOP_OT_set_axis,
    ATOP_OT_set_open,
    ATOP_OT_bake,
    ATOP_OT_revert,
    ATOP_OT_add_physics,
    ATOP_OT_articulate_similar,
    ATOP_OT_select_joint,
    ATOP_OT_export,
)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
