"""A motion -> F-curves on pose bones and on the armature object, in a new action.

The same code for the actions of Blender 4.2 to 5.x. Nothing but the action is added; whoever calls
decides what plays it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

import bpy
import numpy as np

from atop_backend.errors import InputError

from ..core.rig_motion import Motion, at_scene_rate, matrices, quaternion, rotation_channels
from . import convert

Root = Literal["OBJECT", "BONE"]
_FLIP = np.array([1.0, 1.0, -1.0, -1.0])  # of a quaternion, when the local X axis is flipped
_STILL = 1e-6
_IDENTITY = {
    "location": (0.0, 0.0, 0.0),
    "scale": (1.0, 1.0, 1.0),
    "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
    "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0),
    "rotation_euler": (0.0, 0.0, 0.0),
}


class Placing(NamedTuple):
    """When and on what the motion is written."""

    frame_start: float
    fps: float  # of the scene
    root: Root  # what carries the motion of the whole
    world: np.ndarray | None = None  # (4, 4) of the armature at the motion's rest; None for now


class Channel(NamedTuple):
    """One property over time."""

    path: str
    values: np.ndarray  # (keys, components)
    group: str
    travels: bool = False  # a repetition goes on from where the last one ended


class Written(NamedTuple):
    """What has been made."""

    action: bpy.types.Action
    bones: tuple[str, ...]  # with keys
    root_moves: bool


def bones_of(armature: bpy.types.Object, motion: Motion) -> list[bpy.types.Bone]:
    """The bones that decide the pose of the motion, parents first: its own and all above them.

    Raises:
        InputError: The armature has lost a bone of the motion.
    """
    every = armature.data.bones
    lost = [name for name in motion.bones if name not in every]
    if lost:
        raise InputError(
            f"{armature.name!r} has no bone {', '.join(lost[:4])} any more",
            hint="animate the rig again",
        )
    wanted = {name for name in motion.bones}
    for name in motion.bones:
        wanted.update(bone.name for bone in every[name].parent_recursive)
    if not wanted:  # only the whole moves
        wanted = {bone.name for bone in every if bone.parent is None}
    # a bone that does not inherit rotation needs keys to turn with its parents after all
    wanted.update(
        bone.name
        for bone in every
        if not bone.use_inherit_rotation and wanted & {b.name for b in bone.parent_recursive}
    )
    return sorted((every[name] for name in wanted), key=lambda b: len(b.parent_recursive))


def hangs_on(ob: bpy.types.Object, carrier: bpy.types.Object) -> bool:
    """Whether an object moves along when the carrier is moved."""
    while ob is not None:
        if ob == carrier or any(target == carrier for target, _ in followed(ob)):
            return True
        ob = ob.parent
    return False


def followed(ob: bpy.types.Object) -> list[tuple[bpy.types.Object, str]]:
    """What carries an object along by a constraint, and which bone of it."""
    return [
        (constraint.target, constraint.subtarget)
        for constraint in ob.constraints
        if constraint.type in ("CHILD_OF", "COPY_TRANSFORMS") and not constraint.mute
    ]


def skins(armature: bpy.types.Object) -> list[bpy.types.Object]:
    """The objects that an Armature modifier binds to the armature, or that are its children."""
    children = set(armature.children_recursive)
    return [
        ob
        for ob in bpy.data.objects
        if ob in children
        or any(m.type == "ARMATURE" and m.object == armature for m in ob.modifiers)
    ]


def why_not_object(armature: bpy.types.Object) -> str:
    """Why the motion of the whole cannot be on the object; empty if it can."""
    stays = [ob.name for ob in skins(armature) if not hangs_on(ob, armature)]
    if stays:
        return f"{', '.join(stays[:4])} would not follow, being no child of {armature.name!r}"
    if any(not each.mute and each.influence for each in armature.constraints):
        return f"constraints decide where {armature.name!r} is"
    drivers = armature.animation_data.drivers if armature.animation_data else ()
    if any(d.data_path.startswith(("location", "rotation", "scale")) for d in drivers):
        return f"drivers decide where {armature.name!r} is"
    return ""


def write_action(
    armature: bpy.types.Object, motion: Motion, placing: Placing, name: str
) -> Written:
    """A new action with the motion; it plays on nothing yet.

    Raises:
        InputError: The armature has lost a bone of the motion.
    """
    frames, motion = at_scene_rate(motion, placing.fps)
    world = convert.as_array(armature.matrix_world) if placing.world is None else placing.world
    if np.linalg.det(world[:3, :3]) < 0:
        motion = motion._replace(rotations=motion.rotations * _FLIP)
    moves = _root_moves(motion)
    bones = bones_of(armature, motion)
    channels = list(_bone_channels(armature, motion, bones, placing, world if moves else None))
    if moves and placing.root == "OBJECT":
        channels += _object_channels(armature, motion, world)
    action = bpy.data.actions.new(name)
    curves = _curve_maker(action, armature)
    for channel in channels:
        for index, values in enumerate(channel.values.T):
            curve = curves(channel.path, index, channel.group)
            _fill(curve, frames[: len(values)] + placing.frame_start, values)
            if motion.cyclic and len(values) > 1:
                _repeat(curve, channel.travels)
    return Written(action, tuple(bone.name for bone in bones), moves)


def _root_moves(motion: Motion) -> bool:
    turned = np.abs(motion.root_rotations[:, 1:]).max()
    return bool(max(turned, np.abs(motion.root_translations).max()) > _STILL)


def _bone_channels(
    armature: bpy.types.Object,
    motion: Motion,
    bones: list[bpy.types.Bone],
    placing: Placing,
    world: np.ndarray | None,
) -> Iterator[Channel]:
    """Rotations of the motion's bones, and rest values wherever something else is left over.

    Args:
        world: Of the armature at rest; None if the whole stands still.
    """
    column = {name: index for index, name in enumerate(motion.bones)}
    others = keyed_paths(armature)
    carried = None if world is None or placing.root == "OBJECT" else _rigid(motion, world)
    still = np.tile([1.0, 0.0, 0.0, 0.0], (len(motion.root_rotations), 1))
    # only bones with unusual ways of inheriting need the poses of the bones above them
    unusual = [bone for bone in bones if not bone.use_inherit_rotation]
    poses = _poses(bones, motion, column, carried) if unusual or carried is not None else {}
    for bone in bones:
        pose = armature.pose.bones[bone.name]
        turns = motion.rotations[:, column[bone.name]] if bone.name in column else still
        values = {"location": None, "rotation": turns if bone.name in column else None}
        if bone in unusual or (bone.parent is None and carried is not None):
            basis = _basis(bone, poses)
            values["location"] = basis[:, :3, 3]
            values["rotation"] = np.array([quaternion(m) for m in basis[:, :3, :3]])
        prefix = pose.path_from_id() + "."
        path, rotation = rotation_channels(
            still if values["rotation"] is None else values["rotation"], pose.rotation_mode
        )
        keyed = {path: rotation if values["rotation"] is not None else None}
        keyed |= {"location": values["location"], "scale": None}
        for name, numbers in keyed.items():
            if numbers is None:  # at rest: said only where something else would show
                rest = np.array([_IDENTITY[name]])
                left = np.abs(np.array(getattr(pose, name)) - rest).max() > _STILL
                if not left and prefix + name not in others:
                    continue
                numbers = rest
            yield Channel(prefix + name, numbers, bone.name, travels=name == "location")


def _rigid(motion: Motion, world: np.ndarray) -> np.ndarray:
    """The motion of the whole in the armature's own space, (frames, 4, 4)."""
    moves = _root_matrices(motion)
    return np.linalg.inv(world) @ moves @ world


