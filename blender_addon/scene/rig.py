"""The two empties of a joint, and how parts hang on them.

`frame` is a still empty on the axis, child of whatever carried the part. `pivot` is its child: its
rest transform is the identity, so one channel moves it (Z rotation or X location), and a limit in
local space is exact for every axis. Blender reads local space along the object's own rotated axes
when there is no parent, which is why a single empty would not do.
"""

from __future__ import annotations

import math
from typing import Any

import bpy
import numpy as np

from atop_backend.contracts import JointMotion

from . import convert
from .record import Articulation, new_articulation

DEFORMING_PARENTS = ("ARMATURE", "LATTICE", "CURVE", "KEY")
IDENTITY_HANG = {
    "type": "OBJECT",
    "bone": "",
    "vertices": [0, 0, 0],
    "inverse": np.eye(4).tolist(),
}


def new_empty(
    name: str, size: float, look: str, collections: list[bpy.types.Collection]
) -> bpy.types.Object:
    """A fresh empty linked to the given collections."""
    empty = bpy.data.objects.new(name, None)
    empty.empty_display_type, empty.empty_display_size = look, size
    empty.rotation_mode = "QUATERNION" if look == "SINGLE_ARROW" else "XYZ"
    for collection in collections:
        collection.objects.link(empty)
    return empty


def build_rig(
    name: str, size: float, collections: list[bpy.types.Collection], joint: JointMotion, tag: str
) -> Articulation:
    """Frame and pivot with `open`, its driver still to be set by `aim_rig`."""
    frame = new_empty(f"{name} Joint", size, "SINGLE_ARROW", collections)
    pivot = new_empty(f"{name} Pivot", size * 0.4, "CIRCLE", collections)
    pivot.parent = frame
    pivot["open"] = 0.0
    pivot.id_properties_ui("open").update(
        min=0.0, max=1.0, soft_min=0.0, soft_max=1.0, description="0 as modelled, 1 open"
    )
    return new_articulation(frame, pivot, joint, tag)


def aim_rig(articulation: Articulation, joint: JointMotion, parent_world: np.ndarray) -> np.ndarray:
    """Lay the frame on the joint's axis and make the pivot follow `open`.

    Args:
        parent_world: World matrix of the frame's parent in the pose that the joint belongs to.

    Returns:
        The world matrix of the frame in that pose, as Blender's single precision has it.
    """
    frame, pivot = articulation.frame, articulation.pivot
    location, turn, _ = convert.as_matrix(convert.joint_frame(joint)).decompose()
    frame.location, frame.rotation_quaternion = location, turn
    frame.matrix_parent_inverse = convert.as_matrix(np.linalg.inv(parent_world))
    frame.empty_display_type = "SINGLE_ARROW" if joint.kind == "revolute" else "ARROWS"
    _drive(pivot, joint)
    _limit(pivot, joint)
    return frame_at_rest(articulation, parent_world)


def frame_at_rest(articulation: Articulation, parent_world: np.ndarray | None = None) -> np.ndarray:
    """World matrix of the frame in the pose that its joint belongs to, (4, 4).

    Args:
        parent_world: Of the frame's parent in that pose; as stored if None.
    """
    frame = articulation.frame
    basis = convert.as_array(frame.matrix_basis)
    if frame.parent is None:
        return basis
    if parent_world is None:
        parent_world = np.array(articulation.data["parent_world"])
    return parent_world @ convert.as_array(frame.matrix_parent_inverse) @ basis


def _drive(pivot: bpy.types.Object, joint: JointMotion) -> None:
    for path in ("rotation_euler", "location"):
        pivot.driver_remove(path)
    pivot.location = pivot.rotation_euler = (0.0, 0.0, 0.0)
    turns = joint.kind == "revolute"
    for name, value in (("lower", joint.lower), ("upper", joint.upper)):
        pivot[name] = value
        pivot.id_properties_ui(name).update(
            subtype="ANGLE" if turns else "DISTANCE",
            description="How far the joint may go; Open and its keyframes follow",
        )
    path, index = ("rotation_euler", 2) if turns else ("location", 0)
    # simple expressions: Blender runs them even where Python scripts in files are forbidden
    curve = pivot.driver_add(path, index)
    express(curve, pivot, "open * (upper if upper > 0 else lower)", ("open", "lower", "upper"))


def express(
    curve: bpy.types.FCurve, pivot: bpy.types.Object, expression: str, names: tuple[str, ...]
) -> None:
    """Let a driver follow custom properties of the pivot."""
    curve.driver.expression = expression
    for name in names:
        variable = curve.driver.variables.new()
        variable.name = name
        variable.targets[0].id = pivot
        variable.targets[0].data_path = f'["{name}"]'


def _limit(pivot: bpy.types.Object, joint: JointMotion) -> None:
    freeze_limits(pivot)
    for constraint in list(pivot.constraints):
        if constraint.name == "Range":
            pivot.constraints.remove(constraint)
    turns = joint.kind == "revolute"
    limit = pivot.constraints.new("LIMIT_ROTATION" if turns else "LIMIT_LOCATION")
    limit.name, limit.owner_space, limit.use_transform_limit = "Range", "LOCAL", True
    travels = "z" if turns else "x"
    for axis in "xyz":
        if turns:
            # beyond a full turn an angle cannot be told from its rest
            short = joint.upper - joint.lower < 2 * math.pi - 1e-3
            setattr(limit, f"use_limit_{axis}", short or axis != travels)
        else:
            setattr(limit, f"use_min_{axis}", True)
            setattr(limit, f"use_max_{axis}", True)
    express(limit.driver_add(f"min_{travels}"), pivot, "lower", ("lower",))
    express(limit.driver_add(f"max_{travels}"), pivot, "upper", ("upper",))


def freeze_limits(pivot: bpy.types.Object) -> None:
    """Let the limits of the pivot stay as they are, without drivers."""
    for constraint in pivot.constraints:
        if constraint.name == "Range":
            for name in ("min_x", "max_x", "min_z", "max_z"):
                constraint.driver_remove(name)


def parent_world(
    context: bpy.types.Context, parent: bpy.types.Object | None, hang: dict[str, Any]
) -> np.ndarray:
    """World matrix that a child with this parenting starts from, without parent inverse; (4, 4)."""
    if parent is None:
        return np.eye(4)
    if hang["type"] == "OBJECT" or hang["type"] in DEFORMING_PARENTS:
        return convert.as_array(parent.matrix_world)
    probe = new_empty("atop probe", 1.0, "PLAIN_AXES", [context.scene.collection])
    try:
        set_parent(probe, parent, hang | {"inverse": IDENTITY_HANG["inverse"]})
        context.view_layer.update()
        return convert.as_array(probe.matrix_world)
    finally:
        bpy.data.objects.remove(probe)


def parenting(ob: bpy.types.Object) -> dict[str, Any]:
    """How an object hangs on its parent, as plain numbers; `set_parent` puts it back."""
    return {
        "type": ob.parent_type,
        "bone": ob.parent_bone,
        "vertices": list(ob.parent_vertices),
        "inverse": convert.as_array(ob.matrix_parent_inverse).tolist(),
    }


def set_parent(ob: bpy.types.Object, parent: bpy.types.Object | None, hang: dict[str, Any]) -> None:
    """Hang an object on a parent the way `parenting` described."""
    ob.parent = parent
    if parent is not None:
        ob.parent_type = hang["type"]
        ob.parent_bone = hang["bone"]
        ob.parent_vertices = hang["vertices"]
    ob.matrix_parent_inverse = convert.as_matrix(np.array(hang["inverse"]))
