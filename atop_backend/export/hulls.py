"""Convex pieces that stand in for a link in collisions: one for each connected surface."""

from __future__ import annotations

import numpy as np
import trimesh
from scipy.spatial import ConvexHull, QhullError

MOST_HULLS = 24  # a link; the largest surfaces are kept
FLAT = 0.01  # thinner than this share of its size, a surface is thickened to it


def collision_hulls(
    vertices: np.ndarray, triangles: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Convex hulls, as (vertices, triangles), of the connected surfaces of a mesh, largest first.

    A cabinet of boards keeps its hollow this way, which one hull would fill.
    """
    mesh = trimesh.Trimesh(vertices, triangles, process=True)
    mesh.merge_vertices(merge_tex=True, merge_norm=True)
    groups = trimesh.graph.connected_components(
        mesh.face_adjacency, nodes=np.arange(len(mesh.faces)), min_len=1
    )
    clouds = [mesh.vertices[np.unique(mesh.faces[group])] for group in groups]
    clouds.sort(key=lambda cloud: -float(np.linalg.norm(np.ptp(cloud, axis=0))))
    hulls = [_hull(cloud) for cloud in clouds[:MOST_HULLS]]
    return [hull for hull in hulls if hull is not None]


def _hull(points: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The hull with outward winding; None for a surface without area."""
    middle = points.mean(axis=0)
    spread = np.linalg.svd(points - middle, full_matrices=False)
    size = float(np.linalg.norm(np.ptp(points, axis=0)))
    if len(points) < 3 or size <= 0:
        return None
    along = (points - middle) @ spread[2].T
    thickness = np.ptp(along, axis=0)
    if thickness[1] < 1e-6 * size:
        return None
    if thickness[2] < FLAT * size:
        shift = spread[2][2] * FLAT * size / 2
        points = np.concatenate([points - shift, points + shift])
    try:
        hull = ConvexHull(points)
    except QhullError:
        return None
    corners = points[hull.vertices]
    index = np.full(len(points), -1)
    index[hull.vertices] = np.arange(len(hull.vertices))
    faces = index[hull.simplices]
    edges = np.cross(
        corners[faces[:, 1]] - corners[faces[:, 0]], corners[faces[:, 2]] - corners[faces[:, 0]]
    )
    inward = np.einsum("nc,nc->n", edges, hull.equations[:, :3]) < 0
    faces[inward] = faces[inward][:, ::-1]
    return corners, faces
