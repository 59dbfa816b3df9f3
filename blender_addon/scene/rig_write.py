"""A motion -> what the rig plays, as a new action or NLA strip; and exactly back again.

What was there is remembered on the armature object itself, newest last: numbers as JSON in one
custom property, actions as pointers beside it, which follow renaming.
"""

from __future__ import annotations

import json
from typing import Any, Literal

import bpy
import numpy as np

from atop_backend.errors import InputError

from ..core.rig_motion import Motion, matrices, quaternion
from . import rig_controls, rig_keys
from .rig_controls import Control
from .rig_keys import Placing, Root

Target = Literal["ACTION", "NLA"]
KEY = "atop_motions"
_CHANNELS = (
    "location",
    "rotation_quaternion",
    "rotation_euler",
    "rotation_axis_angle",
    "scale",
)


def has_motion(armature: bpy.types.Object | None) -> bool:
    """Whether something has been written on a rig. Cheap, panels ask in every draw."""
    return armature is not None and KEY in armature


def layers_of(armature: bpy.types.Object) -> list[dict[str, Any]]:
    """What has been written on a rig, newest last."""
    return json.loads(armature[KEY]) if has_motion(armature) else []


def write_motion(
    context: bpy.types.Context,
    armature: bpy.types.Object,
    motion: Motion,
    *,
    frame_start: float,
    root: Root = "OBJECT",
    target: Target = "ACTION",
    world: np.ndarray | None = None,
    moved: np.ndarray | None = None,
    notes: dict[str, str] | None = None,
) -> str:
    """Let the rig play a motion; returns what had to be done for it, as sentences.

    Args:
        frame_start: Of the first pose.
        root: What carries the motion of the whole; a bone where the object cannot.
        world: Of the armature at the motion's rest, (4, 4); None for as it stands.
        moved: How all has been moved since, (4, 4); None for not at all.
        notes: Kept with it, such as the job's folder.

    Raises:
        InputError: A bone is gone, or an NLA strip is being edited.
    """
    context.view_layer.update()
    data = armature.animation_data
    if data is not None and data.use_tweak_mode:
        raise InputError(
            f"an NLA strip of {armature.name!r} is being edited",
            hint="leave its tweak mode (Tab in the NLA editor)",
        )
    motion = _carried_along(motion, moved)
    bones = [bone.name for bone in rig_keys.bones_of(armature, motion)]
    controls = rig_controls.controls_of(rig_controls.find_controls(armature), bones)
    obstacle = rig_keys.why_not_object(armature) if root == "OBJECT" else ""
    render = context.scene.render
    placing = Placing(
        frame_start, render.fps / render.fps_base, "BONE" if obstacle else root, world
    )
    layer = _before(armature, bones) | {"controls": [c.to_list() for c in controls]}
    written = rig_keys.write_action(armature, motion, placing, f"{armature.name} Motion")
    rig_controls.set_mute(armature, controls, True)
    number = len(layers_of(armature))
    _point(armature, f"action_{number}", written.action)
    if target == "NLA":
        layer |= _add_strips(armature, written.action, motion.cyclic, context.scene.frame_end)
    else:
        rig_keys.play(armature, written.action)  # the pointer keeps the old one in the file
    layer = {"tracks": [], "target": target, "notes": notes or {}} | layer
    armature[KEY] = json.dumps([*layers_of(armature), layer])
    context.scene.frame_set(context.scene.frame_current, subframe=context.scene.frame_subframe)
    said = []
    if obstacle and written.root_moves:
        said.append(f"the root bone carries the motion: {obstacle}")
    if controls:
        said.append(f"muted what controlled {rig_controls.describe(controls)}")
    return "; ".join(said)


def _carried_along(motion: Motion, moved: np.ndarray | None) -> Motion:
    """The motion in the world after everything has been moved."""
    if moved is None or np.allclose(moved, np.eye(4), atol=1e-7):
        return motion
    turn = moved[:3, :3] / np.cbrt(abs(np.linalg.det(moved[:3, :3])))
    turns = turn @ matrices(motion.root_rotations) @ turn.T
    places = motion.root_translations @ moved[:3, :3].T + moved[:3, 3]
    places -= np.einsum("fab,b->fa", turns, moved[:3, 3])
    quaternions = np.array([quaternion(each) for each in turns])
    return motion._replace(root_rotations=quaternions, root_translations=places)


