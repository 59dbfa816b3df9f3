"""Changes to a joint after it was written: flip, other answers, limits, baking, similar parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import bpy
import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.errors import InputError

from . import animate, convert, mesh_parts, physics, pick, rig, write
from .mesh_parts import MeshPart
from .record import Articulation, articulations


def flip(articulation: Articulation) -> None:
    """Let the part move the other way."""
    write.set_joint(articulation, articulation.joint.flipped())


def set_limit(articulation: Articulation, which: Literal["lower", "upper"], value: float) -> None:
    """Change one end of the range; the other gives way where it must."""
    joint = articulation.joint
    if which == "lower":
        joint = replace(joint, lower=value, upper=max(value, joint.upper))
    else:
        joint = replace(joint, upper=value, lower=min(value, joint.lower))
    write.set_joint(articulation, joint)


def rest_to_now(articulation: Articulation) -> np.ndarray:
    """How the joint's carrier has moved since the joint was written, (4, 4)."""
    frame = articulation.frame
    now = rig.parent_world(bpy.context, frame.parent, rig.parenting(frame))
    return now @ np.linalg.inv(np.array(articulation.data["parent_world"]))


def set_frame(articulation: Articulation, world: np.ndarray) -> None:
    """Lay the axis where a frame is now in the world: (4, 4), Z a hinge's axis, X a slider's."""
    before = np.linalg.inv(rest_to_now(articulation)) @ world
    write.set_joint(articulation, convert.frame_axis(articulation.joint, before))


def set_line(articulation: Articulation, origin: Sequence[float], axis: Sequence[float]) -> None:
    """Lay the axis on a line of the world as it is now, directed.

    Raises:
        InputError: The axis has no length.
    """
    length = float(np.linalg.norm(axis))
    if not 1e-12 < length < np.inf:
        raise InputError(
            f"the axis {tuple(axis)} has no direction", hint="give three numbers, not all zero"
        )
    x, y, z = (float(value) / length for value in axis)
    line = replace(joint_now(articulation), axis=(x, y, z), origin=tuple(map(float, origin)))
    set_frame(articulation, convert.joint_frame(line))


def joint_now(articulation: Articulation) -> JointMotion:
    """The joint where it is in the world now."""
    return convert.transform_joint(articulation.joint, rest_to_now(articulation))


def parts_again(articulation: Articulation) -> list[pick.Part]:
    """The parts as `write_joint` takes them, to articulate them once more."""
    found: list[pick.Part] = []
    for index, hang in enumerate(articulation.data["parts"]):
        part = articulation.pointed(f"part_{index}")
        if part is None:
            continue
        if hang["how"] == "bone":
            part = MeshPart(part, mesh_parts.faces_again(articulation, index), hang["group"])
        found.append(part)
    return found


def bake(context: bpy.types.Context, articulation: Articulation) -> int:
    """Replace the driver by a keyframe in every frame, for programs that know no drivers.

    Returns:
        How many frames were keyed.
    """
    curve = animate.open_curve(articulation.pivot)
    if curve is None:
        raise InputError("the joint has no animation", hint="animate Open first")
    joint = articulation.joint
    turns = joint.kind == "revolute"
    path, index = ("rotation_euler", 2) if turns else ("location", 0)
    pivot = articulation.pivot
    first, last = (round(x) for x in curve.range())
    travel = convert.full_travel(joint)
    values = [(frame, curve.evaluate(frame) * travel) for frame in range(first, last + 1)]
    rig.freeze_limits(pivot)
    pivot.driver_remove(path, index)
    for frame, value in values:
        getattr(pivot, path)[index] = value
        pivot.keyframe_insert(path, index=index, frame=frame)
    for fcurve in animate.fcurves_of(pivot):
        if fcurve.data_path == path:
            for point in fcurve.keyframe_points:
                point.interpolation = "LINEAR"
    context.view_layer.update()
    return len(values)


def physics_body(
    context: bpy.types.Context, parts: Sequence[bpy.types.Object | MeshPart]
) -> bpy.types.Object | None:
    """What holds the joint in a simulation: the mesh that the part's faces are of, else the
    largest mesh of the object beside the parts.
    """
    cut = next((part.object for part in parts if isinstance(part, MeshPart)), None)
    if cut is not None:
        return cut
    moving = {
        each
        for part in parts
        if not isinstance(part, MeshPart)
        for each in (part, *part.children_recursive)
    }
    rest = [
        ob for ob in pick.whole_object(context, parts) if ob.type == "MESH" and ob not in moving
    ]
    return max(rest, key=lambda ob: float(np.prod(ob.dimensions)), default=None)


def add_physics(context: bpy.types.Context, articulation: Articulation) -> None:
    """A rigid body constraint for a joint that has none yet."""
    body = physics_body(context, parts_again(articulation))
    if body is None:
        raise InputError(
            "there is nothing for the part to hang on", hint="give the object a body mesh"
        )
    physics.add_physics(context, articulation, body)


def revert_all(context: bpy.types.Context) -> int:
    """Take back every joint of the file; returns how many."""
    count = 0
    while found := next(articulations(), None):
        write.revert(context, found)
        count += 1
    return count