def _root_matrices(motion: Motion) -> np.ndarray:
    moves = np.tile(np.eye(4), (len(motion.root_rotations), 1, 1))
    moves[:, :3, :3] = matrices(motion.root_rotations)
    moves[:, :3, 3] = motion.root_translations
    return moves


def _poses(
    bones: list[bpy.types.Bone],
    motion: Motion,
    column: dict[str, int],
    carried: np.ndarray | None,
) -> dict[str, np.ndarray]:
    """Pose matrices of the bones in the armature's space, (frames, 4, 4) each."""
    poses: dict[str, np.ndarray] = {}
    for bone in bones:
        rest = convert.as_array(bone.matrix_local)
        turn = np.tile(np.eye(4), (len(motion.root_rotations), 1, 1))
        if bone.name in column:
            turn[:, :3, :3] = matrices(motion.rotations[:, column[bone.name]])
        if bone.parent is None:
            poses[bone.name] = rest @ turn if carried is None else carried @ rest @ turn
        else:
            above = np.linalg.inv(convert.as_array(bone.parent.matrix_local)) @ rest
            poses[bone.name] = poses[bone.parent.name] @ above @ turn
    return poses


def _basis(bone: bpy.types.Bone, poses: dict[str, np.ndarray]) -> np.ndarray:
    """What the channels of a bone must say for its poses, (frames, 4, 4)."""
    found = []
    for frame, pose in enumerate(poses[bone.name]):
        above = {}
        if bone.parent is not None:
            above["parent_matrix"] = convert.as_matrix(poses[bone.parent.name][frame])
            above["parent_matrix_local"] = bone.parent.matrix_local
        own = convert.as_matrix(pose)
        local = bone.convert_local_to_pose(own, bone.matrix_local, invert=True, **above)
        found.append(convert.as_array(local))
    return np.array(found)


