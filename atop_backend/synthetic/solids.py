"""Simple solids as triangles (n, 3, 3) in float64, wound so that normals point outwards."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

import numpy as np

Axis = Literal["x", "y", "z"]
Plane = Literal["xy", "xz", "yz"]
Side = Literal["-x", "+x", "-y", "+y", "-z", "+z"]
Vector = Sequence[float] | np.ndarray

_INDEX = {"x": 0, "y": 1, "z": 2}
_NORMAL_OF_PLANE = {"xy": 2, "xz": 1, "yz": 0}


def _unit_box() -> np.ndarray:
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    return np.array([corners[[[a, b, c], [a, c, d]]] for a, b, c, d in quads]).reshape(12, 3, 3)


_UNIT_BOX = _unit_box()


def box(low: Vector, high: Vector) -> np.ndarray:
    """An axis-aligned box between two corners: 12 triangles."""
    low = np.asarray(low, dtype=np.float64)
    return low + _UNIT_BOX * (np.asarray(high, dtype=np.float64) - low)


def frame(low: Vector, high: Vector, hole_low: Vector, hole_high: Vector, axis: Axis) -> np.ndarray:
    """A box with a rectangular hole straight through along `axis`: 32 triangles.

    Args:
        low: Corner of the box.
        high: Opposite corner of the box.
        hole_low: Corner of the hole; its coordinate along `axis` is ignored.
        hole_high: Opposite corner of the hole.
        axis: Direction of the hole.
    """
    outer_low, outer_high = np.array(low, dtype=float), np.array(high, dtype=float)
    inner_low, inner_high = np.array(hole_low, dtype=float), np.array(hole_high, dtype=float)
    a = _INDEX[axis]
    u, v = (a + 1) % 3, (a + 2) % 3
    rings = np.empty((4, 4, 3))  # outer low, outer high, inner low, inner high
    turns = ((0, 0), (1, 0), (1, 1), (0, 1))
    for ring, (lo, hi), level in (
        (0, (outer_low, outer_high), outer_low[a]),
        (1, (outer_low, outer_high), outer_high[a]),
        (2, (inner_low, inner_high), outer_low[a]),
        (3, (inner_low, inner_high), outer_high[a]),
    ):
        both = (lo, hi)
        for corner, (i, j) in enumerate(turns):
            rings[ring, corner, a] = level
            rings[ring, corner, u] = both[i][u]
            rings[ring, corner, v] = both[j][v]
    return np.concatenate(
        [
            _band(rings[0], rings[1]),  # outside
            _band(rings[3], rings[2]),  # inside of the hole
            _band(rings[1], rings[3]),  # the two flat rings
            _band(rings[2], rings[0]),
        ]
    )


def _band(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Triangles between two closed rings (k, 3), first below second, wound outwards."""
    ahead = _ahead(len(first))
    next_first, next_second = first[ahead], second[ahead]
    lower = np.stack([first, next_first, next_second], axis=1)
    upper = np.stack([first, next_second, second], axis=1)
    return np.concatenate([lower, upper])


def open_box(low: Vector, high: Vector, thickness: float, open_side: Side) -> np.ndarray:
    """A box with walls of one thickness, open on one side: 28 triangles.

    Args:
        low: Outer corner.
        high: Opposite outer corner.
        thickness: Of the five walls, metres.
        open_side: The side that has no wall, such as "-y" for the front.
    """
    outer = np.array([low, high], dtype=float)
    inner = outer + thickness * np.array([[1.0], [-1.0]])
    axis, end = _INDEX[open_side[1]], int(open_side[0] == "+")
    inner[end, axis] = outer[end, axis]
    keep = np.ones(12, dtype=bool)
    keep[4 * axis + 2 * end :][:2] = False  # `box` lists its sides as -x, +x, -y, +y, -z, +z
    ring_outer, ring_inner = _rim(outer, axis, end), _rim(inner, axis, end)
    rim = _band(ring_outer, ring_inner) if end else _band(ring_inner, ring_outer)
    inside = box(inner[0], inner[1])[keep][:, ::-1]
    return np.concatenate([box(outer[0], outer[1])[keep], inside, rim])


