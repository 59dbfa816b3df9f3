# pyright: reportInvalidTypeForm=false
"""Scene.atop_rig: what to animate a rig with and how, saved with the scene."""

import bpy
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

# an operator must not remember what it was called with, or that would beat the panel
FRESH = {"SKIP_SAVE"}


class RigChoices:
    """The choices, as properties of the panel's settings and of the operator alike."""

    prompt: StringProperty(
        name="Prompt", description='What it does, such as "the fox walks"', options=FRESH
    )
    video: StringProperty(
        name="Video",
        description="A video of the motion to follow, seen from the side or the front; optional",
        subtype="FILE_PATH",
        options=FRESH,
    )
    use_camera: BoolProperty(
        name="Seen by the Scene Camera",
        description="The video was taken from where the scene's camera is; otherwise it is guessed",
        options=FRESH,
    )
    frames: IntProperty(
        name="Poses",
        description="How many poses the motion has; a video decides by its own length",
        default=24,
        min=2,
        soft_max=120,
        options=FRESH,
    )
    fps: FloatProperty(
        name="Frame Rate",
        description="Poses a second; 0 for the frame rate of the scene",
        default=0.0,
        min=0.0,
        soft_max=60.0,
        options=FRESH,
    )
    loop: BoolProperty(
        name="Loop",
        description="End as it begins, and repeat; a walk goes on from where it has come to",
        options=FRESH,
    )
    frame_start: IntProperty(
        name="Start", description="The frame of the first pose", default=1, options=FRESH
    )
    root: EnumProperty(
        name="Root Motion",
        description="What carries the motion of the whole",
        items=(
            ("OBJECT", "Object", "Keyframes on the armature object"),
            ("BONE", "Root Bone", "Keyframes on the bones without a parent, as games have it"),
        ),
        options=FRESH,
    )
    target: EnumProperty(
        name="Write To",
        description="Where the keyframes go; what was there is kept",
        items=(
            ("ACTION", "New Action", "The rig plays a new action"),
            ("NLA", "NLA Strip", "A strip above all others; a present action becomes one below"),
        ),
        options=FRESH,
    )
    only_selected: BoolProperty(
        name="Only Selected Bones",
        description="Leave all bones as they are that are not selected in pose mode",
        options=FRESH,
    )
    weights: StringProperty(
        name="CogVideoX",
        description="Weights of this video diffusion model, used in place of the bundled prior;"
        " wants a GPU",
        subtype="DIR_PATH",
        options=FRESH,
    )
    seed: IntProperty(name="Seed", description="Same seed, same motion", min=0, options=FRESH)


class RigSettings(RigChoices, bpy.types.PropertyGroup):
    """One per scene."""


NAMES = tuple(RigChoices.__annotations__)


def take_over(settings: RigSettings, operator: bpy.types.Operator) -> None:
    """Put what the operator was called with into the panel."""
    for name in NAMES:
        if operator.properties.is_property_set(name):
            setattr(settings, name, getattr(operator, name))


def register():
    bpy.utils.register_class(RigSettings)
    bpy.types.Scene.atop_rig = PointerProperty(type=RigSettings)


def unregister():
    del bpy.types.Scene.atop_rig
    bpy.utils.unregister_class(RigSettings)