def _object_channels(
    armature: bpy.types.Object, motion: Motion, world: np.ndarray
) -> Iterator[Channel]:
    """Location and rotation of the armature object that move the whole; its scale stays."""
    basis = convert.as_array(armature.matrix_basis)
    above = convert.as_array(armature.matrix_world) @ np.linalg.inv(basis)  # parent and its inverse
    moved = np.linalg.inv(above) @ _root_matrices(motion) @ world
    scale = np.array(armature.scale) * np.array(armature.delta_scale)
    turns = np.linalg.inv(_delta_rotation(armature)) @ (moved[:, :3, :3] / scale)
    path, values = rotation_channels(
        np.array([quaternion(turn) for turn in turns]), armature.rotation_mode
    )
    places = moved[:, :3, 3] - np.array(armature.delta_location)
    yield Channel("location", places, "Object Transforms", travels=True)
    yield Channel(path, values, "Object Transforms")


def _delta_rotation(ob: bpy.types.Object) -> np.ndarray:
    """The rotation (3, 3) that Blender puts before that of the channels."""
    match ob.rotation_mode:
        case "QUATERNION":
            return np.array(ob.delta_rotation_quaternion.to_matrix(), dtype=float)
        case "AXIS_ANGLE":
            return np.eye(3)
        case _:
            return np.array(ob.delta_rotation_euler.to_matrix(), dtype=float)


def keyed_paths(ob: bpy.types.Object) -> set[str]:
    """Data paths that the object's action or its NLA strips animate."""
    data = ob.animation_data
    if data is None:
        return set()
    actions = [data.action, *(s.action for track in data.nla_tracks for s in track.strips)]
    return {curve.data_path for action in actions if action for curve in curves_of(action)}


def curves_of(action: bpy.types.Action) -> Iterable[bpy.types.FCurve]:
    """All F-curves of an action, of all its slots."""
    if not hasattr(action, "layers"):
        return action.fcurves
    return [
        curve
        for layer in action.layers
        for strip in layer.strips
        for bag in strip.channelbags
        for curve in bag.fcurves
    ]


def _curve_maker(action: bpy.types.Action, ob: bpy.types.Object) -> Any:
    """A function of (path, index, group) that adds an F-curve to the action."""
    if not hasattr(action, "layers"):  # before 4.4
        return lambda path, index, group: action.fcurves.new(path, index=index, action_group=group)
    slot = action.slots.new(id_type="OBJECT", name=ob.name)
    strip = action.layers.new("Layer").strips.new(type="KEYFRAME")
    bag = strip.channelbag(slot, ensure=True)

    def make(path: str, index: int, group: str) -> bpy.types.FCurve:
        curve = bag.fcurves.new(path, index=index)
        curve.group = bag.groups.get(group) or bag.groups.new(group)
        return curve

    return make


def _fill(curve: bpy.types.FCurve, frames: np.ndarray, values: np.ndarray) -> None:
    points = curve.keyframe_points
    points.add(len(values))
    points.foreach_set("co", np.stack([frames, values], axis=1).ravel())
    kinds = bpy.types.Keyframe.bl_rna.properties
    for name, value in (
        ("interpolation", "BEZIER"),
        ("handle_left_type", "AUTO_CLAMPED"),
        ("handle_right_type", "AUTO_CLAMPED"),
        ("type", "KEYFRAME"),
    ):
        number = kinds[name].enum_items[value].value
        points.foreach_set(name, np.full(len(values), number, np.int32))
    curve.extrapolation = "CONSTANT"
    curve.update()


def _repeat(curve: bpy.types.FCurve, travels: bool) -> None:
    cycles = curve.modifiers.new("CYCLES")
    cycles.mode_before = cycles.mode_after = "REPEAT_OFFSET" if travels else "REPEAT"
    curve.update()


def play(ob: bpy.types.Object, action: bpy.types.Action | None) -> None:
    """Make the action the object's active one, with its first slot where there are slots."""
    data = ob.animation_data or ob.animation_data_create()
    data.action = action
    if action is not None and hasattr(action, "slots"):
        data.action_slot = action.slots[0]