def _rim(bounds: np.ndarray, axis: int, end: int) -> np.ndarray:
    """The four corners of one side of a box, turning positively about the axis."""
    u, v = (axis + 1) % 3, (axis + 2) % 3
    ring = np.empty((4, 3))
    ring[:, axis] = bounds[end, axis]
    ring[:, u] = bounds[[0, 1, 1, 0], u]
    ring[:, v] = bounds[[0, 0, 1, 1], v]
    return ring


@lru_cache(maxsize=64)
def _ahead(count: int) -> np.ndarray:
    """Index of the next corner of a closed ring, (count,)."""
    return np.roll(np.arange(count), -1)


@lru_cache(maxsize=64)
def _circle(segments: int) -> np.ndarray:
    """Cosine and sine at equal steps, (segments, 2)."""
    angles = np.arange(segments) * (2 * np.pi / segments)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def lathe(
    profile: Sequence[Vector] | np.ndarray,
    centre: Vector,
    axis: Axis = "z",
    segments: int = 20,
) -> np.ndarray:
    """The surface swept by a profile turned about an axis; ends are closed only at radius 0.

    Args:
        profile: Pairs of radius and height, from low to high where the outside is outwards.
        centre: Point on the axis at height 0.
        axis: Direction of the axis.
        segments: Flat sides of the circle.
    """
    radius, height = np.asarray(profile, dtype=np.float64).T
    circle = _circle(segments)
    a = _INDEX[axis]
    rings = np.empty((len(radius), segments, 3))
    rings[..., (a + 1) % 3] = radius[:, None] * circle[None, :, 0]
    rings[..., (a + 2) % 3] = radius[:, None] * circle[None, :, 1]
    rings[..., a] = height[:, None]
    rings += np.asarray(centre, dtype=np.float64)
    ahead = rings[:, _ahead(segments)]
    lower = np.stack([rings[:-1], ahead[:-1], ahead[1:]], axis=2)[radius[:-1] > 0]
    upper = np.stack([rings[:-1], ahead[1:], rings[1:]], axis=2)[radius[1:] > 0]
    return np.concatenate([lower.reshape(-1, 3, 3), upper.reshape(-1, 3, 3)])


def cylinder(
    base: Vector,
    direction: Vector,
    radius: float,
    top_radius: float | None = None,
    segments: int = 16,
    caps: bool = True,
) -> np.ndarray:
    """A cylinder or cone from its base centre along `direction`, whose length is the height."""
    top_radius = radius if top_radius is None else top_radius
    direction = np.asarray(direction, dtype=np.float64)
    first, second, unit = _basis(direction)
    profile = [(radius, 0.0), (top_radius, float(np.sqrt(direction @ direction)))]
    if caps:
        profile = [(0.0, 0.0), *profile, (0.0, profile[-1][1])]
    solid = lathe(profile, (0.0, 0.0, 0.0), "z", segments)
    return solid @ np.stack([first, second, unit]) + np.asarray(base, dtype=np.float64)


def knurled(
    base: Vector,
    direction: Vector,
    radius: float,
    top_radius: float | None = None,
    teeth: int = 16,
    depth: float = 0.1,
) -> np.ndarray:
    """A cylinder or cone with ridges along it, as grips, caps and gears have: 8 triangles a tooth.

    Args:
        base: Centre of its lower end.
        direction: From there to the upper end.
        radius: Over the ridges, at the lower end.
        top_radius: The same at the upper end; by default `radius`.
        teeth: How many ridges.
        depth: Of the grooves, in parts of the radius.
    """
    top_radius = radius if top_radius is None else top_radius
    base, direction = np.asarray(base, dtype=np.float64), np.asarray(direction, dtype=np.float64)
    first, second, _ = _basis(direction)
    ring = _circle(2 * teeth) @ np.stack([first, second])
    ring[1::2] *= 1.0 - depth
    low, high = base + radius * ring, base + direction + top_radius * ring
    ahead = _ahead(len(ring))
    bottom = np.stack([np.broadcast_to(base, ring.shape), low[ahead], low], axis=1)
    top = np.stack([np.broadcast_to(base + direction, ring.shape), high, high[ahead]], axis=1)
    return np.concatenate([_band(low, high), bottom, top])


