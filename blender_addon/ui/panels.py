"""The Articulate tab of the 3D viewport's sidebar: draws state, computes nothing."""

import bpy

from ..core.request import examples_for
from ..scene import answers
from ..scene.record import articulation_of
from . import monitor

STAGES = {
    "start": "Starting",
    "render": "Looking at the object",
    "generate": "Imagining the motion",
    "fit": "Finding the joint",
    "report": "Writing the result",
    "rig": "Reading the rig",
    "distil": "Finding the motion",
    "export": "Exporting",
}


SHORTER = (
    ("revolute, ", ""),
    ("prismatic, ", ""),
    ("hinge ", ""),
    ("turns ", ""),
    ("moves ", ""),
    (" degrees", "°"),
    (" units", ""),
)
LETTER_PX = 6.6  # average width of a letter at the default interface scale
MARGIN_PX = 75  # icon, padding and the sidebar's tabs


def clock(seconds: float) -> str:
    """Minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


class ArticulatePanel:
    """Where all panels of the add-on are."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Articulate"


class ATOP_PT_part(ArticulatePanel, bpy.types.Panel):
    """What moves, and how"""

    bl_idname = "ATOP_PT_part"
    bl_label = "Articulate"

    def draw(self, context):
        layout, settings = self.layout, context.scene.atop
        active = context.view_layer.objects.active
        draw_picker(layout, settings, active)
        column = layout.column(align=True)
        column.prop(settings, "prompt", text="", icon="OUTLINER_DATA_FONT")
        for prompt in examples_for(active.name if active else ""):
            column.operator("atop.example", text=prompt, translate=False).prompt = prompt
        layout.row().prop(settings, "motion", expand=True)
        column = layout.column()
        column.scale_y = 1.6
        column.operator("atop.articulate", icon="PLAY")
        if not monitor.on_rigs():
            draw_run(layout, context.window_manager.atop_job, letters(context))


def draw_picker(layout, settings, active) -> None:
    """The part picker and the field that its choice needs."""
    layout.prop(settings, "source", text="")
    mesh = active if active is not None and active.type == "MESH" else None
    if settings.source == "OBJECTS":
        layout.prop(settings, "together")
        return
    if mesh is None:
        layout.label(text="Click a mesh object", icon="INFO")
    elif settings.source == "VERTEX_GROUP":
        layout.prop_search(settings, "vertex_group", mesh, "vertex_groups", text="")
    elif settings.source == "MATERIAL":
        layout.prop_search(settings, "material", mesh.data, "materials", text="")
    elif settings.source == "ATTRIBUTE":
        layout.prop_search(settings, "attribute", mesh.data, "attributes", text="")
    layout.row().prop(settings, "way", expand=True)


def letters(context) -> int:
    """How many letters fit into a line of the sidebar."""
    scale = context.preferences.system.ui_scale or 1.0  # none without a window
    width = context.region.width if context.region else 280
    return max(16, int((width / scale - MARGIN_PX) / LETTER_PX))


def draw_run(layout, state, width: int) -> None:
    """Progress while running; what came out, or what went wrong, afterwards."""
    if monitor.busy():
        column = layout.column(align=True)
        stage = STAGES.get(state.stage, state.stage)
        column.progress(factor=state.fraction, text=f"{stage}  {state.fraction:.0%}")
        row = column.row()
        left = f", {clock(state.seconds_left)} left" if state.seconds_left >= 0 else ""
        row.label(text=f"{state.part}: {clock(state.seconds)}{left}", translate=False)
        if state.queued:
            row.label(text=f"{state.queued} waiting")
        column.operator("atop.cancel", icon="CANCEL")
    elif state.message:
        icon = "ERROR" if state.failed else "CHECKMARK"
        draw_text(layout, state.message, icon, width)
        draw_text(layout, state.hint, "BLANK1", width)


def draw_text(layout, text: str, icon: str, width: int) -> None:
    """Text over several lines, since labels do not wrap."""
    column, line = layout.column(align=True), ""
    for word in text.split():
        if line and len(line) + len(word) >= width:
            column.label(text=line, icon=icon, translate=False)
            line, icon = "", "BLANK1"
        line = f"{line} {word}".strip()
    if line:
        column.label(text=line, icon=icon, translate=False)


