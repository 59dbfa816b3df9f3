"""What a moving part runs into, and where it touches the rest of its object.

Real assets are neither closed nor clean, so nothing here asks whether a point is inside: a part
collides where its points pass through triangles of the body on their way. Contact at rest, as of
a door lying on its cabinet, is no collision.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

_NEIGHBOURS = 6  # triangles tried for each short step of a point
_MARGIN = 0.004  # a point must clear a triangle's plane by this much on both sides


class Obstacle(NamedTuple):
    """A surface to run into."""

    corners: np.ndarray  # (m, 3, 3), triangles
    points: np.ndarray  # (n, 3), evenly spread over them
    owners: np.ndarray  # (n,), the triangle of each point
    tree: cKDTree
    spacing: float  # about the distance between neighbouring points


def scatter(
    corners: np.ndarray, count: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Points (count, 3) spread evenly over triangles (m, 3, 3), and the triangle of each (count,).

    Each triangle gets its share of the points rounded up or down, not a random number of them.
    """
    areas = 0.5 * np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )
    edges = np.cumsum(areas)
    ladder = (np.arange(count) + generator.random()) / count * edges[-1]
    owners = np.minimum(np.searchsorted(edges, ladder, side="right"), len(corners) - 1)
    u, v = generator.random((2, count))
    fold = u + v > 1
    u, v = np.where(fold, 1 - u, u), np.where(fold, 1 - v, v)
    a, b, c = np.moveaxis(corners[owners], 1, 0)
    return a + u[:, None] * (b - a) + v[:, None] * (c - a), owners


def obstacle(corners: np.ndarray, count: int, generator: np.random.Generator) -> Obstacle:
    """The surface of triangles (m, 3, 3), prepared for `passes_through` and `distance_to`."""
    points, owners = scatter(corners, count, generator)
    tree = cKDTree(points)
    gaps = tree.query(points[:: max(1, count // 500)], k=2)[0][:, 1]
    return Obstacle(corners, points, owners, tree, float(np.median(gaps)) * 1.5)


def distance_to(surface: Obstacle, points: np.ndarray) -> np.ndarray:
    """Distances (...) of points (..., 3) from the surface."""
    flat = points.reshape(-1, 3)
    _, nearest = surface.tree.query(flat, k=min(_NEIGHBOURS, len(surface.points)))
    triangles = surface.corners[surface.owners[nearest.reshape(len(flat), -1)]]
    return _point_triangle(flat[:, None], triangles).min(axis=1).reshape(points.shape[:-1])


def _point_triangle(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Distances (...) between points (..., 3) and triangles (..., 3, 3)."""
    a, b, c = np.moveaxis(triangles, -2, 0)
    normal = np.cross(b - a, c - a)
    area = np.sum(normal * normal, axis=-1)
    offset = points - a
    inside = area > 1e-24
    distances = []
    for start, end in ((a, b), (b, c), (c, a)):
        edge, arm = end - start, points - start
        inside = inside & (np.sum(np.cross(edge, arm) * normal, axis=-1) >= 0)
        length = np.maximum(np.sum(edge * edge, axis=-1), 1e-24)
        share = np.clip(np.sum(edge * arm, axis=-1) / length, 0, 1)
        distances.append(np.linalg.norm(arm - share[..., None] * edge, axis=-1))
    height = np.abs(np.sum(offset * normal, axis=-1)) / np.sqrt(np.maximum(area, 1e-24))
    return np.where(inside, height, np.min(distances, axis=0))


def passes_through(surface: Obstacle, tracks: np.ndarray) -> np.ndarray:
    """Whether each point has gone through the surface by each step, (..., steps, n).

    Args:
        tracks: Places of the points, (..., steps + 1, n, 3), in steps no longer than a few
            times the surface's spacing.
    """
    start, end = tracks[..., :-1, :, :], tracks[..., 1:, :, :]
    middle = ((start + end) / 2).reshape(-1, 3)
    reach = float(np.max(np.linalg.norm(end - start, axis=-1), initial=0)) / 2 + 2 * surface.spacing
    near, nearest = surface.tree.query(
        middle, k=min(_NEIGHBOURS, len(surface.points)), distance_upper_bound=reach
    )
    near, nearest = near.reshape(len(middle), -1), nearest.reshape(len(middle), -1)
    rows, slots = np.nonzero(np.isfinite(near))
    triangles = surface.corners[surface.owners[nearest[rows, slots]]]
    crossed = np.zeros(len(middle), dtype=bool)
    hit = _crosses(start.reshape(-1, 3)[rows], end.reshape(-1, 3)[rows], triangles)
    crossed[rows[hit]] = True
    steps = crossed.reshape(start.shape[:-1])
    return np.logical_or.accumulate(steps, axis=-2)


def _crosses(start: np.ndarray, end: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Whether each segment (n, 3) to (n, 3) goes through its triangle (n, 3, 3)."""
    a, b, c = np.moveaxis(triangles, 1, 0)
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=-1)
    usable = length > 1e-12
    normal = normal / np.where(usable, length, 1.0)[:, None]
    before = np.sum((start - a) * normal, axis=-1)
    after = np.sum((end - a) * normal, axis=-1)
    usable &= (before * after < 0) & (np.minimum(np.abs(before), np.abs(after)) > _MARGIN)
    share = before / np.where(usable, before - after, 1.0)
    place = start + share[:, None] * (end - start)
    for first, second in ((a, b), (b, c), (c, a)):
        usable &= np.sum(np.cross(second - first, place - first) * normal, axis=-1) >= 0
    return usable
