# pyright: reportInvalidTypeForm=false
"""Scene.atop: the artist's choices, saved. WindowManager.atop_job: the run, not saved."""

import math

import bpy
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from atop_backend.prompt_amount import prompt_amount

from ..core.request import AmountMode, Choices, motion_for
from . import preferences

QUALITY_OVERRIDES = {
    "DRAFT": ("generate.samples=1", "generate.steps=1", "generate.videos=false"),
    "STANDARD": (),
    "FINE": ("generate.samples=8", "generate.steps=4"),
}


class ArticulateSettings(bpy.types.PropertyGroup):
    """What to articulate and how; one per scene."""

    source: EnumProperty(
        name="Part",
        description="What the part that moves is made of",
        items=(
            ("OBJECTS", "Objects", "The selected objects", "OBJECT_DATA", 0),
            ("VERTEX_GROUP", "Vertex Group", "Faces of a vertex group", "GROUP_VERTEX", 1),
            ("MATERIAL", "Material", "Faces with a material", "MATERIAL", 2),
            ("FACES", "Selected Faces", "The faces selected in edit mode", "FACESEL", 3),
            ("ATTRIBUTE", "Face Attribute", "Faces marked by an attribute", "SPREADSHEET", 4),
        ),
    )
    vertex_group: StringProperty(name="Vertex Group", description="Its faces are the part")
    material: StringProperty(name="Material", description="Its faces are the part")
    attribute: StringProperty(name="Face Attribute", description="Faces above 0.5 are the part")
    together: BoolProperty(
        name="Move Together",
        description="All selected objects are one part; otherwise each gets its own joint in turn",
        default=False,
    )
    way: EnumProperty(
        name="Faces",
        description="How faces of one mesh are moved",
        items=(
            ("bone", "Bone", "Leave the mesh whole; a bone and an armature modifier move it"),
            ("separate", "Separate", "Cut the faces off into an object of their own"),
        ),
    )
    prompt: StringProperty(
        name="Prompt",
        description='How the part moves, such as "the left door swings open"',
        default="",
    )
    motion: EnumProperty(
        name="Motion",
        description="What kind of joint to look for",
        items=(
            ("auto", "Auto", "Let prompt and video decide"),
            ("hinge", "Hinge", "It turns about an axis"),
            ("slider", "Slider", "It slides along a line"),
        ),
    )
    quality: EnumProperty(
        name="Quality",
        description="How much work goes into the answer",
        items=(
            ("DRAFT", "Draft", "One quick sample, no videos"),
            ("STANDARD", "Standard", "Four samples and videos"),
            ("FINE", "Fine", "Eight samples with more steps"),
        ),
        default="STANDARD",
    )
    amount_mode: EnumProperty(
        name="Amount",
        description="How far the part opens",
        items=(
            ("AUTO", "Auto", 'From the prompt ("open 70 degrees"), else from the video'),
            ("DEGREES", "Angle", "A given angle; the part turns"),
            ("DISTANCE", "Distance", "A given distance; the part slides"),
        ),
    )
    amount_angle: FloatProperty(
        name="Angle",
        description="How far the part turns",
        subtype="ANGLE",
        default=math.radians(90),
        min=0.0,
        soft_max=2 * math.pi,
    )
    amount_distance: FloatProperty(
        name="Distance",
        description="How far the part slides",
        subtype="DISTANCE",
        default=0.3,
        min=0.0,
    )
    frame_start: IntProperty(
        name="Start", description="The last frame in which the part rests", default=1
    )
    seconds: FloatProperty(
        name="Duration",
        description='From rest to open, in seconds; a time in the prompt ("over 2 seconds") wins',
        default=2.0,
        min=0.01,
        soft_max=20.0,
        subtype="TIME_ABSOLUTE",
    )
    easing: EnumProperty(
        name="Easing",
        description="How the motion starts and ends",
        items=(
            ("EASE", "Ease", "Starts and stops softly", "IPO_SINE", 0),
            ("LINEAR", "Linear", "Even speed", "IPO_LINEAR", 1),
            ("BOUNCE", "Bounce", "Bounces at the end", "IPO_BOUNCE", 2),
        ),
    )
    physics: BoolProperty(
        name="Physics",
        description="Also add a rigid body constraint with the same limits",
    )
    seed: IntProperty(name="Seed", description="Same seed, same answer", min=0)
    show_axis: BoolProperty(
        name="Axis",
        description="Show the axis of the active joint in the viewport, with handles to drag",
        default=True,
    )


class ArticulateJob(bpy.types.PropertyGroup):
    """What the panel shows of the run; `monitor` keeps it up to date."""

    running: BoolProperty()
    part: StringProperty()
    stage: StringProperty()
    fraction: FloatProperty(min=0.0, max=1.0)
    seconds: FloatProperty()
    seconds_left: FloatProperty(default=-1.0)
    queued: IntProperty()
    message: StringProperty()
    hint: StringProperty()
    failed: BoolProperty()


# Functions, not methods, and no callbacks: Blender 4.2 crashes at its end if a property group
# had any.


def name_of_faces(settings: ArticulateSettings) -> str:
    """The vertex group, material or attribute that the picker names."""
    return {
        "VERTEX_GROUP": settings.vertex_group,
        "MATERIAL": settings.material,
        "ATTRIBUTE": settings.attribute,
    }.get(settings.source, "")


def choices(settings: ArticulateSettings, context: bpy.types.Context) -> Choices:
    """The panel and the preferences as the backend takes them."""
    options = preferences.get(context)
    mode: AmountMode = settings.amount_mode
    units = context.scene.unit_settings
    angle, render = mode == "DEGREES", context.scene.render
    seconds = prompt_amount(settings.prompt).seconds or settings.seconds
    return Choices(
        prompt=settings.prompt,
        motion=motion_for(settings.motion, mode),
        preset="imagedream" if options.model == "IMAGEDREAM" else "default",
        amount_mode=mode,
        amount=settings.amount_angle if angle else settings.amount_distance,
        metres_per_unit=units.scale_length if units.system != "NONE" else 1.0,
        seed=settings.seed,
        device=options.device,
        blender=bpy.app.binary_path,
        weights=bpy.path.abspath(options.weights) if options.model == "IMAGEDREAM" else "",
        finetuned=bpy.path.abspath(options.finetuned),
        overrides=QUALITY_OVERRIDES[settings.quality]
        + (
            "report.scene=false",  # the add-on writes the joint into the scene itself
            f"report.seconds={seconds:.6g}",
            f"report.fps={max(1, round(render.fps / render.fps_base)):d}",  # frame by frame
            f"render.time_limit_s={options.time_limit_s:d}",
        ),
    )


CLASSES = (ArticulateSettings, ArticulateJob)
_register_classes, _unregister_classes = bpy.utils.register_classes_factory(CLASSES)


def register():
    _register_classes()
    bpy.types.Scene.atop = PointerProperty(type=ArticulateSettings)
    bpy.types.WindowManager.atop_job = PointerProperty(type=ArticulateJob, options={"SKIP_SAVE"})


def unregister():
    del bpy.types.WindowManager.atop_job
    del bpy.types.Scene.atop
    _unregister_classes()