class ATOP_PT_settings(ArticulatePanel, bpy.types.Panel):
    """When and how far it moves"""

    bl_idname = "ATOP_PT_settings"
    bl_label = "Motion"
    bl_parent_id = "ATOP_PT_part"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        layout, settings = self.layout, context.scene.atop
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(settings, "amount_mode")
        if settings.amount_mode == "DEGREES":
            layout.prop(settings, "amount_angle")
        elif settings.amount_mode == "DISTANCE":
            layout.prop(settings, "amount_distance")
        layout.prop(settings, "frame_start")
        layout.prop(settings, "seconds")
        layout.prop(settings, "easing")
        layout.prop(settings, "quality")
        layout.prop(settings, "seed")
        layout.prop(settings, "physics")


class ATOP_PT_joint(ArticulatePanel, bpy.types.Panel):
    """The joint of the active object"""

    bl_idname = "ATOP_PT_joint"
    bl_label = "Joint"

    @classmethod
    def poll(cls, context):
        return articulation_of(context.view_layer.objects.active) is not None

    def draw(self, context):
        found = articulation_of(context.view_layer.objects.active)
        layout, settings = self.layout, context.scene.atop
        draw_answers(layout, found)
        layout.prop(found.pivot, '["open"]', text="Open", slider=True)
        row = layout.row(align=True)
        row.prop(found.pivot, '["lower"]', text="From")
        row.prop(found.pivot, '["upper"]', text="To")
        row = layout.row(align=True)
        row.operator("atop.flip", icon="ARROW_LEFTRIGHT")
        row.operator("atop.refit", icon="FILE_REFRESH")
        row = layout.row(align=True)
        row.prop(settings, "show_axis", icon="GIZMO", toggle=True)
        row.operator("atop.place_axis", icon="SNAP_EDGE")
        row = layout.row(align=True)
        row.operator("atop.show_preview", icon="FILE_MOVIE").movie = "BOTH"
        row.operator_menu_enum("atop.show_preview", "movie", text="", icon="DOWNARROW_HLT")
        layout.operator("atop.revert", icon="LOOP_BACK")


def short(sentence: str) -> str:
    """An answer's sentence without what icon and percentage say."""
    plain = sentence.partition(", confidence")[0]
    for long, brief in SHORTER:
        plain = plain.replace(long, brief)
    return plain


def draw_answers(layout, found) -> None:
    """The answers as a list to step through; the chosen one is pressed."""
    listed = found.data.get("answers", ())
    if not listed:
        return
    chosen, by_hand = answers.chosen_now(found), answers.hand_laid(found)
    column = layout.column(align=True)
    entries = [
        (a["joint"]["type"], f"{a['confidence']:.0%}  {short(a['sentence'])}") for a in listed
    ]
    for index, (kind, text) in enumerate(entries):
        draw_answer(column, kind, text, index, chosen)
    if by_hand is not None:
        draw_answer(column, by_hand.kind, "as corrected by hand", answers.BY_HAND, chosen)
    row = layout.row(align=True)
    row.operator("atop.step_answer", text="Previous", icon="TRIA_LEFT").step = -1
    row.operator("atop.step_answer", text="Next", icon="TRIA_RIGHT").step = 1


def draw_answer(column, kind: str, text: str, index: int, chosen: int) -> None:
    """One line of the list."""
    button = column.operator(
        "atop.choose_answer",
        text=text,
        icon="DRIVER_ROTATIONAL_DIFFERENCE" if kind == "revolute" else "DRIVER_DISTANCE",
        depress=index == chosen,
        translate=False,
    )
    button.index = index


class ATOP_PT_more(ArticulatePanel, bpy.types.Panel):
    """Less frequent work on the joint of the active object"""

    bl_idname = "ATOP_PT_more"
    bl_label = "More"
    bl_parent_id = "ATOP_PT_joint"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        layout = self.layout
        row = layout.row(align=True)
        row.operator("atop.articulate_similar").mirror = False
        row.operator("atop.articulate_similar", text="Mirror to Similar").mirror = True
        row = layout.row(align=True)
        row.operator("atop.add_physics", icon="PHYSICS")
        row.operator("atop.bake", icon="KEYFRAME")
        layout.operator("atop.select_joint", icon="RESTRICT_SELECT_OFF")
        layout.operator_menu_enum("atop.export", "format", icon="EXPORT")


CLASSES = (ATOP_PT_part, ATOP_PT_settings, ATOP_PT_joint, ATOP_PT_more)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
