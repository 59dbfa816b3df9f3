"""Axes that the mesh itself offers: the edge or the face normal under a view ray."""

from __future__ import annotations

from typing import NamedTuple

import bpy
import numpy as np

from atop_backend.contracts import JointMotion

from . import convert, edit
from .record import Articulation


class Snap(NamedTuple):
    """A line on the object in the world, at the rest pose of the joint's parts."""

    origin: np.ndarray  # (3,)
    axis: np.ndarray  # (3,) unit


def snap_axis(
    context: bpy.types.Context,
    articulation: Articulation,
    origin: np.ndarray,
    direction: np.ndarray,
    *,
    normal: bool,
) -> Snap | None:
    """The edge nearest to where a ray hits, or the face's normal; None if it hits nothing.

    Args:
        origin: Where the ray starts in the world, (3,).
        direction: Where it goes, (3,).
        normal: The normal through the middle of the face instead of its edge.
    """
    graph = context.evaluated_depsgraph_get()
    hit, place, _, index, ob, matrix = context.scene.ray_cast(graph, origin, direction)
    if not hit:
        return None
    mesh = ob.evaluated_get(graph).data
    if not isinstance(mesh, bpy.types.Mesh) or index >= len(mesh.polygons):
        return None
    world = convert.as_array(matrix)
    polygon = mesh.polygons[index]
    corners = np.array([mesh.vertices[i].co for i in polygon.vertices], dtype=np.float64)
    corners = corners @ world[:3, :3].T + world[:3, 3]
    found = _normal(corners) if normal else _nearest_edge(corners, np.array(place))
    if found is None:
        return None
    if _moves(articulation, ob):
        rest = _back_to_rest(articulation)
        found = Snap(rest[:3, :3] @ found.origin + rest[:3, 3], rest[:3, :3] @ found.axis)
    return found


def _back_to_rest(articulation: Articulation) -> np.ndarray:
    """What takes the opened part back to its rest pose, (4, 4)."""
    opened = convert.as_array(articulation.pivot.matrix_world)
    return convert.as_array(articulation.frame.matrix_world) @ np.linalg.inv(opened)


def _moves(articulation: Articulation, ob: bpy.types.Object) -> bool:
    parts = {part.name_full for part in articulation.parts()}
    while ob is not None:
        if ob.name_full in parts:
            return True
        ob = ob.parent
    return False


def _normal(corners: np.ndarray) -> Snap | None:
    following = np.roll(corners, -1, axis=0)
    area = np.cross(corners, following).sum(axis=0)  # Newell: twice the area, along the normal
    size = np.linalg.norm(area)
    return Snap(corners.mean(axis=0), area / size) if size > 0 else None


def _nearest_edge(corners: np.ndarray, place: np.ndarray) -> Snap | None:
    ends = np.roll(corners, -1, axis=0)
    along = ends - corners
    lengths = np.maximum(np.einsum("nc,nc->n", along, along), 1e-30)
    shares = np.clip(np.einsum("nc,nc->n", place - corners, along) / lengths, 0, 1)
    gaps = np.linalg.norm(corners + shares[:, None] * along - place, axis=1)
    best = int(np.argmin(gaps))
    size = np.linalg.norm(along[best])
    if size < 1e-12:
        return None
    return Snap((corners[best] + ends[best]) / 2, along[best] / size)


def joint_on(articulation: Articulation, found: Snap) -> JointMotion:
    """The joint, in the pose it was written in, laid on a line; it keeps its sign."""
    now = edit.joint_now(articulation)
    axis = found.axis if np.dot(found.axis, now.axis) >= 0 else -found.axis
    back = np.linalg.inv(edit.rest_to_now(articulation))
    linear = back[:3, :3] @ axis
    origin = back[:3, :3] @ found.origin + back[:3, 3]
    joint = articulation.joint
    return JointMotion(
        joint.kind,
        tuple((linear / np.linalg.norm(linear)).tolist()),
        tuple(origin.tolist()),
        joint.lower,
        joint.upper,
    )
