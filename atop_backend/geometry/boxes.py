"""Oriented boxes that lie as the surface does, also where principal axes are not defined.

The paper takes principal components of the part. Those are arbitrary for square panels, discs
and anything near-cubic, so the box here is the tightest among frames made of the surface's own
dominant normals, of minimum-area rectangles and of a reference frame.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from atop_backend.geometry.joints import perpendiculars, unit

_ALIGNED_DEG = 1.5  # normals this near to a box axis count as lying along it
_MANY = 6000  # triangles or points beyond which a sample of them does
_NORMAL_BONUS = 0.15  # how much smaller a box may look when all its surface lies along its axes
_REFERENCE_BONUS = 0.05  # decides for round parts, where any turn about the axis is as tight


class Box(NamedTuple):
    """An oriented box."""

    centre: np.ndarray  # (3,)
    axes: np.ndarray  # (3, 3), one unit axis a row, right-handed, longest extent first
    half: np.ndarray  # (3,), half extents along the axes

    @property
    def radius(self) -> float:
        """Half the diagonal."""
        return float(np.linalg.norm(self.half))


def triangle_normals(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit normals (m, 3) and areas (m,) of triangles (m, 3, 3); zero normals where flat."""
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return unit(cross), 0.5 * np.linalg.norm(cross, axis=1)


def _weighted_normals(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Normals and the area that each stands for; of many triangles some, drawn by area."""
    normals, areas = triangle_normals(corners)
    if len(normals) <= _MANY:
        return normals, areas
    edges = np.cumsum(areas)
    picks = np.searchsorted(edges, (np.arange(_MANY) + 0.5) / _MANY * edges[-1])
    return normals[picks], np.full(_MANY, edges[-1] / _MANY)


def dominant_directions(
    corners: np.ndarray, count: int = 8, spread_deg: float = 1.5
) -> tuple[np.ndarray, np.ndarray]:
    """Undirected normals (k, 3) that most of a surface has, and their shares of its area (k,).

    Args:
        corners: Triangles, (m, 3, 3).
        spread_deg: Normals this near to each other are counted as one.
    """
    normals, areas = _weighted_normals(corners)
    total = areas.sum()
    directions, shares = [], []
    left = areas.copy()
    for _ in range(count):
        seed = normals[np.argmax(left)]
        for _ in range(2):  # the seed, then the mean of what is near it
            cosine = normals @ seed
            near = (np.abs(cosine) > np.cos(np.radians(spread_deg))) & (left > 0)
            pull = (left * near * np.sign(cosine)) @ normals
            if not pull.any():
                break
            seed = unit(pull)
        share = left[near].sum() / max(total, 1e-300)
        if share < 0.02:
            break
        directions.append(seed)
        shares.append(share)
        left[near] = 0.0
    return np.reshape(directions, (-1, 3)), np.asarray(shares)


def _smallest_rectangle(flat: np.ndarray) -> np.ndarray:
    """Direction (2,) of one side of the minimum-area rectangle around points (n, 2)."""
    try:
        hull = flat[ConvexHull(flat).vertices]
    except QhullError:  # all on one line
        spread = flat - flat.mean(axis=0)
        return np.linalg.svd(spread, full_matrices=False)[2][0]
    edges = np.roll(hull, -1, axis=0) - hull
    lengths = np.linalg.norm(edges, axis=1)
    sides = edges[lengths > 1e-12] / lengths[lengths > 1e-12, None]
    along = hull @ sides.T
    across = hull @ np.stack([-sides[:, 1], sides[:, 0]])
    areas = np.ptp(along, axis=0) * np.ptp(across, axis=0)
    return sides[np.argmin(areas)]


def _frame(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Right-handed rows from a direction and another one roughly across it."""
    second = unit(second - (second @ first) * first)
    return np.stack([first, second, np.cross(first, second)])


def _candidate_frames(
    points: np.ndarray, directions: np.ndarray, reference: np.ndarray
) -> list[np.ndarray]:
    frames = [np.eye(3), reference]
    spread = points - points.mean(axis=0)
    principal = np.linalg.svd(spread, full_matrices=False)[2]
    frames.append(_frame(principal[0], principal[1]))
    for direction in [*directions[:4], *principal]:
        first, second = perpendiculars(direction)
        side = _smallest_rectangle(points @ np.stack([first, second], axis=1))
        frames.append(_frame(direction, side[0] * first + side[1] * second))
        for other in [*directions, *reference]:
            across = other - (other @ direction) * direction
            if np.linalg.norm(across) > 0.5:
                frames.append(_frame(direction, across))
    return frames


def oriented_box(corners: np.ndarray, reference: np.ndarray | None = None) -> Box:
    """The box of a surface given as triangles (m, 3, 3).

    Args:
        reference: Frame (3, 3), one axis a row, taken where the surface favours no other;
            the world's axes by default.
    """
    reference = np.eye(3) if reference is None else reference
    points = _extreme(corners.reshape(-1, 3))
    directions, _ = dominant_directions(corners)
    normals, areas = _weighted_normals(corners)
    shares = areas / max(areas.sum(), 1e-300)
    frames = np.stack(_candidate_frames(points, directions, reference))
    seen = np.einsum("nc,kac->kna", points, frames)
    low, high = seen.min(axis=1), seen.max(axis=1)
    extent = high - low
    # surface rather than volume: the volume of every box around a flat panel is nothing
    surface = (
        extent[:, 0] * extent[:, 1] + extent[:, 1] * extent[:, 2] + extent[:, 2] * extent[:, 0]
    )
    surface = surface + 0.02 * extent.sum(axis=1) * extent.max()  # and length, for thin rods
    along = np.abs(np.einsum("mc,kac->kma", normals, frames)).max(axis=2)
    aligned = np.einsum("m,km->k", shares, along > np.cos(np.radians(_ALIGNED_DEG)))
    turned = np.abs(np.einsum("kac,bc->kab", frames, reference)).max(axis=2).min(axis=1)
    kept = turned > np.cos(np.radians(1.0))
    cost = surface * (1 - _NORMAL_BONUS * aligned - _REFERENCE_BONUS * kept)
    best = int(np.argmin(cost))
    order = np.argsort(-extent[best], kind="stable")
    axes = frames[best][order]
    axes[2] = np.cross(axes[0], axes[1])
    seen = points @ axes.T
    low, high = seen.min(axis=0), seen.max(axis=0)
    return Box((low + high) / 2 @ axes, axes, (high - low) / 2)


def _extreme(points: np.ndarray) -> np.ndarray:
    """The hull's vertices, or all points where they have no volume."""
    try:
        if len(points) > _MANY:  # what lies inside the hull of some points is no vertex of it
            hull = ConvexHull(points[:: len(points) // 1000])
            outside = [
                block[(block @ hull.equations[:, :3].T > -hull.equations[:, 3] - 1e-9).any(axis=1)]
                for block in np.array_split(points, len(points) // _MANY + 1)
            ]
            points = np.concatenate(outside)
        return points[ConvexHull(points).vertices]
    except QhullError:
        return np.unique(points, axis=0)
