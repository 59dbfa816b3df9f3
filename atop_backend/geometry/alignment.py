"""How an object is turned before it is looked at: upright, square to the axes, front to -Y.

People put objects into scenes at any angle, while most objects are made of faces at right angles.
A rest shape that is squared up first gives the video prior pictures like those it knows best, and
the fit axes that are straight. The way back is part of the shape's `normalised_to_file`.
"""

from __future__ import annotations

import math

import numpy as np

MOST_TILT_DEG = 22.0  # farther from upright is taken as meant
_LIKE_DEG = 1.5  # normals this near count as one direction
_CLEARLY = 1.15  # how much better another direction has to be than the present one
_LEAST_SHARE = 0.2  # of upright area that faces in four directions; round things have less
_CANDIDATES = 256  # largest triangles that propose a direction
_SEEN_BETTER = 1.5  # times as much of the part has to be seen from the front as from another side
_SEEN_LEAST = 0.004  # of the coarse picture; less may be a gap between two doors
_POINTS, _CELLS = 30_000, 40  # of the coarse pictures that tell from where the part is seen


def squaring_rotation(vertices: np.ndarray, triangles: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Rotation (3, 3) that puts the object upright and square, its moving part to the front.

    Turns by less than `MOST_TILT_DEG` of tilt, and only where the object's faces clearly ask for
    it; a quarter turn is added where the part lies on one side alone. Identity for objects that
    are square already and for those without flat faces.

    Args:
        vertices: (n, 3), Z about up.
        triangles: (m, 3) indices.
        part: (m,) bool, triangles of the part.
    """
    corners = vertices[triangles]
    crosses = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(crosses, axis=1) / 2
    flat = areas > 0
    if not flat.any():
        return np.eye(3)
    normals, areas = crosses[flat] / (2 * areas[flat, None]), areas[flat]
    areas = areas / areas.sum()
    rotation = _tilt(normals, areas)
    rotation = _yaw(normals @ rotation.T, areas) @ rotation
    return _quarter(vertices @ rotation.T, triangles, part) @ rotation


def _tilt(normals: np.ndarray, areas: np.ndarray) -> np.ndarray:
    """The smallest rotation that stands the object on its faces."""
    like, across = math.cos(math.radians(_LIKE_DEG)), math.sin(math.radians(_LIKE_DEG))

    def support(up: np.ndarray) -> np.ndarray:
        cosines = np.abs(normals @ up.T)
        return areas @ ((cosines > like) + 0.5 * (cosines < across))

    folded = normals * np.where(normals[:, 2:] < 0, -1.0, 1.0)
    near = folded[:, 2] > math.cos(math.radians(MOST_TILT_DEG))
    if not near.any():
        return np.eye(3)
    proposed = folded[near][np.argsort(-areas[near])[:_CANDIDATES]]
    scores = support(proposed)
    present = float(support(np.array([[0.0, 0.0, 1.0]]))[0])
    best = int(scores.argmax())
    if scores[best] < _CLEARLY * present + 0.01:
        return np.eye(3)
    cluster = folded @ proposed[best] > like
    up = (areas[cluster, None] * folded[cluster]).sum(axis=0)
    return _between(up / np.linalg.norm(up), np.array([0.0, 0.0, 1.0]))


def _between(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The smallest rotation from one unit vector to another that is not opposite."""
    axis, cosine = np.cross(start, end), float(start @ end)
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + cross + cross @ cross / (1 + cosine)


def _yaw(normals: np.ndarray, areas: np.ndarray) -> np.ndarray:
    """The smallest turn about Z that makes upright faces look along X and Y."""
    level = np.abs(normals[:, 2]) < 0.05
    if areas[level].sum() < 0.05:
        return np.eye(3)
    angles, weights = np.arctan2(normals[level, 1], normals[level, 0]), areas[level]
    weights = weights / weights.sum()
    like = math.radians(_LIKE_DEG)

    def off(proposed: np.ndarray) -> np.ndarray:
        quarter = math.pi / 2
        return (angles[None] - proposed[:, None] + quarter / 2) % quarter - quarter / 2

    proposed = np.append(angles[np.argsort(-weights)[:_CANDIDATES]], 0.0)
    shares = (np.abs(off(proposed)) < like) @ weights
    best = int(shares.argmax())
    if shares[best] < max(_LEAST_SHARE, _CLEARLY * shares[-1] + 0.01):
        return np.eye(3)
    offsets = off(proposed[best : best + 1])[0]
    cluster = np.abs(offsets) < like
    angle = proposed[best] + np.average(offsets[cluster], weights=weights[cluster])
    angle = (angle + math.pi / 4) % (math.pi / 2) - math.pi / 4
    return _about_z(-angle)


def _about_z(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _quarter(vertices: np.ndarray, triangles: np.ndarray, part: np.ndarray) -> np.ndarray:
    """The quarter turn that brings to the front the side from which the part is seen best."""
    shown = _seen_shares(*_surface_points(vertices, triangles, part))
    order = np.argsort(shown)[::-1]
    if shown[order[0]] <= max(_SEEN_LEAST, _SEEN_BETTER * shown[order[1]]):
        return np.eye(3)  # seen alike from two sides, or from none
    return _about_z(-math.pi / 2 * int(order[0]))


def _surface_points(
    vertices: np.ndarray, triangles: np.ndarray, part: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Points spread evenly over all faces (n, 3), and which lie on the part (n,)."""
    rng = np.random.default_rng(0)
    corners = vertices[triangles]
    areas = np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )
    face = rng.choice(len(triangles), _POINTS, p=areas / areas.sum())
    a, b = rng.random((2, _POINTS, 1))
    over = a + b > 1
    a, b = np.where(over, 1 - a, a), np.where(over, 1 - b, b)
    origin = corners[face, 0]
    return origin + a * (corners[face, 1] - origin) + b * (corners[face, 2] - origin), part[face]


def _seen_shares(points: np.ndarray, moving: np.ndarray) -> np.ndarray:
    """Shares (4,) of the cells of coarse pictures in which the part lies nearest.

    Seen from -Y, and after each quarter turn that brings another side there: -X, +Y, +X.
    """
    shown = np.empty(4)
    low, size = points.min(axis=0), np.ptp(points, axis=0)
    nothing, number = np.iinfo(np.int64).max, np.arange(len(points))
    for across, near, far in ((0, 0, 2), (1, 3, 1)):
        step = (_CELLS - 1e-6) / max(size[across], size[2])
        x, z = points[:, across] - low[across], points[:, 2] - low[2]
        depth = points[:, 1 - across] - low[1 - across]
        depth = (depth * (2.0**32 / size.max())).astype(np.int64)
        for view, sign in ((near, 1), (far, -1)):
            rightward = x if view in (0, 1) else size[across] - x
            cells = (rightward * step).astype(np.intp) * _CELLS + (z * step).astype(np.intp)
            # The number of the point rides in the low digits: the least key tells who is nearest.
            nearest = np.full(_CELLS**2, nothing)
            np.minimum.at(nearest, cells, sign * depth * _POINTS + number)
            shown[view] = moving[nearest[nearest < nothing] % _POINTS].sum() / _CELLS**2
    return shown
