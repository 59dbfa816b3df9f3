"""A rig as rigid bodies: a capsule for each bone, masses from volumes, contacts on the skin.

Written as MJCF, the model format of MuJoCo. Every bone becomes a body with its own rest axes, every
bone that may move a ball joint, so joint quaternions are a pose's rotations. Capsules carry the
mass; what meets the ground are points of the skin, so that what is seen neither floats nor sinks.
"""

from __future__ import annotations

from typing import NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np
from scipy.spatial.transform import Rotation

from atop_backend.geometry.rigs import Rig

DENSITY = 1000.0  # kg/m3, of flesh
TIMESTEP_S = 0.002
_CONTACTS = 12  # points of the skin of a bone that can meet the ground, at most
_THINNEST = 0.01  # radii of the body; a capsule's least radius
_SHORTEST = 0.02  # radii of the body; a capsule's least length
_POINT = 0.004  # radii of the body; radius of a contact point


class Physique(NamedTuple):
    """The model and how its joints belong to the rig."""

    mjcf: str
    root: int  # the bone that floats freely; it carries the whole body
    moving: tuple[int, ...]  # bones with a ball joint, in the order of the model


def physique_of(rig: Rig) -> Physique:
    """The rigid bodies of a rig with one root.

    Args:
        rig: In metres.
    """
    radius = float(np.linalg.norm(np.ptp(rig.vertices, axis=0))) / 2
    free = rig.free()
    owners = rig.weights.argmax(axis=1)
    children: dict[int, list[int]] = {}
    for bone, parent in enumerate(rig.parents):
        children.setdefault(int(parent), []).append(bone)
    moving: list[int] = []

    def body(bone: int, parent: int) -> str:
        frame = rig.rest[bone]
        local = frame if parent < 0 else np.linalg.inv(rig.rest[parent]) @ frame
        place = f"pos={_list(local[:3, 3])} quat={_list(_quaternion(local[:3, :3]))}"
        if parent < 0:
            joint = "<freejoint/>"
        elif free[bone]:
            joint = f"<joint name={quoteattr(f'b{bone}')} type='ball'/>"
            moving.append(bone)
        else:
            joint = ""
        skin = rig.vertices[owners == bone] if rig.deform[bone] else np.empty((0, 3))
        shapes = _capsule(rig, bone, skin, radius) + _points(frame, skin, radius)
        below = "".join(body(child, bone) for child in children.get(bone, []))
        return f"<body {place}>{joint}{shapes}{below}</body>"

    root = rig.carrier
    bodies = body(root, -1)
    document = (
        f"<mujoco><option timestep='{TIMESTEP_S}' integrator='implicitfast'/>"
        "<compiler autolimits='true' boundmass='1e-6' boundinertia='1e-9'/>"
        "<worldbody><geom type='plane' size='0 0 1' contype='0' conaffinity='1'/>"
        f"{bodies}</worldbody></mujoco>"
    )
    return Physique(document, root, tuple(moving))


def _capsule(rig: Rig, bone: int, skin: np.ndarray, radius: float) -> str:
    """The capsule around a bone's line, as thick as its skin lies from it on average."""
    if not len(skin):
        return ""
    inverse = np.linalg.inv(rig.rest[bone])
    tail = inverse[:3, :3] @ rig.tails[bone] + inverse[:3, 3]
    points = skin @ inverse[:3, :3].T + inverse[:3, 3]
    length = float(np.linalg.norm(tail))
    if length < _SHORTEST * radius:
        tail, length = np.array([0.0, 0.0, _SHORTEST * radius]), _SHORTEST * radius
    along = np.clip(points @ tail / length**2, 0, 1)[:, None] * tail
    thick = max(float(np.linalg.norm(points - along, axis=1).mean()), _THINNEST * radius)
    ends = np.concatenate([np.zeros(3), tail])
    return (
        f"<geom type='capsule' fromto={_list(ends)} size='{thick:.6g}' density='{DENSITY}'"
        " contype='0' conaffinity='0'/>"
    )


def _points(frame: np.ndarray, skin: np.ndarray, radius: float) -> str:
    """Small balls just under the skin where it sticks out, in the bone's axes."""
    if not len(skin):
        return ""
    signs = np.array([[x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)])
    signs = signs[np.argsort(signs[:, 2], kind="stable")]  # what looks down comes first
    ways = signs[np.abs(signs).sum(axis=1) > 0]
    picks = list(dict.fromkeys((skin @ ways.T).argmax(axis=0).tolist()))[:_CONTACTS]
    size = _POINT * radius
    inverse = np.linalg.inv(frame)
    middle = skin.mean(axis=0)
    shapes = []
    for point in skin[picks]:
        inwards = middle - point
        inner = point + size * inwards / max(float(np.linalg.norm(inwards)), 1e-9)
        local = inverse[:3, :3] @ inner + inverse[:3, 3]
        shapes.append(
            f"<geom type='sphere' pos={_list(local)} size='{size:.6g}' mass='0'"
            " contype='1' conaffinity='0' friction='1 0.005 0.0001'/>"
        )
    return "".join(shapes)


def _quaternion(rotation: np.ndarray) -> np.ndarray:
    x, y, z, w = Rotation.from_matrix(rotation).as_quat()
    return np.array([w, x, y, z])


def _list(values: np.ndarray) -> str:
    return quoteattr(" ".join(f"{value:.9g}" for value in values))
