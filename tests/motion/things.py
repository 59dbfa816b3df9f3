"""Simple objects with known joints, built from boxes and cylinders."""

from __future__ import annotations

import math

import numpy as np
from simulate import normalise, shape_of

from atop_backend.contracts import JointMotion
from atop_backend.geometry.joints import rodrigues, unit
from atop_backend.geometry.meshes import RestShape
from atop_backend.synthetic.solids import box, cylinder, tube

Thing = tuple[RestShape, JointMotion]


def thing(body: list[np.ndarray], part: list[np.ndarray], joint: JointMotion) -> Thing:
    """Shape and joint in the normalised frame of solids in any units."""
    triangles = np.concatenate([*body, *part])
    moving = np.zeros(len(triangles), dtype=bool)
    moving[sum(map(len, body)) :] = True
    triangles, joint, scale = normalise(triangles, joint)
    return shape_of(triangles, moving)._replace(
        normalised_to_file=np.diag([scale] * 3 + [1])
    ), joint


def _case(low: tuple, high: tuple, wall: float = 0.02) -> list[np.ndarray]:
    """A box open towards -Y, of five walls."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    return [
        box((x0, y0, z0), (x0 + wall, y1, z1)),
        box((x1 - wall, y0, z0), (x1, y1, z1)),
        box((x0, y0, z0), (x1, y1, z0 + wall)),
        box((x0, y0, z1 - wall), (x1, y1, z1)),
        box((x0, y1 - wall, z0), (x1, y1, z1)),
    ]


def cabinet(side: str = "left", degrees: float = 90.0) -> Thing:
    """A cabinet with one door in front of it, hinged at the outer front edge of its side."""
    door = [
        box((-0.4, -0.33, 0), (0.4, -0.3, 1.0)),
        box(*_handle(0.33 if side == "left" else -0.33)),
    ]
    left = side == "left"
    joint = JointMotion(
        "revolute",
        (0.0, 0.0, -1.0 if left else 1.0),
        (-0.4 if left else 0.4, -0.3, 0.0),
        0.0,
        math.radians(degrees),
    )
    return thing(_case((-0.4, -0.3, 0), (0.4, 0.3, 1.0)), door, joint)


def _handle(x: float) -> tuple[tuple, tuple]:
    return (x - 0.01, -0.37, 0.4), (x + 0.01, -0.33, 0.6)


def drawer() -> Thing:
    """A drawer of a nightstand, pulled out to the front."""
    case = _case((-0.3, -0.25, 0), (0.3, 0.25, 0.5))
    tray = [
        box((-0.28, -0.27, 0.25), (0.28, -0.25, 0.45)),
        box((-0.27, -0.25, 0.26), (0.27, 0.2, 0.28)),
        box((-0.05, -0.31, 0.34), (0.05, -0.27, 0.36)),
    ]
    joint = JointMotion("prismatic", (0.0, -1.0, 0.0), (0.0, 0.0, 0.35), 0.0, 0.35)
    return thing(case, tray, joint)


def chest() -> Thing:
    """A chest with a lid that opens to the back."""
    joint = JointMotion("revolute", (-1.0, 0.0, 0.0), (0.0, 0.3, 0.4), 0.0, math.radians(100))
    lid = [box((-0.5, -0.3, 0.4), (0.5, 0.3, 0.46))]
    return thing([box((-0.5, -0.3, 0), (0.5, 0.3, 0.4))], lid, joint)


def tilted_flap(degrees: float) -> Thing:
    """A panel whose hinge is turned away from every box direction by an angle, in its plane."""
    angle = math.radians(degrees)
    axis = (math.sin(angle), 0.0, math.cos(angle))
    body = [box((-0.5, 0.0, -0.5), (0.5, 0.2, 0.5))]
    flap = [box((-0.4, -0.04, -0.4), (0.4, -0.005, 0.4))]
    return thing(body, flap, JointMotion("revolute", axis, (-0.1, 0.0, 0.0), 0.0, 1.0))


def knob() -> Thing:
    """A round knob on a front, turning about its own axis."""
    body = [box((-0.4, 0.0, -0.4), (0.4, 0.4, 0.4))]
    grip = [
        cylinder((0.1, 0.0, 0.1), (0, -0.12, 0), 0.12, segments=24),
        box((0.09, -0.17, 0.0), (0.11, -0.12, 0.2)),
    ]
    return thing(body, grip, JointMotion("revolute", (0.0, -1.0, 0.0), (0.1, 0, 0.1), 0.0, 1.5))


def wheel() -> Thing:
    """A cart's wheel on its axle."""
    body = [box((-0.6, -0.3, 0.25), (0.6, 0.3, 0.5)), cylinder((0.4, -0.4, 0.2), (0, 0.8, 0), 0.02)]
    rim = [
        cylinder((0.4, -0.4, 0.2), (0, 0.06, 0), 0.2, segments=24),
        box((0.38, -0.41, 0.02), (0.42, -0.4, 0.38)),
    ]
    return thing(body, rim, JointMotion("revolute", (0.0, 1.0, 0.0), (0.4, 0, 0.2), 0.0, 1.2))


def bucket() -> Thing:
    """A bucket whose handle swings about its two ears."""
    body = [
        cylinder((0, 0, 0), (0, 0, 0.5), 0.25, 0.32, segments=24),
        cylinder((-0.36, 0, 0.45), (0.06, 0, 0), 0.03, segments=12),
        cylinder((0.30, 0, 0.45), (0.06, 0, 0), 0.03, segments=12),
    ]
    angles = np.linspace(0, math.pi, 15)
    path = np.stack([0.35 * np.cos(angles), -0.35 * np.sin(angles), np.full(15, 0.45)], axis=1)
    handle = [tube(path, 0.012, segments=6)]
    return thing(body, handle, JointMotion("revolute", (-1.0, 0, 0), (0, 0, 0.45), 0.0, 1.4))


def button() -> Thing:
    """A tiny button pressed into a big front."""
    body = [box((-0.5, 0.0, -0.5), (0.5, 0.3, 0.5))]
    cap = [box((0.3, -0.03, 0.3), (0.36, 0.0, 0.36))]
    return thing(body, cap, JointMotion("prismatic", (0.0, 1.0, 0.0), (0.33, 0, 0.33), 0.0, 0.02))


def gate() -> Thing:
    """A wide panel on a thin post, far bigger than what holds it."""
    body = [cylinder((-0.5, 0, 0), (0, 0, 1), 0.03, segments=12)]
    panel = [box((-0.46, -0.015, 0.05), (1.0, 0.015, 0.95))]
    return thing(body, panel, JointMotion("revolute", (0, 0, 1.0), (-0.5, 0, 0), 0.0, 1.3))


def turned(item: Thing, axis: tuple, degrees: float) -> Thing:
    """The object turned as a whole; it stays normalised, for the turn is about the origin."""
    shape, joint = item
    rotation = rodrigues(unit(np.asarray(axis, dtype=float)), math.radians(degrees))
    return shape._replace(vertices=shape.vertices @ rotation.T), JointMotion(
        joint.kind,
        tuple(map(float, rotation @ joint.axis)),
        tuple(map(float, rotation @ joint.origin)),
        joint.lower,
        joint.upper,
    )
