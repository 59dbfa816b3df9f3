"""Rigid motions about lines and along directions, and the lines found back from motions.

Rotations follow Rodrigues (paper, Eq. 14 and 15). Lines are a point and a unit direction.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from atop_backend.contracts import JointMotion


class Screw(NamedTuple):
    """A rigid motion as a turn about a line and a slide along it (Chasles)."""

    axis: np.ndarray  # (3,), unit; the turn about it is positive
    origin: np.ndarray  # (3,), the line's point nearest to `near`
    angle_rad: float
    slide: float


def unit(vectors: np.ndarray) -> np.ndarray:
    """The vectors (..., 3) at length 1; a zero vector stays zero."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.maximum(lengths, 1e-300)


def rodrigues(axes: np.ndarray, angles_rad: np.ndarray | float) -> np.ndarray:
    """Rotation matrices (..., 3, 3) about unit axes (..., 3) by angles (...)."""
    axes = np.asarray(axes, dtype=np.float64)
    x, y, z = np.moveaxis(axes, -1, 0)
    zero = np.zeros_like(x)
    cross = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1)
    cross = cross.reshape(*axes.shape[:-1], 3, 3)
    angles = np.asarray(angles_rad, dtype=np.float64)[..., None, None]
    return np.eye(3) + np.sin(angles) * cross + (1 - np.cos(angles)) * cross @ cross


def joint_matrix(joint: JointMotion, amount: float) -> np.ndarray:
    """The part's motion (4, 4) from rest to `amount` radians or length units."""
    matrix = np.eye(4)
    axis, origin = np.asarray(joint.axis), np.asarray(joint.origin)
    if joint.kind == "revolute":
        matrix[:3, :3] = rodrigues(axis, amount)
        matrix[:3, 3] = origin - matrix[:3, :3] @ origin
    else:
        matrix[:3, 3] = amount * axis
    return matrix


def joint_under(joint: JointMotion, matrix: np.ndarray) -> JointMotion:
    """The joint after an affine map (4, 4) of its space.

    A slide is as much longer as the map makes lengths along its axis; a mirror turns a hinge round.
    """
    axis = matrix[:3, :3] @ np.asarray(joint.axis)
    stretch = float(np.linalg.norm(axis))
    origin = matrix[:3, :3] @ np.asarray(joint.origin) + matrix[:3, 3]
    turns = joint.kind == "revolute"
    way = -1.0 if turns and np.linalg.det(matrix[:3, :3]) < 0 else 1.0
    travel = 1.0 if turns else stretch
    return replace(
        joint,
        axis=tuple((way / stretch * axis).tolist()),
        origin=tuple(origin.tolist()),
        lower=joint.lower * travel,
        upper=joint.upper * travel,
    )


def transform_points(joint: JointMotion, amount: float, points: np.ndarray) -> np.ndarray:
    """Points (..., 3) of the part after the joint has moved by `amount` from rest."""
    matrix = joint_matrix(joint, amount)
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def fit_rigid(
    points: np.ndarray, targets: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rotation (3, 3) and translation (3,) that best bring points (n, 3) onto targets (n, 3).

    Weighted least squares (Kabsch). Points on one line leave the turn about it free; then any
    one of the best rotations comes back.
    """
    share = weights / weights.sum()
    centre, target_centre = share @ points, share @ targets
    covariance = (points - centre).T @ (share[:, None] * (targets - target_centre))
    left, _, right = np.linalg.svd(covariance)
    mirror = np.diag([1.0, 1.0, np.sign(np.linalg.det(left @ right)) or 1.0])
    rotation = right.T @ mirror @ left.T
    return rotation, target_centre - rotation @ centre


def screw_of(rotation: np.ndarray, translation: np.ndarray, near: np.ndarray) -> Screw | None:
    """The screw of a rigid motion, or None where it hardly turns (under 0.01 degrees).

    Args:
        near: The origin is the point of the axis nearest to this one, (3,).
    """
    skew = rotation - rotation.T
    sine = 0.5 * np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
    cosine = (np.trace(rotation) - 1) / 2
    angle = math.atan2(float(np.linalg.norm(sine)), float(cosine))
    if angle < math.radians(0.01):
        return None
    if angle < math.pi - 1e-4:
        axis = unit(sine)
    else:  # the skew part vanishes at half a turn: the axis is the kept direction
        values, vectors = np.linalg.eigh((rotation + rotation.T) / 2)
        axis = vectors[:, np.argmax(values)]
    slide = float(axis @ translation)
    across = translation - slide * axis + (rotation @ near - near)
    across -= (axis @ across) * axis  # displacement of `near` at right angles to the axis
    origin = near + 0.5 * (across + np.cross(axis, across) / math.tan(angle / 2))
    return Screw(axis, origin, angle, slide)


def line_angle_deg(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Degrees in [0, 90] between undirected unit directions (..., 3)."""
    sine = np.linalg.norm(np.cross(first, second), axis=-1)
    cosine = np.abs(np.sum(first * second, axis=-1))
    return np.degrees(np.arctan2(sine, cosine))


def foot_on_line(points: np.ndarray, origin: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """The points of a line nearest to points (..., 3)."""
    return origin + ((points - origin) @ axis)[..., None] * axis


def point_line_distance(points: np.ndarray, origin: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """Distances (...) of points (..., 3) from a line."""
    return np.linalg.norm(points - foot_on_line(points, origin, axis), axis=-1)


def perpendiculars(axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors that make a right-handed frame (first, second, axis)."""
    helper = np.eye(3)[np.argmin(np.abs(axis))]
    first = unit(np.cross(helper, axis))
    return first, np.cross(axis, first)
