"""The motion of a rig as the backend writes it, and its rotations as channels that run smoothly.

Rotations are unit quaternions wxyz; those of bones act in the bone's own rest axes, like the
rotation channels of a pose bone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from atop_backend.errors import InputError

VERSION = 1
_LOCKED = 1e-6  # cosine of the middle angle below which the outer two turn about the same axis
_NO_AXIS = 1e-9  # length of a quaternion's vector below which it turns nothing
_WHOLE = 1e-3  # frames; a key so near to a whole frame is put on it


class Motion(NamedTuple):
    """What `motion.json` says; the root's motion is rigid, in the world, after the pose."""

    fps: float
    cyclic: bool  # the last frame shows the same pose as the first
    bones: tuple[str, ...]
    rotations: np.ndarray  # (frames, bones, 4)
    root_rotations: np.ndarray  # (frames, 4)
    root_translations: np.ndarray  # (frames, 3) world


def read_motion(path: Path) -> Motion:
    """The motion in a file.

    Raises:
        InputError: It is missing, broken, or its numbers do not fit together.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        version = data["version"]
        motion = _from_dict(data)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"the motion {path} cannot be read ({error})", "animate again") from error
    if version != VERSION:
        raise InputError(
            f"the motion is of version {version}, expected {VERSION}",
            hint="use add-on and backend of the same version",
        )
    frames, bones = len(motion.rotations), len(motion.bones)
    shapes = [array.shape for array in motion[3:]]
    numbers = all(np.isfinite(array).all() for array in motion[3:])
    if shapes != [(frames, bones, 4), (frames, 4), (frames, 3)] or frames < 1 or not numbers:
        raise InputError(
            f"the motion holds arrays of {shapes}", hint="one finite entry a frame and bone"
        )
    return motion


def _from_dict(data: dict[str, Any]) -> Motion:
    bones = tuple(map(str, data["bones"]))
    turns = np.array(data["rotations"], float).reshape(-1, len(bones), 4)
    root = np.array(data["root"]["rotations"], float)
    if len(turns) == 0 and not bones:
        turns = np.empty((len(root), 0, 4))
    return Motion(
        fps=float(data["fps"]),
        cyclic=bool(data["cyclic"]),
        bones=bones,
        rotations=_unit(turns),
        root_rotations=_unit(root),
        root_translations=np.array(data["root"]["translations"], float),
    )


def _unit(quaternions: np.ndarray) -> np.ndarray:
    return quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True)


def at_scene_rate(motion: Motion, fps: float) -> tuple[np.ndarray, Motion]:
    """Scene frames counted from the start, whole numbers, and the motion at these.

    Keys stay as they are where they fall on whole frames; otherwise there is one key a frame,
    interpolated on the shortest arc.

    Args:
        fps: Of the scene.
    """
    count = len(motion.root_rotations)
    times = np.arange(count) * fps / motion.fps
    if np.abs(times - np.round(times)).max() < _WHOLE:
        return np.round(times), motion
    # stretched a little, so that the last key falls on a whole frame and a loop closes
    frames = np.arange(max(1, round(times[-1])) + 1, dtype=float)
    places = np.minimum(frames * times[-1] / frames[-1] * motion.fps / fps, count - 1)
    before = np.minimum(places.astype(int), count - 2)
    share = places - before
    mixed = motion.root_translations[before] * (1 - share)[:, None]
    mixed += motion.root_translations[before + 1] * share[:, None]
    return frames, motion._replace(
        rotations=_slerp(motion.rotations, before, share[:, None]),
        root_rotations=_slerp(motion.root_rotations, before, share),
        root_translations=mixed,
    )


def _slerp(quaternions: np.ndarray, before: np.ndarray, share: np.ndarray) -> np.ndarray:
    first, second = quaternions[before], quaternions[before + 1]
    cosine = (first * second).sum(axis=-1)
    second = np.where(cosine[..., None] < 0, -second, second)
    angle = np.arccos(np.clip(np.abs(cosine), 0.0, 1.0))
    small = angle < 1e-6
    sine = np.where(small, 1.0, np.sin(angle))
    left = np.where(small, 1 - share, np.sin((1 - share) * angle) / sine)
    right = np.where(small, share, np.sin(share * angle) / sine)
    return _unit(left[..., None] * first + right[..., None] * second)


def continuous(quaternions: np.ndarray) -> np.ndarray:
    """The same rotations with signs that never jump; (frames, 4)."""
    flips = (quaternions[1:] * quaternions[:-1]).sum(axis=1) < 0
    signs = np.concatenate([[1], np.where(np.cumsum(flips) % 2, -1, 1)])
    return quaternions * signs[:, None]


def rotation_channels(quaternions: np.ndarray, mode: str) -> tuple[str, np.ndarray]:
    """The channel of a rotation mode and its values, (frames, 3 or 4), without jumps.

    Args:
        quaternions: (frames, 4).
        mode: As in Blender: QUATERNION, AXIS_ANGLE or an order of Euler angles.
    """
    match mode:
        case "QUATERNION":
            return "rotation_quaternion", continuous(quaternions)
        case "AXIS_ANGLE":
            return "rotation_axis_angle", axis_angles(quaternions)
        case _:
            return "rotation_euler", euler_angles(quaternions, mode)


def axis_angles(quaternions: np.ndarray) -> np.ndarray:
    """Angle and unit axis of each rotation, (frames, 4); the axis never jumps to its opposite."""
    values = np.empty((len(quaternions), 4))
    lengths = np.linalg.norm(quaternions[:, 1:], axis=1)
    turning = np.flatnonzero(lengths > _NO_AXIS)
    # a rest at the beginning has the axis of the turn that follows it
    axis = quaternions[turning[0], 1:] if len(turning) else np.array([0.0, 1.0, 0.0])
    angle = 0.0
    for row, (w, *vector), length in zip(values, quaternions, lengths, strict=True):
        turn = 0.0
        if length > _NO_AXIS:
            side = 1.0 if np.dot(vector, axis) >= 0 else -1.0
            axis, turn = side * np.array(vector), side * 2 * np.arctan2(length, w)
        angle = turn + _turns(angle - turn)
        row[0], row[1:] = angle, axis / np.linalg.norm(axis)
    return values


def _turns(angle: float) -> float:
    """The whole turns nearest to an angle."""
    return 2 * np.pi * np.round(angle / (2 * np.pi))


def euler_angles(quaternions: np.ndarray, order: str) -> np.ndarray:
    """Angles about x, y and z, (frames, 3), applied in the order of Blender's name for it.

    Of the two solutions of each frame and their whole turns, the one nearest to the frame before.
    Where the middle angle is a right angle, only the sum of the outer two counts: the first stays.
    """
    i, j, k = ("XYZ".index(letter) for letter in order)
    sign = 1.0 if (i, j, k) in ((0, 1, 2), (1, 2, 0), (2, 0, 1)) else -1.0
    found = np.empty((len(quaternions), 3))
    last = np.zeros(3)  # in the order of application
    for row, matrix in zip(found, matrices(quaternions), strict=True):
        cosine = np.hypot(matrix[i, i], matrix[j, i])
        middle = np.arctan2(-sign * matrix[k, i], cosine)
        if cosine > _LOCKED:
            first = np.arctan2(sign * matrix[k, j], matrix[k, k])
            third = np.arctan2(sign * matrix[j, i], matrix[i, i])
        else:
            first = last[0]
            rest = matrix @ about(i, -first)
            third = np.arctan2(-sign * rest[i, j], rest[j, j])
        solutions = np.array(
            [[first, middle, third], [first + np.pi, np.pi - middle, third + np.pi]]
        )
        solutions += np.vectorize(_turns)(last - solutions)
        last = solutions[np.argmin(np.abs(solutions - last).sum(axis=1))]
        row[[i, j, k]] = last
    return found


def about(axis: int, angle: float) -> np.ndarray:
    """The rotation by an angle about x, y or z (0, 1, 2), (3, 3)."""
    matrix = np.eye(3)
    second, third = (axis + 1) % 3, (axis + 2) % 3
    matrix[second, second] = matrix[third, third] = np.cos(angle)
    matrix[third, second], matrix[second, third] = np.sin(angle), -np.sin(angle)
    return matrix


def matrices(quaternions: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def quaternion(matrix: np.ndarray) -> np.ndarray:
    """The unit quaternion (4,) of a rotation matrix (3, 3)."""
    # the eigenvector of the largest eigenvalue (Bar-Itzhack 2000): no case has to be told apart
    (a, b, c), (d, e, f), (g, h, i) = matrix
    symmetric = np.array(
        [
            [a + e + i, h - f, c - g, d - b],
            [h - f, a - e - i, b + d, c + g],
            [c - g, b + d, e - a - i, f + h],
            [d - b, c + g, f + h, i - a - e],
        ]
    )
    return np.linalg.eigh(symmetric)[1][:, -1]