def _before(armature: bpy.types.Object, bones: list[str]) -> dict[str, Any]:
    """The channels' values and what plays now, to be restored."""
    number = len(layers_of(armature))
    data = armature.animation_data
    action = data.action if data else None
    _point(armature, f"before_{number}", action)
    slot = getattr(data, "action_slot", None)
    return {
        "animated": data is not None,
        "slot": slot.handle if slot else 0,
        "object": _values(armature),
        "bones": {name: _values(armature.pose.bones[name]) for name in bones},
    }


def _values(owner: Any) -> dict[str, list[float]]:
    return {name: list(getattr(owner, name)) for name in _CHANNELS}


def _add_strips(
    armature: bpy.types.Object, action: bpy.types.Action, cyclic: bool, frame_end: int
) -> dict[str, Any]:
    """The motion as a strip above all others; what was the active action becomes one below it."""
    data = armature.animation_data or armature.animation_data_create()
    tracks = []
    old = data.action
    if old is not None:
        slot = getattr(data, "action_slot", None)
        data.action = None
        tracks.append(_add_strip(data, old, slot))
    below = any(not track.mute and len(track.strips) for track in data.nla_tracks)
    tracks.append(_add_strip(data, action, action.slots[0] if hasattr(action, "slots") else None))
    strip = data.nla_tracks[tracks[-1]].strips[0]
    strip.extrapolation = "NOTHING" if below else "HOLD"
    if cyclic and frame_end > strip.action_frame_end:
        strip.action_frame_end = frame_end  # its curves repeat themselves
    return {"tracks": tracks}


def _add_strip(data: bpy.types.AnimData, action: bpy.types.Action, slot: Any) -> str:
    """A track of its own for an action, where its keys are; returns the track's name."""
    track = data.nla_tracks.new()
    track.name = action.name
    strip = track.strips.new(action.name, round(action.frame_range[0]), action)
    if slot is not None:
        strip.action_slot = slot
    return track.name


def revert(context: bpy.types.Context, armature: bpy.types.Object) -> None:
    """Take back the latest `write_motion`: all that it added, nothing else.

    Raises:
        InputError: Nothing has been written.
    """
    layers = layers_of(armature)
    if not layers:
        raise InputError(f"{armature.name!r} has no motion from here", hint="select another rig")
    layer, number = layers[-1], len(layers) - 1
    action = armature.get(f"{KEY}_action_{number}")
    before = armature.get(f"{KEY}_before_{number}")
    data = armature.animation_data
    if data is not None:
        _take_off(data, layer, action, before)
    controls = [Control.from_list(entry) for entry in layer["controls"]]
    rig_controls.set_mute(armature, controls, False)
    _restore(armature, layer["object"])
    for name, values in layer["bones"].items():
        if name in armature.pose.bones:
            _restore(armature.pose.bones[name], values)
    for name in ("action", "before"):
        _point(armature, f"{name}_{number}", None)
    if layers[:-1]:
        armature[KEY] = json.dumps(layers[:-1])
    else:
        del armature[KEY]
    if action is not None and action.users == 0:
        bpy.data.actions.remove(action)
    context.view_layer.update()


def _take_off(
    data: bpy.types.AnimData,
    layer: dict[str, Any],
    action: bpy.types.Action | None,
    before: bpy.types.Action | None,
) -> None:
    """Stop the motion, and play again what was played before unless it is something new by now."""
    ours = {action, before} - {None}
    for track in list(data.nla_tracks):
        if track.name in layer["tracks"] and {strip.action for strip in track.strips} <= ours:
            data.nla_tracks.remove(track)
    if data.action in (None, action):
        data.action = before
        for slot in getattr(before, "slots", ()):
            if slot.handle == layer["slot"]:
                data.action_slot = slot
    bare = data.action is None and not len(data.drivers) and not len(data.nla_tracks)
    if bare and not layer["animated"]:
        data.id_data.animation_data_clear()


def _restore(owner: Any, values: dict[str, list[float]]) -> None:
    for name, value in values.items():
        setattr(owner, name, value)


def _point(armature: bpy.types.Object, name: str, block: bpy.types.ID | None) -> None:
    key = f"{KEY}_{name}"
    if block is not None:
        armature[key] = block
    elif key in armature:
        del armature[key]
