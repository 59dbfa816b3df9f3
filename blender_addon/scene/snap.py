"""Axes that the mesh itself offers: the edge or the face normal under a view ray."""

from __future__ import annotations

from typing import NamedTuple

import bpy
import numpy as np

from atop_backend.contracts import JointMotion

from . import convert, edit
from .record import Articulation

_SAME_PLANE = 0.9998  # cosine of one degree
_MOST_FACES = 300_000  # of a mesh; beyond it only the face itself is looked at, to stay quick
_MOST_ALIKE = 2000  # faces in one plane


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
    faces = _flat_region(mesh, index)
    found = _normal(_corners(mesh, index, world)) if normal else None
    if not normal:
        found = _nearest_edge(_borders(mesh, faces, world), np.array(place))
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


def _corners(mesh: bpy.types.Mesh, face: int, world: np.ndarray) -> np.ndarray:
    corners = np.array([mesh.vertices[i].co for i in mesh.polygons[face].vertices], np.float64)
    return corners @ world[:3, :3].T + world[:3, 3]


def _flat_region(mesh: bpy.types.Mesh, start: int) -> list[int]:
    """The face and those that continue it in one plane: triangles of a flat side count as one."""
    if len(mesh.polygons) > _MOST_FACES:
        return [start]
    normals = np.empty(len(mesh.polygons) * 3, np.float32)
    mesh.polygons.foreach_get("normal", normals)
    centres = np.empty_like(normals)
    mesh.polygons.foreach_get("center", centres)
    normals, centres = normals.reshape(-1, 3), centres.reshape(-1, 3)
    size = float(np.ptp(centres, axis=0).max()) or 1.0
    level = np.abs((centres - centres[start]) @ normals[start]) < 1e-3 * size
    alike = np.flatnonzero(level & (normals @ normals[start] > _SAME_PLANE))
    edges = {face: _edges(mesh, face) for face in {start, *alike[:_MOST_ALIKE].tolist()}}
    faces_at: dict[frozenset, list[int]] = {}
    for face, own in edges.items():
        for edge in own:
            faces_at.setdefault(edge, []).append(face)
    region, pending = {start}, [start]
    while pending:
        for edge in edges[pending.pop()]:
            new = [face for face in faces_at[edge] if face not in region]
            region.update(new)
            pending += new
    return sorted(region)


def _edges(mesh: bpy.types.Mesh, face: int) -> dict[frozenset, tuple]:
    """A face's edges by the places of their ends: many files split vertices along every edge."""
    corners = [tuple(mesh.vertices[i].co) for i in mesh.polygons[face].vertices]
    pairs = zip(corners, corners[1:] + corners[:1], strict=True)
    return {frozenset(pair): pair for pair in pairs}


def _borders(mesh: bpy.types.Mesh, faces: list[int], world: np.ndarray) -> np.ndarray:
    """The edges around a flat region in the world, (n, 2, 3): those that only one face has."""
    count: dict[frozenset, int] = {}
    ends: dict[frozenset, tuple] = {}
    for face in faces:
        for edge, pair in _edges(mesh, face).items():
            count[edge] = count.get(edge, 0) + 1
            ends[edge] = pair
    points = np.array([ends[edge] for edge, times in count.items() if times == 1], np.float64)
    return points.reshape(-1, 2, 3) @ world[:3, :3].T + world[:3, 3]


def _normal(corners: np.ndarray) -> Snap | None:
    following = np.roll(corners, -1, axis=0)
    area = np.cross(corners, following).sum(axis=0)  # Newell: twice the area, along the normal
    size = np.linalg.norm(area)
    return Snap(corners.mean(axis=0), area / size) if size > 0 else None


def _nearest_edge(edges: np.ndarray, place: np.ndarray) -> Snap | None:
    """The edge of (n, 2, 3) that is nearest to a point, as a line through its middle."""
    if not len(edges):
        return None
    starts, along = edges[:, 0], edges[:, 1] - edges[:, 0]
    squares = np.maximum(np.einsum("nc,nc->n", along, along), 1e-30)
    shares = np.clip(np.einsum("nc,nc->n", place - starts, along) / squares, 0, 1)
    gaps = np.linalg.norm(starts + shares[:, None] * along - place, axis=1)
    best = int(np.argmin(gaps))
    size = np.linalg.norm(along[best])
    return Snap(edges[best].mean(axis=0), along[best] / size) if size > 1e-12 else None


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
