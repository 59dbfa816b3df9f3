"""The joint of one part, given to parts like it: drawers of a stack, the other door of a pair."""

from __future__ import annotations

import math
from collections.abc import Sequence

import bpy
import numpy as np

from atop_backend.errors import InputError

from ..core.keyframes import Easing
from . import convert, edit, mesh_parts, pick, read, write
from .mesh_parts import MeshPart
from .record import Articulation

_ALONG_DEG = 20.0  # two parts this nearly in line with an axis of their object lie along it
_SAME_SHAPE = 1e-4  # of a part's size: bounding boxes that differ by less are of copies


def articulate_like(
    context: bpy.types.Context,
    articulation: Articulation,
    others: Sequence[pick.Part],
    *,
    mirror: bool,
    frame_start: float,
    duration_frames: float,
    easing: Easing = "EASE",
) -> list[Articulation]:
    """Give similar parts the joint as it is now, with whatever the artist corrected.

    Copies of the part, turned or mirrored ones too, get it where it is on the copy; other parts
    get it shifted along, or mirrored to the other side.

    Raises:
        InputError: Nothing else is picked, or the articulated part has been deleted.
    """
    own = edit.parts_again(articulation)
    alike = [part for part in others if not isinstance(part, bpy.types.Object) or part not in own]
    alike = [part for part in alike if isinstance(part, MeshPart) or pick.has_faces(part)]
    roots = write.root_parts(alike) if alike else []
    targets = [part for part in roots if not _is(part, articulation)]
    if not own or not targets:
        raise InputError(
            "there is nothing to copy the joint to",
            hint="select the similar parts, then the articulated part last",
        )
    with read.at_rest(context, [*own, *targets]):
        joint = edit.joint_now(articulation)
        joints = [
            convert.transform_joint(joint, _to_similar(articulation, own[0], part, mirror=mirror))
            for part in targets
        ]
    return [
        write.write_joint(
            context,
            [part],
            there,
            frame_start=frame_start,
            duration_frames=duration_frames,
            easing=easing,
        )
        for part, there in zip(targets, joints, strict=True)
    ]


def _is(part: pick.Part, articulation: Articulation) -> bool:
    found = write.find_articulation([part])
    return found is not None and found.frame == articulation.frame


def _to_similar(
    articulation: Articulation, own: pick.Part, other: pick.Part, *, mirror: bool
) -> np.ndarray:
    """What takes the joint's part to another one like it, in the world, (4, 4)."""
    if isinstance(own, bpy.types.Object) and isinstance(other, bpy.types.Object):
        moved = _between_copies(own, other)
        if moved is not None and (not mirror or np.linalg.det(moved[:3, :3]) < 0):
            return moved
    here, there = _centre(own), _centre(other)
    return _mirrored(articulation, here, there) if mirror else _shifted(here, there)


def _between_copies(own: bpy.types.Object, other: bpy.types.Object) -> np.ndarray | None:
    """What takes an object onto its copy, (4, 4); None for other shapes or a distorted copy."""
    if not _same_shape(own, other):
        return None
    before = convert.as_array(own.matrix_world)
    if abs(np.linalg.det(before[:3, :3])) < 1e-12:
        return None
    moved = convert.as_array(other.matrix_world) @ np.linalg.inv(before)
    linear = moved[:3, :3]
    stretch = linear.T @ linear
    scale = np.trace(stretch) / 3
    return moved if np.allclose(stretch, scale * np.eye(3), rtol=0, atol=1e-3 * scale) else None


def _same_shape(one: bpy.types.Object, other: bpy.types.Object) -> bool:
    if one.data is None or one.data == other.data:
        return one.data is not None
    if one.type != "MESH" or other.type != "MESH":
        return False
    boxes = np.array(one.bound_box), np.array(other.bound_box)
    size = float(np.ptp(boxes[0], axis=0).max())
    alike = np.allclose(*boxes, rtol=0, atol=_SAME_SHAPE * size)
    return alike and len(one.data.vertices) == len(other.data.vertices)


def _shifted(here: np.ndarray, there: np.ndarray) -> np.ndarray:
    shift = np.eye(4)
    shift[:3, 3] = there - here
    return shift


def _mirrored(articulation: Articulation, here: np.ndarray, there: np.ndarray) -> np.ndarray:
    """The reflection in the plane halfway between two centres, across an axis of the object."""
    distance = float(np.linalg.norm(there - here))
    if distance == 0:
        raise InputError(
            "the two parts lie in one place, so there is no side to mirror to",
            hint="apply the joint without mirroring",
        )
    normal = (there - here) / distance
    carrier = articulation.frame.parent
    axes = np.eye(3) if carrier is None else convert.as_array(carrier.matrix_world)[:3, :3].T
    axes = axes / np.maximum(np.linalg.norm(axes, axis=1, keepdims=True), 1e-12)
    cosines = axes @ normal
    nearest = int(np.argmax(np.abs(cosines)))
    if abs(cosines[nearest]) > math.cos(math.radians(_ALONG_DEG)):
        normal = axes[nearest]  # a handle or a trim on one of them shifts its centre a little
    reflect = np.eye(4)
    reflect[:3, :3] -= 2 * np.outer(normal, normal)
    reflect[:3, 3] = 2 * normal * float(normal @ (here + there) / 2)
    return reflect


def _centre(part: pick.Part) -> np.ndarray:
    """Middle of the part's bounds in the world, (3,)."""
    if isinstance(part, MeshPart):
        corners = mesh_parts.corners_in_world(part)
        return (corners.min(axis=0) + corners.max(axis=0)) / 2
    low, high = pick.bounds({part, *part.children_recursive})
    return (low + high) / 2