def _normal(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Cross product of two single vectors; much faster than NumPy's for arrays."""
    ax, ay, az = first.tolist()
    bx, by, bz = second.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def _basis(direction: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A right-handed orthonormal basis whose last vector is along `direction`."""
    unit = direction / np.sqrt(direction @ direction)
    helper = np.zeros(3)
    helper[int(np.argmin(np.abs(unit)))] = 1.0
    first = _normal(helper, unit)
    first /= np.sqrt(first @ first)
    return first, _normal(unit, first), unit


def sphere(
    centre: Vector, radius: float | Vector, segments: int = 12, rings: int = 7
) -> np.ndarray:
    """A sphere, or an ellipsoid where `radius` has three values."""
    angles = np.linspace(-np.pi / 2, np.pi / 2, rings)
    profile = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    profile[[0, -1], 0] = 0.0
    unit = lathe(profile, (0.0, 0.0, 0.0), "z", segments)
    return unit * np.asarray(radius, dtype=np.float64) + np.asarray(centre, dtype=np.float64)


def tube(
    path: Sequence[Vector] | np.ndarray, radius: float, segments: int = 8, closed: bool = False
) -> np.ndarray:
    """A round bar along a polyline (k, 3), with flat ends unless the path is closed."""
    points = np.asarray(path, dtype=np.float64)
    ahead = np.roll(points, -1, axis=0) - points
    if not closed:
        ahead[-1] = ahead[-2]
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    behind = np.roll(ahead, 1, axis=0)
    if not closed:
        behind[0] = ahead[0]
    tangents = ahead + behind
    tangents /= np.maximum(np.linalg.norm(tangents, axis=1, keepdims=True), 1e-9)
    stretch = 1.0 / np.clip(np.einsum("ij,ij->i", tangents, ahead), 0.4, 1.0)
    circle = _circle(segments) * radius
    first, _, _ = _basis(tangents[0])
    rings = np.empty((len(points), segments, 3))
    for i, tangent in enumerate(tangents):
        first = first - tangent * (first @ tangent)
        first /= np.sqrt(first @ first)
        second = _normal(tangent, first)
        ring = circle[:, :1] * first + circle[:, 1:] * second
        bend = ahead[i] - behind[i]
        size = np.sqrt(bend @ bend)
        if size > 1e-6:  # mitre: keep the bar's thickness around the corner
            bend /= size
            ring += (stretch[i] - 1.0) * (ring @ bend)[:, None] * bend
        rings[i] = points[i] + ring
    bands = [_band(rings[i], rings[i + 1]) for i in range(len(points) - 1)]
    if closed:
        shift = int(np.argmin(((rings[0] - rings[-1][0]) ** 2).sum(axis=1)))
        bands.append(_band(rings[-1], np.roll(rings[0], -shift, axis=0)))
    else:
        bands += [_fan(rings[0][::-1]), _fan(rings[-1])]
    return np.concatenate(bands)


def _fan(ring: np.ndarray) -> np.ndarray:
    """A convex polygon (k, 3) as k - 2 triangles."""
    count = len(ring) - 2
    return np.stack([np.repeat(ring[:1], count, axis=0), ring[1:-1], ring[2:]], axis=1)


def rounded_rectangle(low: Vector, high: Vector, radius: float, steps: int = 3) -> np.ndarray:
    """Corners (k, 2) of a rectangle whose four corners are rounded, counter-clockwise."""
    (x0, y0), (x1, y1) = low, high
    radius = min(radius, 0.499 * (x1 - x0), 0.499 * (y1 - y0))
    angles = np.linspace(0.0, np.pi / 2, steps + 1)
    arc = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    turned = np.stack([-arc[:, 1], arc[:, 0]], axis=1)
    return np.concatenate(
        [
            arc + np.array([x1 - radius, y1 - radius]),
            turned + np.array([x0 + radius, y1 - radius]),
            -arc + np.array([x0 + radius, y0 + radius]),
            -turned + np.array([x1 - radius, y0 + radius]),
        ]
    )


def extrude(
    polygon: Sequence[Vector] | np.ndarray, plane: Plane, low: float, high: float
) -> np.ndarray:
    """A simple polygon (k, 2) drawn in `plane`, given depth from `low` to `high` along its normal.

    The polygon may turn either way and may be concave, but must not cross itself.
    """
    points = np.asarray(polygon, dtype=np.float64)
    x, y = points.T
    if x @ np.roll(y, -1) < y @ np.roll(x, -1):
        points = points[::-1]
    cap = points[_triangulate(points)]
    rings = np.zeros((2, len(points), 3))
    faces = np.zeros((2, len(cap), 3, 3))
    normal = _NORMAL_OF_PLANE[plane]
    u, v = (i for i in range(3) if i != normal)
    for i, level in enumerate((low, high)):
        rings[i, :, u], rings[i, :, v], rings[i, :, normal] = points[:, 0], points[:, 1], level
        faces[i, ..., u], faces[i, ..., v] = cap[..., 0], cap[..., 1]
        faces[i, ..., normal] = level
    solid = np.concatenate([_band(rings[0], rings[1]), faces[0][:, ::-1], faces[1]])
    return solid[:, ::-1] if plane == "xz" else solid  # x, z, y is a left-handed order


def _triangulate(points: np.ndarray) -> np.ndarray:
    """Indices (k - 2, 3) that fill a counter-clockwise simple polygon, by cutting ears."""
    count = len(points)
    after, before = np.roll(points, -1, axis=0), np.roll(points, 1, axis=0)
    turns = _cross(points - before, after - points)
    if (turns >= -1e-12).all():
        inner = np.arange(1, count - 1)
        return np.stack([np.zeros_like(inner), inner, inner + 1], axis=1)
    remaining, ears = list(range(count)), []
    while len(remaining) > 3:
        for i in range(len(remaining)):
            a, b, c = remaining[i - 1], remaining[i], remaining[(i + 1) % len(remaining)]
            corner = points[[a, b, c]]
            if _cross(corner[1] - corner[0], corner[2] - corner[1]) <= 1e-15:
                continue
            others = points[[k for k in remaining if k not in (a, b, c)]]
            edges = np.roll(corner, -1, axis=0) - corner
            inside = (_cross(edges, others[:, None] - corner) > 0).all(axis=1)
            if not inside.any():
                break
        ears.append((a, b, c))
        remaining.remove(b)
    return np.array([*ears, tuple(remaining)])


def _cross(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Out-of-plane part of the cross product of plane vectors."""
    return first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0]


def rotate(triangles: np.ndarray, axis: Vector, angle_rad: float, origin: Vector) -> np.ndarray:
    """The triangles turned about the line through `origin` along `axis` (Rodrigues)."""
    x, y, z = np.asarray(axis, dtype=np.float64) / np.linalg.norm(axis)
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    turn = np.eye(3) + np.sin(angle_rad) * skew + (1.0 - np.cos(angle_rad)) * (skew @ skew)
    origin = np.asarray(origin, dtype=np.float64)
    return (triangles - origin) @ turn.T + origin


def transform(triangles: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """The triangles under an affine matrix (4, 4); a mirroring one also flips the winding."""
    moved = triangles @ matrix[:3, :3].T + matrix[:3, 3]
    return moved[:, ::-1] if np.linalg.det(matrix[:3, :3]) < 0 else moved
