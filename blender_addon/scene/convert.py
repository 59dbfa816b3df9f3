"""Blender axes, joint frames and cameras <-> the project's conventions; the only such place.

Matrices are numpy (4, 4) float64 and act on column vectors, since Blender's own are single
precision. A joint frame is the right-handed frame that Blender's rigid body constraints expect:
a hinge turns about its local Z, a slider travels along its local X.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import bpy
import mathutils
import numpy as np

from atop_backend.contracts import Camera, JointMotion
from atop_backend.errors import InputError

Y_UP_SUFFIXES = (".glb", ".gltf", ".obj")
Y_UP_TO_Z_UP = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
OPENGL_TO_OPENCV = np.diag([1.0, -1.0, -1.0, 1.0])


def as_array(matrix: mathutils.Matrix) -> np.ndarray:
    """The Blender matrix as (4, 4) float64."""
    return np.array(matrix, dtype=np.float64)


def as_matrix(array: np.ndarray) -> mathutils.Matrix:
    """The array as a Blender matrix, rounded to single precision."""
    return mathutils.Matrix(array.tolist())


def invert(matrix: np.ndarray, owner: str) -> np.ndarray:
    """The inverse; `InputError` naming `owner` if its scale is zero."""
    scales = np.linalg.norm(matrix[:3, :3], axis=0)
    volume = abs(np.linalg.det(matrix[:3, :3]))
    if not np.isfinite(matrix).all() or volume <= 1e-12 * max(scales.max(), 1e-30) ** 3:
        raise InputError(
            f"{owner!r} has a scale of zero along one axis, so nothing can hang on it",
            hint="give it a small scale such as 0.001 instead, or clear the parent",
        )
    return np.linalg.inv(matrix)


def file_to_world(asset: Path) -> np.ndarray:
    """The rotation with which Blender imports this kind of file (glTF and OBJ are Y up)."""
    return Y_UP_TO_Z_UP if asset.suffix.lower() in Y_UP_SUFFIXES else np.eye(4)


def transform_joint(joint: JointMotion, matrix: np.ndarray) -> JointMotion:
    """The joint after a similarity transform has moved everything."""
    linear = matrix[:3, :3]
    scale = abs(np.linalg.det(linear)) ** (1 / 3)
    axis = linear @ joint.axis
    if joint.kind == "revolute" and np.linalg.det(linear) < 0:
        axis = -axis  # a mirror image turns the other way
    axis /= np.linalg.norm(axis)
    origin = linear @ joint.origin + matrix[:3, 3]
    travel = float(scale) if joint.kind == "prismatic" else 1.0
    return replace(
        joint,
        axis=tuple(axis.tolist()),
        origin=tuple(origin.tolist()),
        lower=joint.lower * travel,
        upper=joint.upper * travel,
    )


def joint_frame(joint: JointMotion) -> np.ndarray:
    """The frame on the axis: Z along a hinge, X along a slider; (4, 4), rigid."""
    axis = np.asarray(joint.axis) / np.linalg.norm(joint.axis)
    helper = np.eye(3)[np.argmin(np.abs(axis))]
    second = np.cross(axis, helper)
    second /= np.linalg.norm(second)
    third = np.cross(axis, second)
    columns = (second, third, axis) if joint.kind == "revolute" else (axis, second, third)
    frame = np.eye(4)
    frame[:3, :3] = np.column_stack(columns)
    frame[:3, 3] = joint.origin
    return frame


def frame_axis(joint: JointMotion, frame: np.ndarray) -> JointMotion:
    """The joint with axis and origin read from a frame that was moved by hand."""
    axis = frame[:3, 2] if joint.kind == "revolute" else frame[:3, 0]
    axis = axis / np.linalg.norm(axis)
    return replace(joint, axis=tuple(axis.tolist()), origin=tuple(frame[:3, 3].tolist()))


def rigid_motion(joint: JointMotion, travel: float) -> np.ndarray:
    """World matrix that moves the part by `travel` (radians or scene units); (4, 4)."""
    motion = np.eye(4)
    axis = np.asarray(joint.axis, dtype=np.float64)
    if joint.kind == "prismatic":
        motion[:3, 3] = axis * travel
        return motion
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    turn = np.eye(3) + np.sin(travel) * cross + (1 - np.cos(travel)) * cross @ cross
    motion[:3, :3] = turn
    motion[:3, 3] = np.asarray(joint.origin) - turn @ joint.origin
    return motion


def full_travel(joint: JointMotion) -> float:
    """The travel at which the part counts as open: the far end of the range, signed."""
    return joint.upper if joint.upper > 0 else joint.lower


def camera_to_world(camera: Camera) -> np.ndarray:
    """Where to put a Blender camera object so that it sees what `camera` sees; (4, 4)."""
    return np.linalg.inv(np.array(camera.world_to_camera)) @ OPENGL_TO_OPENCV


def camera_of(ob: bpy.types.Object, width_px: int, height_px: int) -> Camera:
    """What a camera object sees, at a size of picture.

    Raises:
        InputError: It is no plain perspective camera.
    """
    data, world = ob.data, as_array(ob.matrix_world)
    if data.type != "PERSP" or data.shift_x or data.shift_y:
        raise InputError(
            f"the camera {ob.name!r} is shifted or has no perspective",
            hint="use a perspective camera whose Shift is 0",
        )
    wide = data.sensor_fit == "HORIZONTAL" or (data.sensor_fit == "AUTO" and width_px >= height_px)
    # with the fit on Auto the sensor's width lies along the longer side
    sensor_mm = data.sensor_height if data.sensor_fit == "VERTICAL" else data.sensor_width
    world[:3, :3] /= np.linalg.norm(world[:3, :3], axis=0)  # a camera's own scale does not count
    return Camera(
        width_px=width_px,
        height_px=height_px,
        focal_px=data.lens / sensor_mm * (width_px if wide else height_px),
        world_to_camera=tuple(map(tuple, (OPENGL_TO_OPENCV @ np.linalg.inv(world)).tolist())),
    )
