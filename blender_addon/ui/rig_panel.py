"""The section Animate Rig of the Articulate tab: draws state, computes nothing."""

import bpy

from ..scene import rig_read, rig_write
from . import monitor
from .panels import ArticulatePanel, draw_run, draw_text, letters
from .rig_operators import why_not_now


class ATOP_PT_rig(ArticulatePanel, bpy.types.Panel):
    """A motion of a rigged mesh"""

    bl_idname = "ATOP_PT_rig"
    bl_label = "Animate Rig"
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 10  # below the parts and their joints

    def draw(self, context):
        layout, settings = self.layout, context.scene.atop_rig
        armature = rig_read.rig_of(context.view_layer.objects.active)
        if armature is not None:
            layout.label(text=armature.name, icon="ARMATURE_DATA", translate=False)
        else:
            draw_text(layout, why_not_now(context), "INFO", letters(context))
        layout.prop(settings, "prompt", text="", icon="OUTLINER_DATA_FONT")
        layout.prop(settings, "video")
        if settings.video:
            layout.prop(settings, "use_camera")
        column = layout.column()
        column.scale_y = 1.6
        column.operator("atop.animate_rig", icon="ARMATURE_DATA")
        if monitor.on_rigs():
            draw_run(layout, context.window_manager.atop_job, letters(context))
        if rig_write.has_motion(armature):
            layout.operator("atop.show_motion", icon="FILE_MOVIE")
            layout.operator("atop.revert_motion", icon="LOOP_BACK")


class ATOP_PT_rig_settings(ArticulatePanel, bpy.types.Panel):
    """When it moves and where the keyframes go"""

    bl_idname = "ATOP_PT_rig_settings"
    bl_label = "Motion"
    bl_parent_id = "ATOP_PT_rig"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        layout, settings = self.layout, context.scene.atop_rig
        layout.use_property_split = True
        layout.use_property_decorate = False
        column = layout.column(align=True)
        column.prop(settings, "frame_start")
        row = column.row(align=True)
        row.active = not settings.video  # which decides by its own length
        row.prop(settings, "frames")
        column.prop(settings, "fps")
        layout.prop(settings, "loop")
        layout.prop(settings, "root", expand=True)
        layout.prop(settings, "target", expand=True)
        layout.prop(settings, "only_selected")
        layout.prop(settings, "weights")
        layout.prop(settings, "seed")


CLASSES = (ATOP_PT_rig, ATOP_PT_rig_settings)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
