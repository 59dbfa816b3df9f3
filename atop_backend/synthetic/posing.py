"""From a draft to a training object: start pose, neighbours, view direction, normalisation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from atop_backend.contracts import JointMotion
from atop_backend.geometry.alignment import squaring_rotation
from atop_backend.synthetic.draft import Draft
from atop_backend.synthetic.objects import MAX_TRIANGLES, ArticulatedObject
from atop_backend.synthetic.palette import any_colour, shade
from atop_backend.synthetic.solids import box

PARTLY_OPEN = 0.25  # share of objects that do not start in the drawn pose
CLUTTERED = 0.1
TILTED = 0.25
SQUARED = 0.9  # share that is squared up, as every object is when the product looks at it
STRETCHED = 0.4
MAX_TILT_RAD = np.radians(15.0)


class Similarity(NamedTuple):
    """Turns by `rotation` (3, 3), then scales, then shifts by `offset` (3,)."""

    rotation: np.ndarray
    scale: float
    offset: np.ndarray

    def points(self, points: np.ndarray) -> np.ndarray:
        """The points (..., 3), moved."""
        return self.scale * (points @ self.rotation.T) + self.offset

    def joint(self, joint: JointMotion) -> JointMotion:
        """The joint of the moved object."""
        axis = self.rotation @ np.asarray(joint.axis)
        origin = self.points(np.asarray(joint.origin))
        stretch = self.scale if joint.kind == "prismatic" else 1.0
        return _joint(joint.kind, axis, origin, joint.lower * stretch, joint.upper * stretch)


def _joint(kind, axis: np.ndarray, origin: np.ndarray, lower: float, upper: float) -> JointMotion:
    axis = axis / np.sqrt(axis @ axis)
    return JointMotion(kind, tuple(axis.tolist()), tuple(origin.tolist()), lower, upper)


def turn(axis: np.ndarray, angle_rad: float) -> np.ndarray:
    """The rotation (3, 3) about a unit axis (Rodrigues)."""
    x, y, z = axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle_rad) * skew + (1.0 - np.cos(angle_rad)) * (skew @ skew)


def move(points: np.ndarray, joint: JointMotion, amount: float) -> np.ndarray:
    """The points (..., 3) of the moving part after `amount` radians or metres of travel."""
    axis = np.asarray(joint.axis)
    if joint.kind == "prismatic":
        return points + amount * axis
    origin = np.asarray(joint.origin)
    return (points - origin) @ turn(axis, amount).T + origin


def moved(
    triangles: np.ndarray, moving: np.ndarray, joint: JointMotion, amount: float
) -> np.ndarray:
    """All triangles (n, 3, 3), those of the moving part after `amount` of travel."""
    result = triangles.copy()
    result[moving] = move(triangles[moving], joint, amount)
    return result


def normalisation(triangles: np.ndarray) -> Similarity:
    """What puts the bounding box centre at 0 and the farthest vertex at distance 1."""
    points = triangles.reshape(-1, 3)
    centre = (points.min(axis=0) + points.max(axis=0)) / 2
    radius = np.sqrt(((points - centre) ** 2).sum(axis=1).max())
    return Similarity(np.eye(3), 1.0 / radius, -centre / radius)


def stretch(joint: JointMotion, rng: np.random.Generator) -> tuple[np.ndarray, JointMotion]:
    """A scaling (3, 3) that changes an object's proportions, and the joint of the scaled object.

    A turning part stays rigid only where the scaling is along its axis; a sliding one always does.
    """
    axis = np.asarray(joint.axis)
    if joint.kind == "revolute":
        scaling = np.eye(3) + (rng.uniform(0.75, 1.35) - 1.0) * np.outer(axis, axis)
        upper, way = joint.upper, axis
    else:
        scaling = np.diag(rng.uniform(0.85, 1.2, 3))
        way = scaling @ axis
        upper = joint.upper * float(np.sqrt(way @ way))
    return scaling, _joint(joint.kind, way, scaling @ np.asarray(joint.origin), 0.0, upper)


def facing(rng: np.random.Generator) -> np.ndarray:
    """A rotation (3, 3): how the object stands to the cameras.

    40 % face the front within 5 degrees, 20 % any of the four sides, 40 % any way; a quarter
    is tilted besides, by up to 15 degrees.
    """
    choice = rng.random()
    if choice < 0.4:
        yaw = np.radians(rng.uniform(-5.0, 5.0))
    elif choice < 0.6:
        yaw = np.pi / 2 * rng.integers(4) + np.radians(rng.normal(0.0, 1.5))
    else:
        yaw = rng.uniform(-np.pi, np.pi)
    rotation = turn(np.array([0.0, 0.0, 1.0]), yaw)
    if rng.random() < TILTED:
        direction = rng.uniform(-np.pi, np.pi)
        lean = np.array([np.cos(direction), np.sin(direction), 0.0])
        rotation = turn(lean, rng.uniform(0.0, MAX_TILT_RAD)) @ rotation
    return rotation


def squared(triangles: np.ndarray, moving: np.ndarray) -> np.ndarray:
    """The rotation (3, 3) by which the product squares these triangles (n, 3, 3) up."""
    corners = np.arange(3 * len(triangles)).reshape(-1, 3)
    return squaring_rotation(triangles.reshape(-1, 3), corners, moving)


class _Start(NamedTuple):
    triangles: np.ndarray
    joint: JointMotion
    prompts: tuple[str, ...]


def _start(draft: Draft, moving: np.ndarray, rng) -> _Start:
    """The draft in the pose in which it is given, and the motion that is asked for from there."""
    triangles, joint = draft.builder.triangles, draft.joint
    if rng.random() < STRETCHED:
        scaling, joint = stretch(joint, rng)
        triangles = triangles @ scaling.T
    if rng.random() >= PARTLY_OPEN:
        return _Start(triangles, joint, draft.prompts)
    closing = bool(draft.closing_prompts) and rng.random() < 0.5
    if closing:
        share = 1.0 if rng.random() < 0.5 else rng.uniform(0.35, 1.0)
    else:
        share = rng.uniform(0.1, 0.6)
    amount = share * joint.upper
    triangles = moved(triangles, moving, joint, amount)
    origin = np.asarray(joint.origin)
    if joint.kind == "prismatic":
        origin = origin + amount * np.asarray(joint.axis)
    rest = joint.upper - amount
    axis = np.asarray(joint.axis)
    if closing:
        back = _joint(joint.kind, -axis, origin, 0.0, amount)
        return _Start(triangles, back, draft.closing_prompts)
    return _Start(triangles, _joint(joint.kind, axis, origin, 0.0, rest), draft.prompts)


def _neighbour(
    start: _Start, moving: np.ndarray, colours: np.ndarray, rng
) -> tuple[np.ndarray, np.ndarray | None] | None:
    """A block or a copy of the object beside it, out of the way of the moving part.

    Returns:
        Its triangles, and its colour or None for a copy; None where there is no room.
    """
    points = start.triangles.reshape(-1, 3)
    low, high = points.min(axis=0), points.max(axis=0)
    part = start.triangles[moving].reshape(-1, 3)
    swept = [move(part, start.joint, share * start.joint.upper) for share in (0.25, 0.5, 0.75, 1.0)]
    reach_low = np.minimum(low, np.min([points.min(axis=0) for points in swept], axis=0))
    reach_high = np.maximum(high, np.max([points.max(axis=0) for points in swept], axis=0))
    size = high - low
    gap = rng.uniform(0.02, 0.15) * size.max()
    side = 1 if rng.random() < 0.5 else -1
    edge = reach_high[0] + gap if side > 0 else reach_low[0] - gap
    if (reach_high - reach_low)[0] > 1.5 * size[0] + 0.3 * size.max():
        return None
    if 2 * len(start.triangles) <= MAX_TRIANGLES and rng.random() < 0.35:
        shift = edge - (low[0] if side > 0 else high[0])
        return start.triangles + np.array([shift, 0.0, 0.0]), None
    width, depth, height = size.max() * rng.uniform(0.15, 0.6, 3)
    y = rng.uniform(low[1], max(low[1], high[1] - depth))
    near, far = sorted((edge, edge + side * width))
    block = box((near, y, low[2]), (far, y + depth, low[2] + height))
    base = colours[rng.integers(len(colours))] if rng.random() < 0.5 else any_colour(rng)
    return block, shade(rng, base)


def pose(draft: Draft, rng: np.random.Generator) -> ArticulatedObject:
    """The draft as a training object: somewhere in its motion, turned, squared up, normalised."""
    builder = draft.builder
    moving, materials = builder.moving, builder.materials
    colours = np.stack(builder.colours)
    start = _start(draft, moving, rng)
    triangles = start.triangles
    if rng.random() < CLUTTERED:
        neighbour = _neighbour(start, moving, colours, rng)
        if neighbour is not None:
            solid, colour = neighbour
            if colour is None:
                extra = materials
            else:
                extra = np.full(len(solid), len(colours), dtype=materials.dtype)
                colours = np.concatenate([colours, colour[None]])
            triangles = np.concatenate([triangles, solid])
            materials = np.concatenate([materials, extra])
            moving = np.concatenate([moving, np.zeros(len(solid), dtype=bool)])
    rotation = facing(rng)
    if rng.random() < SQUARED:
        rotation = squared(triangles @ rotation.T, moving) @ rotation
    turned = Similarity(rotation, 1.0, np.zeros(3))
    triangles = turned.points(triangles)
    unit = normalisation(triangles)
    return ArticulatedObject(
        kind=draft.kind,
        triangles=unit.points(triangles).astype(np.float32),
        materials=materials.astype(np.int16),
        colours=colours.astype(np.float32),
        moving=moving,
        joint=unit.joint(turned.joint(start.joint)),
        directed=draft.directed,
        prompts=start.prompts,
    )
