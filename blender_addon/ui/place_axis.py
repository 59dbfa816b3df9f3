"""Lay the axis on the mesh under the mouse, live; a click keeps it, Esc restores it."""

import bpy
from bpy_extras import view3d_utils

from atop_backend.contracts import JointMotion
from atop_backend.errors import AtopError, InputError

from ..scene import snap, write
from ..scene.record import require_articulation
from .edit_operators import JointOperator


class ATOP_OT_place_axis(JointOperator, bpy.types.Operator):
    """Move the axis onto the edge under the mouse, or with Alt onto the face's normal"""

    bl_idname = "atop.place_axis"
    bl_label = "Place Axis"
    bl_options = {"REGISTER", "UNDO", "BLOCKING"}

    def invoke(self, context, event):
        if context.area is None or context.area.type != "VIEW_3D":
            self.report({"ERROR"}, "Use Place Axis in a 3D viewport")
            return {"CANCELLED"}
        found = require_articulation(context.view_layer.objects.active)
        self.frame, self.before = found.frame.name, found.joint.to_dict()
        context.window_manager.modal_handler_add(self)
        context.workspace.status_text_set(
            "Click: keep the axis   Alt: face normal instead of edge   Esc: restore"
        )
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        match event.type:
            case "ESC" | "RIGHTMOUSE":
                return self.end(context, {"CANCELLED"})
            case "LEFTMOUSE" | "RET" if event.value == "PRESS":
                return self.end(context, {"FINISHED"})
            case "MOUSEMOVE":
                self.follow(context, event)
                return {"RUNNING_MODAL"}
        return {"PASS_THROUGH"}  # zoom and turn the view meanwhile

    def follow(self, context, event):
        """Lay the axis on what is under the mouse."""
        region = next(r for r in context.area.regions if r.type == "WINDOW")
        view = context.space_data.region_3d
        place = (event.mouse_x - region.x, event.mouse_y - region.y)
        origin = view3d_utils.region_2d_to_origin_3d(region, view, place)
        direction = view3d_utils.region_2d_to_vector_3d(region, view, place)
        found = require_articulation(bpy.data.objects.get(self.frame))
        line = snap.snap_axis(context, found, origin, direction, normal=event.alt)
        if line is not None:
            write.set_joint(found, snap.joint_on(found, line))
            context.area.tag_redraw()

    def end(self, context, outcome):
        context.workspace.status_text_set(None)
        if outcome == {"CANCELLED"}:
            try:
                found = require_articulation(bpy.data.objects.get(self.frame))
            except AtopError:
                return outcome  # deleted meanwhile
            write.set_joint(found, JointMotion.from_dict(self.before))
        context.area.tag_redraw()
        return outcome

    def change(self, context, found):
        raise InputError(
            "Place Axis follows the mouse in a 3D viewport", hint="use atop.set_axis in scripts"
        )


CLASSES = (ATOP_OT_place_axis,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
