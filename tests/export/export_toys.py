"""A small cabinet in a file's frame, with the odd things that real files hold."""

from __future__ import annotations

import math

import numpy as np
import trimesh

from atop_backend.contracts import JointMotion
from atop_backend.export.model import ArticulatedModel, MovingPart, build_model

VALUES = (0.0, 0.25, 0.5, 0.75, 1.0)  # shares of the range


def cabinet() -> tuple[np.ndarray, np.ndarray, list[MovingPart]]:
    """Vertices, triangles and three parts.

    A door on a tilted hinge, an open-backed drawer, and a knob on the door that turns by itself.
    """
    boxes = [
        trimesh.creation.box((1.0, 0.5, 0.02), trimesh.transformations.translation_matrix(at))
        for at in ((0, 0, 0), (0, 0, 1.2))
    ]
    side = [
        trimesh.creation.box((0.02, 0.5, 1.2), trimesh.transformations.translation_matrix(at))
        for at in ((-0.5, 0, 0.6), (0.5, 0, 0.6))
    ]
    door = trimesh.creation.box((0.5, 0.02, 1.1))
    door.apply_translation((-0.25, -0.26, 0.6))
    drawer = trimesh.creation.box((0.4, 0.4, 0.2))
    drawer.update_faces(np.arange(len(drawer.faces)) > 1)  # open: bounds no volume
    drawer.apply_translation((0.25, -0.05, 0.3))
    knob = trimesh.creation.box((0.05, 0.06, 0.03))
    knob.apply_translation((-0.05, -0.3, 0.6))
    meshes = [*boxes, *side, door, drawer, knob]
    whole = trimesh.util.concatenate(meshes)
    owner = np.repeat(np.arange(len(meshes)), [len(mesh.faces) for mesh in meshes])
    lean = math.radians(13)
    hinge = JointMotion(
        "revolute", (math.sin(lean), 0.0, math.cos(lean)), (-0.5, -0.25, 0.0), 0.0, 1.9
    )
    slider = JointMotion("prismatic", (0.0, -1.0, 0.0), (0.25, -0.05, 0.3), 0.0, 0.35)
    turning = JointMotion("revolute", (0.0, -1.0, 0.0), (-0.05, -0.3, 0.6), 0.0, 1.2)
    parts = [
        MovingPart("Tür/links 1", owner == 4, hinge),
        MovingPart("tur links_1", owner == 5, slider),
        MovingPart("knob", owner == 6, turning, parent=0),
    ]
    return np.asarray(whole.vertices), np.asarray(whole.faces), parts


def cabinet_model(**options) -> ArticulatedModel:
    """The cabinet as exporters take it."""
    vertices, triangles, parts = cabinet()
    return build_model("2 cabinets", vertices, triangles, parts, **{"up": "z", **options})


def moved(part: MovingPart, points: np.ndarray, value: float) -> np.ndarray:
    """Points of a part at a joint value, by SciPy's rotations: the oracle of these tests."""
    from scipy.spatial.transform import Rotation

    axis, origin = np.asarray(part.joint.axis), np.asarray(part.joint.origin)
    if part.joint.kind == "prismatic":
        return points + axis * value
    return Rotation.from_rotvec(axis * value).apply(points - origin) + origin


def moved_with_all(
    parts: list[MovingPart], index: int, points: np.ndarray, share: float
) -> np.ndarray:
    """Points of a part when every joint is at one share of its range."""
    while index >= 0:
        joint = parts[index].joint
        points = moved(parts[index], points, joint.lower + share * (joint.upper - joint.lower))
        index = parts[index].parent
    return points


def part_vertices(part: MovingPart, vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """The vertices that a part uses, in ascending order of index as exporters keep them."""
    return vertices[np.unique(triangles[part.triangles])]
